/* Who may connect: the token in the URL, the Host header and the Origin header.
 *
 * Another page in the user's browser can send requests to 127.0.0.1, but with its own Origin, and it cannot know the
 * token. A foreign name that points to this machine (DNS rebinding) shows in the Host header. */
#ifndef DS_CLI_VIEW_ACCESS_H
#define DS_CLI_VIEW_ACCESS_H

#include <stddef.h>

#include "drystone/types.h"

enum { VIEW_TOKEN = 32 /* characters of one that is made */, VIEW_TOKEN_MAX = 128 };

typedef struct view_access {
  char token[VIEW_TOKEN_MAX + 1];
  char address[64]; /* it listens on, numeric */
  int port;
  bool anywhere; /* it listens on all addresses */
} view_access;

/* A new token, or that of DRYSTONE_TOKEN. False with a message. */
bool view_access_make_token(view_access *access, ds_error *error);
bool view_access_token_fits(const view_access *access, const char *token); /* takes the same time for all tokens */
/* Whether a Host header names this server: the address, localhost or another name of this machine, with the port. */
bool view_access_host_fits(const view_access *access, const char *host);
/* Whether an Origin header is the server's own, as the Host header named it. */
bool view_access_origin_fits(const char *origin, const char *host);
/* The address as in a URL: in brackets where it has colons; 127.0.0.1 where it listens everywhere. */
void view_access_url(char *url, size_t size, const view_access *access, bool with_token);
/* The page with two recordings: it gets their addresses. */
void view_access_pair(char *url, size_t size, const view_access *access);

#endif
