/* Which faces of tetrahedra are the same: found in a table by their three corners. The table's order has no influence
 * on the result. */
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"

/* Faces of a tetrahedron with positive volume, counter-clockwise seen from outside. */
static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

void ds_tet_face(int32_t corner[3], const int32_t *tets, int32_t face) {
  const int32_t *tet = tets + 4 * (int64_t)(face / 4);
  for (int i = 0; i < 3; i++) corner[i] = tet[faces[face % 4][i]];
}

/* Sorted corners; true if sorting took an odd number of exchanges. */
static bool sort_face(int32_t sorted[3], const int32_t corner[3]) {
  int32_t a = corner[0], b = corner[1], c = corner[2], t;
  bool odd = false;
  if (a > b) t = a, a = b, b = t, odd = !odd;
  if (b > c) t = b, b = c, c = t, odd = !odd;
  if (a > b) t = a, a = b, b = t, odd = !odd;
  sorted[0] = a, sorted[1] = b, sorted[2] = c;
  return odd;
}

/* The slot of a face, or the empty one where it belongs. */
static size_t find_slot(bool *same_turn, const int32_t *slots, size_t mask, const int32_t *tets, int32_t face) {
  int32_t corner[3], key[3], other[3];
  ds_tet_face(corner, tets, face);
  bool odd = sort_face(key, corner);
  size_t slot = ds_mesh_hash((uint64_t)key[0], (uint64_t)key[1], (uint64_t)key[2]) & mask;
  for (; slots[slot] >= 0; slot = (slot + 1) & mask) {
    ds_tet_face(corner, tets, slots[slot]);
    *same_turn = sort_face(other, corner) == odd;
    if (memcmp(key, other, sizeof key) == 0) break;
  }
  return slot;
}

static void pair(int32_t *twin, ds_tet_fault *fault, int32_t *slots, size_t mask, const int32_t *tets, int32_t count) {
  *fault = (ds_tet_fault){-1, ""};
  memset(slots, 0xff, (mask + 1) * sizeof *slots);
  for (int32_t f = 0; f < 4 * count; f++) {
    bool same_turn = false;
    size_t slot = find_slot(&same_turn, slots, mask, tets, f);
    int32_t other = slots[slot];
    twin[f] = other;
    if (other < 0) {
      slots[slot] = f;
      continue;
    }
    if (fault->face < 0 && twin[other] >= 0) *fault = (ds_tet_fault){f, "two others share"};
    if (fault->face < 0 && same_turn) *fault = (ds_tet_fault){f, "another one on the same side shares"};
    twin[other] = f;
  }
}

bool ds_tet_faces_pair(int32_t *twin, ds_tet_fault *fault, const int32_t *tets, int32_t count) {
  size_t slot_count = 16;
  while (slot_count < 8 * (size_t)count) slot_count *= 2;
  int32_t *slots = malloc(slot_count * sizeof *slots);
  if (!slots) return false;
  pair(twin, fault, slots, slot_count - 1, tets, count);
  free(slots);
  return true;
}
