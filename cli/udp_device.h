/* A haptic device at the other end of UDP datagrams: docs/touch.md has their format. */
#ifndef DS_CLI_UDP_DEVICE_H
#define DS_CLI_UDP_DEVICE_H

#include <stdint.h>

#include "drystone/touch.h"

typedef struct udp_counts {
  int64_t received, malformed, old, foreign; /* old: not newer than the last; foreign: not from the first sender */
} udp_counts;

/* Listens on address:port; port 0 = a free port, returned in *port. */
ds_status udp_device(ds_device *device, const char *address, int32_t *port, ds_error *error);
udp_counts udp_device_counts(const ds_device *device);

#endif
