/* Built reduced bodies on disk: a file a body, named by a hash of its mesh and of what was asked for
 * (base/cache_file.h). Name and damping are the caller's own, and not part of it. */
#include "reduce/reduced_cache.h"
#include "base/cache_file.h"

static const ds_cache_kind kind = {{'D', 'S', 'r', 'e', 'd', 'u', 'c', '\n'}, 1, "reduced"};

ds_cache_key ds_reduced_cache_key(const ds_tets *tets, const ds_reduced_def *def) {
  ds_cache_key key = ds_cache_key_begin(&kind);
  int32_t counts[4] = {tets->node_count, tets->tet_count, def->modes, def->stvk};
  double material[3] = {def->young, def->poisson, def->density};
  ds_cache_key_add(&key, counts, sizeof counts);
  ds_cache_key_add(&key, material, sizeof material);
  ds_cache_key_add(&key, tets->nodes, (size_t)tets->node_count * sizeof *tets->nodes);
  ds_cache_key_add(&key, tets->tets, 4 * (size_t)tets->tet_count * sizeof *tets->tets);
  return key;
}

/* r, nodes, tets, vertices, triangles, stvk: reading makes the body from them, where the file is long enough. */
static void pass_sizes(ds_stream *s, ds_reduced **at) {
  int32_t size[6] = {0};
  if (s->way != DS_READING) {
    const ds_reduced *x = *at;
    size[0] = x->r, size[1] = x->tets.node_count, size[2] = x->tets.tet_count, size[3] = x->surface.vertex_count;
    size[4] = x->surface.triangle_count, size[5] = x->quadratic != NULL;
  }
  ds_stream_pass(s, size, sizeof size);
  if (s->way != DS_READING || s->failed) return;
  for (int i = 0; i < 6; i++)
    if (size[i] < 0 || (uint64_t)size[i] > s->size) s->failed = true;
  if (s->failed) return;
  *at = ds_reduced_alloc(size[0], size[1], size[2], size[3], size[4], size[5] != 0);
  if (!*at) s->failed = true;
}

static void pass_numbers(ds_stream *s, double *x, int64_t count) { ds_stream_pass(s, x, (size_t)count * sizeof *x); }
static void pass_indices(ds_stream *s, int32_t *x, int64_t count) { ds_stream_pass(s, x, (size_t)count * sizeof *x); }

static void pass_body(ds_stream *s, void *thing) {
  pass_sizes(s, thing);
  if (s->failed) return;
  ds_reduced *x = *(ds_reduced **)thing;
  int64_t r = x->r, nodes = x->tets.node_count, vertices = x->surface.vertex_count, pairs = r * (r + 1) / 2;
  ds_stream_integer(s, &x->info.linear_modes);
  ds_stream_number(s, &x->info.mass_error);
  ds_stream_number(s, &x->info.orthogonality);
  ds_stream_pass(s, &x->frame, sizeof x->frame);
  ds_stream_number(s, &x->mass);
  ds_stream_pass(s, &x->inertia, sizeof x->inertia);
  pass_numbers(s, x->second0, 6);
  pass_numbers(s, x->frequency, r);
  pass_numbers(s, (double *)x->tets.nodes, 3 * nodes);
  pass_indices(s, x->tets.tets, 4 * (int64_t)x->tets.tet_count);
  pass_numbers(s, x->node_basis, 3 * nodes * r);
  pass_numbers(s, (double *)x->surface.vertices, 3 * vertices);
  pass_indices(s, x->surface.triangles, 3 * (int64_t)x->surface.triangle_count);
  pass_indices(s, x->surface_node, vertices);
  pass_numbers(s, x->basis, 3 * vertices * r);
  pass_numbers(s, x->second1, 6 * r);
  pass_numbers(s, x->second2, 6 * pairs);
  pass_numbers(s, x->coupling, 3 * r * r);
  pass_numbers(s, x->stiffness, r * r);
  if (!x->quadratic) return;
  pass_numbers(s, x->quadratic, r * pairs);
  pass_numbers(s, x->cubic, r * (pairs * (r + 2) / 3));
}

ds_reduced *ds_reduced_cache_load(const ds_reduced_def *def, ds_cache_key key) {
  ds_reduced *read = NULL;
  if (ds_cache_read(&read, pass_body, &kind, def->cache, key)) return read;
  ds_reduced_release(read);
  return NULL;
}

void ds_reduced_cache_save(ds_reduced *reduced, const ds_reduced_def *def, ds_cache_key key) {
  ds_cache_write(&reduced, pass_body, &kind, def->cache, key);
}
