/* The page and recordings over HTTP.
 *
 * Files of the page are served without a token, if the Host header is right; a recording requires the access token. The
 * length of a recording is not known in advance: it ends with the message END, and the connection is closed. Frames are
 * read as the client receives them. */
#include <stdio.h>
#include <string.h>

#include "page.h"
#include "server_parts.h"

_Static_assert(LWS_PRE <= VIEW_ROOM, "messages have room for a WebSocket header");

enum { STALLED = 60 /* s after which a client that takes nothing is left */ };

void view_request_read(view_request *r, struct lws *wsi) {
  *r = (view_request){0};
  if (lws_hdr_copy(wsi, r->host, (int)sizeof r->host, WSI_TOKEN_HOST) < 0) r->host[0] = '\0';
  if (lws_hdr_copy(wsi, r->origin, (int)sizeof r->origin, WSI_TOKEN_ORIGIN) < 0) r->origin[0] = '\0';
  if (lws_hdr_copy(wsi, r->path, (int)sizeof r->path, WSI_TOKEN_GET_URI) < 0) r->path[0] = '\0';
  char argument[sizeof r->token + 8];
  const char *token = lws_get_urlarg_by_name(wsi, "token=", argument, (int)sizeof argument);
  if (token != NULL) snprintf(r->token, sizeof r->token, "%s", token);
  r->second = lws_get_urlarg_by_name(wsi, "second=", argument, (int)sizeof argument) != NULL;
}

int view_http_refuse(struct lws *wsi, unsigned status, const char *why) {
  lws_return_http_status(wsi, status, why);
  return -1;
}

/* ---- headers ---- */

typedef struct head {
  struct lws *wsi;
  unsigned char bytes[LWS_PRE + 2048];
  unsigned char *at, *end;
  bool failed;
} head;

static void add(head *h, const char *name, const char *value) {
  if (lws_add_http_header_by_name(h->wsi, (const unsigned char *)name, (const unsigned char *)value, (int)strlen(value),
                                  &h->at, h->end) != 0)
    h->failed = true;
}

/* The page loads nothing from elsewhere, and nothing frames it unless asked for: whoever does knows the token. With two
 * recordings it frames itself. */
static void add_policy(head *h, const char *host, const view_server_def *def) {
  char policy[768];
  snprintf(policy, sizeof policy,
           "default-src 'self'; connect-src 'self' ws://%s; img-src 'self' blob: data:; media-src 'self' blob:; "
           "worker-src 'self' blob:; style-src 'self'; object-src 'none'; base-uri 'none'; "
           "form-action 'none'; frame-ancestors %s",
           host,
           def->embed            ? "* vscode-webview:"
           : def->second != NULL ? "'self'"
                                 : "'none'");
  add(h, "content-security-policy:", policy);
  add(h, "x-content-type-options:", "nosniff");
  add(h, "referrer-policy:", "no-referrer");
  add(h, "cross-origin-opener-policy:", "same-origin");
  add(h, "cross-origin-resource-policy:", "same-origin");
  add(h, "cache-control:", "no-store");
}

static bool send_head(struct lws *wsi, const char *type, lws_filepos_t size, const char *host,
                      const view_server_def *def) {
  head h = {.wsi = wsi};
  h.at = h.bytes + LWS_PRE;
  h.end = h.bytes + sizeof h.bytes - 1;
  unsigned char *start = h.at;
  if (lws_add_http_common_headers(wsi, HTTP_STATUS_OK, type, size, &h.at, h.end) != 0) return false;
  add_policy(&h, host, def);
  return !h.failed && lws_finalize_write_http_header(wsi, start, &h.at, h.end) == 0;
}

/* ---- requests ---- */

static const char *type_of(const char *name) {
  const char *dot = strrchr(name, '.');
  if (dot != NULL && strcmp(dot, ".html") == 0) return "text/html; charset=utf-8";
  if (dot != NULL && strcmp(dot, ".js") == 0) return "text/javascript; charset=utf-8";
  if (dot != NULL && strcmp(dot, ".css") == 0) return "text/css; charset=utf-8";
  if (dot != NULL && strcmp(dot, ".svg") == 0) return "image/svg+xml";
  if (dot != NULL && strcmp(dot, ".png") == 0) return "image/png";
  return "application/octet-stream";
}

static int send_page(const view_server *s, view_connection *c, struct lws *wsi, const view_request *r) {
  const char *name = strcmp(r->path, "/") == 0 ? "index.html" : r->path + 1;
  for (size_t i = 0; i < view_page_file_count; i++) {
    const view_page_file *file = &view_page_files[i];
    if (strcmp(file->name, name) != 0) continue;
    c->page = file->bytes;
    c->page_left = file->size;
    if (!send_head(wsi, type_of(name), file->size, r->host, &s->def)) return -1;
    return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
  }
  return view_http_refuse(wsi, HTTP_STATUS_NOT_FOUND, "There is no such file on this server.");
}

static int send_recording(view_server *s, view_connection *c, struct lws *wsi, const view_request *r) {
  ds_error error;
  if (!view_access_token_fits(&s->access, r->token))
    return view_http_refuse(wsi, HTTP_STATUS_FORBIDDEN,
                            "The access token is missing or wrong: use the URL that was printed.");
  if (s->def.recording == NULL) return view_http_refuse(wsi, HTTP_STATUS_NOT_FOUND, "This is a live scene.");
  if (r->second && s->def.second == NULL)
    return view_http_refuse(wsi, HTTP_STATUS_NOT_FOUND, "There is one recording.");
  c->stream = view_stream_open(r->second ? s->def.second : s->def.recording, s->def.mode, s->def.film, &error);
  if (c->stream == NULL) {
    fprintf(stderr, "drystone: %s\n", error.message);
    return view_http_refuse(wsi, HTTP_STATUS_INTERNAL_SERVER_ERROR, "The recording cannot be read.");
  }
  if (!send_head(wsi, "application/octet-stream", LWS_ILLEGAL_HTTP_CONTENT_LEN, r->host, &s->def)) return -1;
  return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
}

int view_http_request(view_server *s, view_connection *c, struct lws *wsi) {
  view_request request;
  view_http_end(c);
  view_request_read(&request, wsi);
  if (request.path[0] != '/') return view_http_refuse(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, "Only GET is answered.");
  if (!view_access_host_fits(&s->access, request.host))
    return view_http_refuse(wsi, HTTP_STATUS_FORBIDDEN, "Wrong host name: use the URL that was printed.");
  if (strcmp(request.path, "/recording") == 0) return send_recording(s, c, wsi, &request);
  if (strcmp(request.path, "/socket") == 0)
    return view_http_refuse(wsi, HTTP_STATUS_BAD_REQUEST, "This is a WebSocket.");
  return send_page(s, c, wsi, &request);
}

/* ---- bodies of answers ---- */

static int write_page(view_connection *c, struct lws *wsi) {
  unsigned char buffer[LWS_PRE + VIEW_CHUNK];
  size_t size = c->page_left < VIEW_CHUNK ? c->page_left : VIEW_CHUNK;
  bool last = size == c->page_left;
  lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, STALLED);
  memcpy(buffer + LWS_PRE, c->page, size);
  c->page += size;
  c->page_left -= size;
  if (lws_write(wsi, buffer + LWS_PRE, size, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < (int)size) return -1;
  if (!last) return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
  c->page = NULL;
  return lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
}

/* Fills a chunk with whole messages and parts of them. `broken`: a frame could not be read. */
static size_t fill_chunk(unsigned char *out, view_connection *c, bool *broken) {
  ds_error error = {{0}};
  size_t size = 0;
  while (size < VIEW_CHUNK) {
    if (c->message == NULL) {
      c->message = view_stream_next(c->stream, &error);
      c->message_sent = 0;
      if (c->message == NULL) break;
    }
    size_t left = c->message->size - c->message_sent, now = left < VIEW_CHUNK - size ? left : VIEW_CHUNK - size;
    memcpy(out + size, c->message->bytes + c->message_sent, now);
    size += now;
    c->message_sent += now;
    if (now < left) break;
    view_message_release(c->message);
    c->message = NULL;
  }
  *broken = error.message[0] != '\0';
  if (*broken) fprintf(stderr, "drystone: %s\n", error.message);
  return size;
}

static int write_stream(view_connection *c, struct lws *wsi) {
  unsigned char buffer[LWS_PRE + VIEW_CHUNK];
  bool broken = false;
  size_t size = fill_chunk(buffer + LWS_PRE, c, &broken);
  if (size == 0) return lws_http_transaction_completed(wsi) != 0 ? -1 : 0; /* which closes: that is the end */
  if (lws_write(wsi, buffer + LWS_PRE, size, LWS_WRITE_HTTP) < (int)size || broken) return -1;
  if (view_stream_is_film(c->stream)) /* its page reads as fast as it draws */
    lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
  else
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, STALLED);
  return lws_callback_on_writable(wsi) < 0 ? -1 : 0;
}

int view_http_writable(view_connection *c, struct lws *wsi) {
  if (c->stream != NULL) return write_stream(c, wsi);
  if (c->page != NULL) return write_page(c, wsi);
  return 0;
}

void view_http_end(view_connection *c) {
  view_stream_close(c->stream);
  view_message_release(c->message);
  view_client *client = c->client;
  *c = (view_connection){.client = client};
}
