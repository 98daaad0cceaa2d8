/* Messages for ds_error: one sentence, what is wrong and what to do. */
#ifndef DS_BASE_ERROR_H
#define DS_BASE_ERROR_H

#include "drystone/types.h"

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
ds_status
ds_fail(ds_error *error, ds_status status, const char *format, ...);

#endif
