/* Scene texts with one thing wrong, and what must be said of it. */
#ifndef DS_TEST_MISTAKE_H
#define DS_TEST_MISTAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `old` in a small scene becomes `new`; the message has to hold all of `message`. */
typedef struct mistake {
  const char *old, *new, *message;
} mistake;

/* New memory: `text` with the first `old` replaced. */
static inline char *replace(const char *text, const char *old, const char *new) {
  const char *at = strstr(text, old);
  if (!at) return NULL;
  size_t before = (size_t)(at - text), size = strlen(text) - strlen(old) + strlen(new) + 1;
  char *result = malloc(size);
  snprintf(result, size, "%.*s%s%s", (int)before, text, new, at + strlen(old));
  return result;
}

#endif
