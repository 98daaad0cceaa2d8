/* The UDP bridge. A datagram is accepted only if all of it is valid: length, magic number, version, finite numbers, a
 * plausible position, a unit quaternion, a sequence number newer than the last, and the address of the first sender.
 * All others are counted and ignored. After 100 ms without a datagram the device is silent: the force is zero, and the
 * next sender is accepted. */
#include "udp_device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread.h"

enum { POSE_LENGTH = 72, FORCE_LENGTH = 64, AT_ONCE = 64, VERSION = 1 };
static const uint32_t POSE_MARK = 0x50545344, FORCE_MARK = 0x46545344; /* "DSTP", "DSTF" */
static const double SILENCE = 0.1;                                     /* s */
static const double FARTHEST = 1e6;                                    /* m: no device is farther from its origin */

typedef struct bridge {
  int socket;
  struct sockaddr_in peer;
  bool has_peer;
  uint32_t sequence;
  double heard; /* ds_clock */
  ds_device_motion motion;
  udp_counts counts;
} bridge;

/* ---- little-endian numbers on any machine ---- */

static uint64_t get_bits(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

static void put_bits(unsigned char *at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> (8 * i) & 255);
}

static double get_real(const unsigned char *at) {
  uint64_t bits = get_bits(at, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void put_real(unsigned char *at, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_bits(at, bits, 8);
}

/* ---- poses in ---- */

static bool read_pose(ds_pose *pose, uint32_t *sequence, const unsigned char *at, size_t length) {
  if (length != POSE_LENGTH || get_bits(at, 4) != POSE_MARK || get_bits(at + 4, 4) != VERSION) return false;
  double x[7], norm = 0;
  *sequence = (uint32_t)get_bits(at + 8, 4);
  for (int i = 0; i < 7; i++) {
    x[i] = get_real(at + 16 + 8 * i);
    if (!isfinite(x[i]) || (i < 3 && fabs(x[i]) > FARTHEST)) return false;
    if (i >= 3) norm += x[i] * x[i];
  }
  *pose = (ds_pose){{x[0], x[1], x[2]}, {x[3], x[4], x[5], x[6]}};
  return fabs(sqrt(norm) - 1) < 1e-3;
}

static bool same_peer(const struct sockaddr_in *a, const struct sockaddr_in *b) {
  return a->sin_addr.s_addr == b->sin_addr.s_addr && a->sin_port == b->sin_port;
}

static void take(bridge *b, const unsigned char *at, size_t length, const struct sockaddr_in *from, double now) {
  ds_pose pose;
  uint32_t sequence;
  if (!read_pose(&pose, &sequence, at, length)) {
    b->counts.malformed++;
  } else if (b->has_peer && !same_peer(from, &b->peer)) {
    b->counts.foreign++;
  } else if (b->has_peer && (int32_t)(sequence - b->sequence) <= 0) {
    b->counts.old++;
  } else {
    b->counts.received++;
    b->peer = *from, b->has_peer = true, b->sequence = sequence, b->heard = now;
    b->motion = (ds_device_motion){.pose = pose};
  }
}

static bool read_udp(void *user, double time, ds_device_motion *motion) {
  bridge *b = user;
  double now = ds_clock();
  (void)time;
  if (b->has_peer && now - b->heard > SILENCE) b->has_peer = false;
  for (int i = 0; i < AT_ONCE; i++) {
    unsigned char data[POSE_LENGTH + 1]; /* one more: what is longer is seen */
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    ssize_t length = recvfrom(b->socket, data, sizeof data, MSG_DONTWAIT, (struct sockaddr *)&from, &size);
    if (length < 0 && errno != ECONNREFUSED) break; /* refused: a sender has gone, and more datagrams may wait */
    if (length >= 0 && size == sizeof from && from.sin_family == AF_INET) take(b, data, (size_t)length, &from, now);
  }
  *motion = b->motion;
  return b->has_peer;
}

/* ---- forces out ---- */

static void write_udp(void *user, double time, ds_vec3 force, ds_vec3 torque) {
  bridge *b = user;
  unsigned char data[FORCE_LENGTH] = {0};
  const double x[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
  (void)time;
  if (!b->has_peer) return;
  put_bits(data, FORCE_MARK, 4);
  put_bits(data + 4, VERSION, 4);
  put_bits(data + 8, b->sequence, 4);
  for (int i = 0; i < 6; i++) put_real(data + 16 + 8 * i, x[i]);
  /* one that is lost is followed by the next */
  (void)!sendto(b->socket, data, sizeof data, MSG_DONTWAIT, (const struct sockaddr *)&b->peer, sizeof b->peer);
}

static void close_udp(void *user) {
  bridge *b = user;
  close(b->socket);
  free(b);
}

/* ---- ---- */

static ds_status fail(ds_error *error, const char *address, int32_t port, const char *why) {
  snprintf(error->message, sizeof error->message, "udp %.100s:%d: %s; give another port or address", address, (int)port,
           why);
  return DS_ERROR_INPUT;
}

ds_status udp_device(ds_device *device, const char *address, int32_t *port, ds_error *error) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
  socklen_t size = sizeof at;
  if (inet_pton(AF_INET, address, &at.sin_addr) != 1) return fail(error, address, *port, "is not an IPv4 address");
  bridge *b = calloc(1, sizeof *b);
  if (b == NULL) return fail(error, address, *port, "out of memory");
  b->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (b->socket < 0 || bind(b->socket, (struct sockaddr *)&at, sizeof at) != 0 ||
      getsockname(b->socket, (struct sockaddr *)&at, &size) != 0) {
    fail(error, address, *port, strerror(errno));
    if (b->socket >= 0) close(b->socket);
    free(b);
    return DS_ERROR_INPUT;
  }
  *port = ntohs(at.sin_port);
  b->motion.pose.q.w = 1;
  *device = (ds_device){b, read_udp, write_udp, close_udp};
  return DS_OK;
}

udp_counts udp_device_counts(const ds_device *device) { return ((const bridge *)device->user)->counts; }
