/* A program with a haptic device, seen from Drystone: sends where the device is and gives it the force that comes back.
 *
 *   drystone touch haptic --device udp:7711 &
 *   touch_client 7711 5            # five seconds
 *
 * In a program that uses CHAI3D, move() is the device's getPosition and getRotation, and feel() its setForceAndTorque;
 * the rest stays. It needs no part of Drystone: the datagrams are all (docs/touch.md). A machine with the byte order of
 * almost all, little-endian, is assumed here. */
#include <arpa/inet.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef struct pose_datagram { /* 72 bytes */
  uint32_t mark, version, sequence, zero;
  double position[3], rotation[4]; /* m; w x y z */
} pose_datagram;

typedef struct force_datagram { /* 64 bytes */
  uint32_t mark, version, sequence, zero;
  double force[3], torque[3]; /* N, N m */
} force_datagram;

static double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A device that goes down 40 mm and up again every second, and 20 mm to each side. */
static void move(pose_datagram *pose, double t) {
  pose->position[0] = 0.02 * sin(1.7 * t);
  pose->position[2] = -0.02 * (1 - cos(6.28 * t));
  pose->rotation[0] = 1;
}

static void feel(const force_datagram *force, double *most) {
  double size =
      sqrt(force->force[0] * force->force[0] + force->force[1] * force->force[1] + force->force[2] * force->force[2]);
  if (size > *most) *most = size;
}

int main(int argc, char **argv) {
  struct sockaddr_in to = {.sin_family = AF_INET};
  int port = argc > 1 ? atoi(argv[1]) : 7711;
  double seconds = argc > 2 ? atof(argv[2]) : 5, start = clock_seconds(), most = 0;
  int fd = socket(AF_INET, SOCK_DGRAM, 0), sent = 0, answered = 0;
  to.sin_port = htons((uint16_t)port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) return perror("udp"), 1;
  for (double t = 0; t < seconds; t = clock_seconds() - start) {
    pose_datagram pose = {.mark = 0x50545344, .version = 1, .sequence = (uint32_t)++sent};
    force_datagram force;
    move(&pose, t);
    if (send(fd, &pose, sizeof pose, 0) < 0) continue; /* not there yet, or gone: the next one may arrive */
    while (recv(fd, &force, sizeof force, MSG_DONTWAIT) == sizeof force) {
      if (force.mark != 0x46545344 || force.version != 1) continue;
      answered++;
      feel(&force, &most);
    }
    nanosleep(&(struct timespec){0, 1000000}, NULL); /* 1,000 per second at most */
  }
  printf("%d poses, %d forces, %.3f N at most\n", sent, answered, most);
  close(fd);
  return answered > 0 ? 0 : 1;
}
