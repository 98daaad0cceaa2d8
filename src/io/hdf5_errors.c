/* What HDF5 says went wrong: see hdf5_errors.h. */
#include "io/hdf5_errors.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

typedef struct reason_text {
  char text[1024];
} reason_text;

static herr_t innermost(unsigned n, const H5E_error2_t *entry, void *context) {
  reason_text *reason = context;
  if (n == 0 && entry->desc != NULL) snprintf(reason->text, sizeof reason->text, "%s", entry->desc);
  return 0;
}

void ds_hdf5_reason(char *text, size_t size) {
  reason_text reason = {"no reason given"};
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &reason);
  /* "..., errno = 28, error message = 'No space left on device', ..." */
  char *system = strstr(reason.text, "error message = '");
  if (system != NULL) {
    system += strlen("error message = '");
    system[strcspn(system, "'")] = '\0';
  }
  snprintf(text, size, "%s", system != NULL ? system : reason.text);
}

void ds_hdf5_quiet(void) { H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }
