/* The memory of one step: allocate forward, release all at once.
 *
 * An arena grows by chunks while a step needs more than it has, and is merged into one chunk by ds_arena_reset, so
 * that a warm step allocates nothing. A failed allocation returns NULL and leaves a sticky flag: a function may
 * allocate all it needs and check ds_arena_failed once. Memory is zeroed on request only. */
#ifndef DS_BASE_ARENA_H
#define DS_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ds_arena_chunk ds_arena_chunk;

typedef struct ds_arena {
  ds_arena_chunk *chunk; /* newest first */
  size_t used;           /* bytes used in the newest chunk */
  size_t total;          /* capacity of all chunks together */
  bool failed;
} ds_arena;

void *ds_arena_alloc(ds_arena *arena, size_t count, size_t size); /* 64-byte aligned */
void *ds_arena_zero(ds_arena *arena, size_t count, size_t size);
void ds_arena_reset(ds_arena *arena); /* between steps: everything is released, chunks become one */
void ds_arena_free(ds_arena *arena);
static inline bool ds_arena_failed(const ds_arena *arena) { return arena->failed; }

/* Stack discipline within a step. */
typedef struct ds_arena_mark {
  ds_arena_chunk *chunk;
  size_t used;
} ds_arena_mark;
ds_arena_mark ds_arena_get_mark(const ds_arena *arena);
void ds_arena_release(ds_arena *arena, ds_arena_mark mark); /* keeps the chunks for ds_arena_reset */

#define DS_NEW(arena, type, count) ((type *)ds_arena_alloc((arena), (size_t)(count), sizeof(type)))
#define DS_NEW0(arena, type, count) ((type *)ds_arena_zero((arena), (size_t)(count), sizeof(type)))

#endif
