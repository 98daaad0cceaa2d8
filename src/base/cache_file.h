/* Cache files, one per built object, named by a hash of its input.
 *
 * The file: magic, version, byte order, key, length, then the content, then a checksum of all before it. A file is used
 * only if all of that is valid; otherwise it is ignored and replaced. It is written under another name and renamed, so
 * that no reader sees an incomplete file.
 *
 * The hash identifies equal content; it does not protect against forgery. Do not use a folder that others can write to.
 */
#ifndef DS_BASE_CACHE_FILE_H
#define DS_BASE_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ds_cache_key {
  uint64_t hash[2];
} ds_cache_key;

typedef struct ds_cache_kind {
  char magic[8];
  uint32_t version;   /* to be raised whenever a build gives other bits */
  const char *ending; /* of the files */
} ds_cache_kind;

ds_cache_key ds_cache_key_begin(const ds_cache_kind *kind);
void ds_cache_key_add(ds_cache_key *key, const void *data, size_t size);

/* One function serves for writing, reading and sizing: writing copies to the stream, reading from it, sizing only
 * counts. After a failure nothing is copied any more. */
typedef enum ds_stream_way { DS_SIZING, DS_WRITING, DS_READING } ds_stream_way;
typedef struct ds_stream {
  ds_stream_way way;
  char *bytes;
  size_t at, size;
  bool failed;
} ds_stream;
void ds_stream_pass(ds_stream *s, void *data, size_t size);
static inline void ds_stream_number(ds_stream *s, double *x) { ds_stream_pass(s, x, sizeof *x); }
static inline void ds_stream_integer(ds_stream *s, int32_t *x) { ds_stream_pass(s, x, sizeof *x); }
/* `count` items of a size. Reading allocates them, after checking that the file has that many bytes. */
void *ds_stream_array(ds_stream *s, void *items, int64_t count, size_t size);

typedef void ds_cache_content(ds_stream *s, void *thing);
/* Reads the file of that key; false if there is none that fits. What was read is not validated, and after a failure
 * midway the content may have allocated memory: the caller must free it in either case. */
bool ds_cache_read(void *thing, ds_cache_content *content, const ds_cache_kind *kind, const char *folder,
                   ds_cache_key key);
/* Best effort: a folder that cannot be written to is no error. The content is not changed. */
void ds_cache_write(void *thing, ds_cache_content *content, const ds_cache_kind *kind, const char *folder,
                    ds_cache_key key);

#endif
