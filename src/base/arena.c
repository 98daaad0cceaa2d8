#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, FIRST_CHUNK = 64 * 1024 };

struct ds_arena_chunk {
  ds_arena_chunk *next; /* older */
  size_t capacity;
  unsigned char *data; /* ALIGN-aligned */
};

static bool add_chunk(ds_arena *arena, size_t capacity) {
  ds_arena_chunk *chunk = malloc(sizeof *chunk + capacity + ALIGN);
  if (!chunk) return false;
  uintptr_t start = (uintptr_t)(chunk + 1);
  chunk->data = (unsigned char *)(chunk + 1) + (ALIGN - start % ALIGN) % ALIGN;
  chunk->capacity = capacity;
  chunk->next = arena->chunk;
  arena->chunk = chunk;
  arena->used = 0;
  arena->total += capacity;
  return true;
}

void *ds_arena_alloc(ds_arena *arena, size_t count, size_t size) {
  if (arena->failed || (size && count > (SIZE_MAX / 4) / size)) {
    arena->failed = true;
    return NULL;
  }
  size_t bytes = (count * size + ALIGN - 1) / ALIGN * ALIGN;
  if (!arena->chunk || arena->chunk->capacity - arena->used < bytes) {
    size_t capacity = arena->total > FIRST_CHUNK ? arena->total : FIRST_CHUNK;
    if (!add_chunk(arena, bytes > capacity ? bytes : capacity)) {
      arena->failed = true;
      return NULL;
    }
  }
  void *p = arena->chunk->data + arena->used;
  arena->used += bytes;
  return p;
}

void *ds_arena_zero(ds_arena *arena, size_t count, size_t size) {
  void *p = ds_arena_alloc(arena, count, size);
  if (p) memset(p, 0, count * size);
  return p;
}

static void free_chunks(ds_arena *arena) {
  while (arena->chunk) {
    ds_arena_chunk *next = arena->chunk->next;
    free(arena->chunk);
    arena->chunk = next;
  }
  arena->used = arena->total = 0;
}

void ds_arena_reset(ds_arena *arena) {
  arena->failed = false;
  arena->used = 0;
  if (arena->chunk && arena->chunk->next) {
    /* half as much again, so that slowly growing steps do not reallocate every time */
    size_t total = arena->total + arena->total / 2;
    free_chunks(arena);
    add_chunk(arena, total); /* on failure the next allocation tries again */
  }
}

void ds_arena_free(ds_arena *arena) {
  free_chunks(arena);
  arena->failed = false;
}

ds_arena_mark ds_arena_get_mark(const ds_arena *arena) { return (ds_arena_mark){arena->chunk, arena->used}; }

void ds_arena_release(ds_arena *arena, ds_arena_mark mark) {
  /* A chunk added since the mark stays the newest one, empty: its predecessor's tail is lost until the next reset. */
  arena->used = arena->chunk == mark.chunk ? mark.used : 0;
}
