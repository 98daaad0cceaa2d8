#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

ds_status ds_fail(ds_error *error, ds_status status, const char *format, ...) {
  if (error) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
  }
  return status;
}
