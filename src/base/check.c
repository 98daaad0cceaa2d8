#include "base/check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "drystone/drystone.h"

static void print_and_abort(const char *file, int line, const char *condition) {
  fprintf(stderr, "drystone: %s:%d: broken precondition: %s\n", file, line, condition);
  abort();
}

/* The one process-wide variable of the library: what to do when a programmer misuses it. */
static ds_check_handler *_Atomic check_handler = print_and_abort;

void ds_set_check_handler(ds_check_handler *handler) {
  atomic_store(&check_handler, handler ? handler : print_and_abort);
}

void ds_check_failed(const char *file, int line, const char *condition) {
  ds_check_handler *handler = atomic_load(&check_handler);
  handler(file, line, condition);
}
