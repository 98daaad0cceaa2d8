#include "base/cache_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ORDER 0x01020304u
#define FILE_LIMIT ((int64_t)1 << 32)

/* ---- hash ---- */

static uint64_t mix(uint64_t hash, uint64_t word, uint64_t factor) {
  hash = (hash ^ word) * factor;
  return hash ^ hash >> 29;
}

ds_cache_key ds_cache_key_begin(const ds_cache_kind *kind) {
  return (ds_cache_key){{kind->version, ~(uint64_t)kind->version}};
}

/* Two lanes with different factors, over words of 8 bytes; the last is filled up with its length. */
void ds_cache_key_add(ds_cache_key *key, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = size - i < 8 ? (uint64_t)(size - i) << 56 : 0;
    memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
    key->hash[0] = mix(key->hash[0], word, 0x9e3779b97f4a7c15u);
    key->hash[1] = mix(key->hash[1], word ^ 0x5bf0363546a5a1d3u, 0xd6e8feb86659fd93u);
  }
}

static uint64_t checksum(const char *bytes, size_t size) {
  ds_cache_key sum = {{size, 0}};
  ds_cache_key_add(&sum, bytes, size);
  return mix(sum.hash[0], sum.hash[1], 0x94d049bb133111ebu);
}

/* ---- streams ---- */

void ds_stream_pass(ds_stream *s, void *data, size_t size) {
  if (s->failed || (s->way != DS_SIZING && size > s->size - s->at)) {
    s->failed = true;
    return;
  }
  if (s->way == DS_WRITING && size > 0) memcpy(s->bytes + s->at, data, size);
  if (s->way == DS_READING && size > 0) memcpy(data, s->bytes + s->at, size);
  s->at += size;
}

void *ds_stream_array(ds_stream *s, void *items, int64_t count, size_t size) {
  if (s->way == DS_READING) {
    items = NULL;
    if (count < 0 || (uint64_t)count > (s->size - s->at) / size) s->failed = true;
    if (!s->failed) items = malloc((size_t)count * size + 1);
    if (!items) s->failed = true;
  }
  if (!s->failed) ds_stream_pass(s, items, (size_t)count * size);
  return items;
}

/* The header before the content; a header of another format fails. */
static void pass_head(ds_stream *s, const ds_cache_kind *kind, ds_cache_key key, int64_t size) {
  char magic[sizeof kind->magic];
  uint32_t version = kind->version, order = ORDER;
  ds_cache_key named = key;
  int64_t length = size;
  memcpy(magic, kind->magic, sizeof magic);
  ds_stream_pass(s, magic, sizeof magic);
  ds_stream_pass(s, &version, sizeof version);
  ds_stream_pass(s, &order, sizeof order);
  ds_stream_pass(s, &named, sizeof named);
  ds_stream_pass(s, &length, sizeof length);
  if (memcmp(magic, kind->magic, sizeof magic) != 0 || version != kind->version || order != ORDER || length != size ||
      memcmp(&named, &key, sizeof key) != 0)
    s->failed = true;
}

/* ---- files ---- */

static char *file_path(const char *folder, ds_cache_key key, const char *end) {
  size_t size = strlen(folder) + strlen(end) + 64;
  char *path = malloc(size);
  if (path)
    snprintf(path, size, "%s/%016llx%016llx.%s", folder, (unsigned long long)key.hash[0],
             (unsigned long long)key.hash[1], end);
  return path;
}

/* The bytes of a plain file, or NULL. */
static char *read_file(const char *path, size_t *size) {
  struct stat about;
  int file = open(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) return NULL;
  char *bytes = NULL;
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 && about.st_size < FILE_LIMIT)
    bytes = malloc((size_t)about.st_size);
  size_t got = 0;
  while (bytes && got < (size_t)about.st_size) {
    ssize_t n = read(file, bytes + got, (size_t)about.st_size - got);
    if (n <= 0) break;
    got += (size_t)n;
  }
  close(file);
  if (bytes && got == (size_t)about.st_size) {
    *size = got;
    return bytes;
  }
  free(bytes);
  return NULL;
}

static bool write_file(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wbx");
  if (!file) return false;
  bool ok = fwrite(bytes, 1, size, file) == size;
  return fclose(file) == 0 && ok;
}

bool ds_cache_read(void *thing, ds_cache_content *content, const ds_cache_kind *kind, const char *folder,
                   ds_cache_key key) {
  size_t size = 0;
  char *path = file_path(folder, key, kind->ending), *bytes = path ? read_file(path, &size) : NULL;
  free(path);
  uint64_t sum = 0;
  bool ok = bytes && size >= sizeof sum;
  if (ok) {
    ds_stream s = {.way = DS_READING, .bytes = bytes, .size = size - sizeof sum};
    memcpy(&sum, bytes + s.size, sizeof sum);
    s.failed = sum != checksum(bytes, s.size);
    pass_head(&s, kind, key, (int64_t)size);
    if (!s.failed) content(&s, thing);
    ok = !s.failed && s.at == s.size;
  }
  free(bytes);
  return ok;
}

void ds_cache_write(void *thing, ds_cache_content *content, const ds_cache_kind *kind, const char *folder,
                    ds_cache_key key) {
  uint64_t sum;
  ds_stream s = {.way = DS_SIZING};
  pass_head(&s, kind, key, 0);
  content(&s, thing);
  size_t size = s.at + sizeof sum;
  s = (ds_stream){.way = DS_WRITING, .bytes = malloc(size), .size = size};
  char end[64];
  snprintf(end, sizeof end, "%ld-%p.part", (long)getpid(), (void *)s.bytes); /* one writer's own name */
  char *part = file_path(folder, key, end), *path = file_path(folder, key, kind->ending);
  if (s.bytes && part && path) {
    pass_head(&s, kind, key, (int64_t)size);
    content(&s, thing);
    sum = checksum(s.bytes, s.at);
    memcpy(s.bytes + s.at, &sum, sizeof sum);
    mkdir(folder, 0777); /* where it is not there yet */
    remove(part);        /* left by a writer that was killed */
    if (!write_file(part, s.bytes, size) || rename(part, path) != 0) remove(part);
  }
  free(s.bytes);
  free(part);
  free(path);
}
