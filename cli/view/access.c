/* Who may connect: see access.h. */
#include "access.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

static bool is_token(const char *text) {
  size_t length = strlen(text);
  return length >= 16 && length <= VIEW_TOKEN_MAX &&
         strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_") == length;
}

bool view_access_make_token(view_access *access, ds_error *error) {
  static const char digits[] = "0123456789abcdef";
  const char *given = getenv("DRYSTONE_TOKEN");
  unsigned char random[VIEW_TOKEN / 2];
  if (given != NULL && given[0] != '\0') {
    snprintf(error->message, sizeof error->message,
             "DRYSTONE_TOKEN is not usable; give 16 to %d letters, digits, - and _, or unset it", VIEW_TOKEN_MAX);
    if (!is_token(given)) return false;
    snprintf(access->token, sizeof access->token, "%s", given);
    return true;
  }
  snprintf(error->message, sizeof error->message, "the system provides no random numbers for an access token");
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
  for (size_t i = 0; i < sizeof random; i++) {
    access->token[2 * i] = digits[random[i] >> 4];
    access->token[2 * i + 1] = digits[random[i] & 15];
  }
  access->token[VIEW_TOKEN] = '\0';
  return true;
}

bool view_access_token_fits(const view_access *access, const char *token) {
  size_t length = strlen(access->token), given = strlen(token);
  unsigned difference = (unsigned)(length ^ given);
  for (size_t i = 0; i < length; i++)
    difference |= (unsigned)((unsigned char)access->token[i] ^ (unsigned char)(i < given ? token[i] : 0));
  return difference == 0;
}

/* Splits "name:port" or "[address]:port"; without a port it is 80. */
static bool split_host(char *name, size_t size, int *port, const char *host) {
  const char *end, *start = host;
  if (host[0] == '[') {
    start++;
    end = strchr(host, ']');
    if (end == NULL || (end[1] != '\0' && end[1] != ':')) return false;
  } else {
    end = host + strcspn(host, ":");
  }
  size_t length = (size_t)(end - start);
  const char *colon = strchr(end, ':');
  if (length == 0 || length >= size) return false;
  memcpy(name, start, length);
  name[length] = '\0';
  *port = 80;
  if (colon == NULL) return true;
  if (strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 5 || colon[1] == '\0') return false;
  *port = atoi(colon + 1);
  return true;
}

static bool is_address(const char *name) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

bool view_access_host_fits(const view_access *access, const char *host) {
  char name[256], machine[256] = "";
  int port;
  if (!split_host(name, sizeof name, &port, host) || port != access->port) return false;
  if (strcasecmp(name, access->address) == 0 || strcasecmp(name, "localhost") == 0) return true;
  if (strcmp(name, "127.0.0.1") == 0 || strcmp(name, "::1") == 0) return true;
  bool outside = access->anywhere || strncmp(access->address, "127.", 4) != 0;
  if (!outside || gethostname(machine, sizeof machine - 1) != 0) return false;
  return strcasecmp(name, machine) == 0 || (access->anywhere && is_address(name));
}

bool view_access_origin_fits(const char *origin, const char *host) {
  return strncmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0;
}

void view_access_url(char *url, size_t size, const view_access *access, bool with_token) {
  bool brackets = strchr(access->address, ':') != NULL;
  const char *address = access->anywhere ? (brackets ? "::1" : "127.0.0.1") : access->address;
  snprintf(url, size, "http://%s%s%s:%d/%s%s", brackets ? "[" : "", address, brackets ? "]" : "", access->port,
           with_token ? "?token=" : "", with_token ? access->token : "");
}

void view_access_pair(char *url, size_t size, const view_access *access) {
  view_access_url(url, size, access, false);
  size_t used = strlen(url);
  snprintf(url + used, size - used,
           "?left=%%2Frecording%%3Ftoken%%3D%s&right=%%2Frecording%%3Ftoken%%3D%s%%26second%%3D1", access->token,
           access->token);
}
