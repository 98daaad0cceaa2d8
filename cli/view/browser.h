/* Chromium without a window, for films: the page draws there as it does on a screen. */
#ifndef DS_CLI_VIEW_BROWSER_H
#define DS_CLI_VIEW_BROWSER_H

#include "process.h"

typedef struct browser {
  pid_t process;
  char profile[4096]; /* a folder of its own */
} browser;

/* The program to use; false with a message that says what to install. */
bool browser_find(char *path, size_t size, ds_error *error);
bool browser_open(browser *browser, const char *path, const char *url, int32_t width, int32_t height, ds_error *error);
void browser_close(browser *browser); /* one that is not open is fine */

#endif
