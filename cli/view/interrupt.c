/* Signals: see interrupt.h. Waiting calls are to end, so they are not begun again. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

/* The one place a signal handler can write to. */
static volatile sig_atomic_t caught;

static void on_signal(int number) { caught = number; }

int interrupt_caught(void) { return (int)caught; }

void interrupt_catch(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = (int)SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction before; /* what runs under nohup stays so */
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
  }
  signal(SIGPIPE, SIG_IGN); /* a client, or ffmpeg, that has gone is an error to report, not an end */
}
