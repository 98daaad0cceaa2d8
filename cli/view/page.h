/* The page embedded in the program: written by cmake/embed.cmake from what npm has built in web/. */
#ifndef DS_CLI_VIEW_PAGE_H
#define DS_CLI_VIEW_PAGE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct view_page_file {
  const char *name; /* "index.html" */
  const unsigned char *bytes;
  size_t size;
} view_page_file;

extern const view_page_file view_page_files[];
extern const size_t view_page_file_count;
extern const bool view_page_is_built; /* false: npm was missing, and the page says how to build it */

#endif
