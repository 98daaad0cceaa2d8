/* STL, text and binary. The length decides: a binary file of n triangles has 84 + 50 n bytes, whatever its header says;
 * other files that start with "solid" and hold no zero byte are text. Triangles come as three points each; equal points
 * become one vertex when the mesh is merged. The normals of the file are not used. Source: 3D Systems, 1989. */
#include <string.h>

#include "la/vec3.h"
#include "mesh/mesh.h"

enum { HEADER = 84, FACET = 50 };

bool ds_mesh_is_binary_stl(const char *bytes, size_t length) {
  return length >= HEADER && HEADER + FACET * ds_mesh_load(bytes + 80, 4, false) == length;
}

static bool add_triangle(ds_mesh_input *in, const ds_vec3 corner[3], const size_t at[3]) {
  ds_mesh_begin_polygon(in);
  for (int k = 0; k < 3; k++)
    if (!ds_mesh_add_vertex(in, corner[k], at[k]) || !ds_mesh_add_corner(in, in->vertex_count - 1, at[k])) return false;
  return true;
}

/* ---- binary ---- */

static bool read_binary(ds_mesh_input *in) {
  in->binary = true;
  if (in->length < HEADER)
    return ds_mesh_fail(in, in->length, "the file ends here; expected \"solid\" or a header of %d bytes", HEADER);
  uint64_t count = ds_mesh_load(in->bytes + 80, 4, false);
  if (HEADER + FACET * count != in->length)
    return ds_mesh_fail(in, 80, "%llu triangles need %llu bytes, the file has %zu; expected a whole binary STL",
                        (unsigned long long)count, (unsigned long long)(HEADER + FACET * count), in->length);
  in->at = HEADER;
  for (uint64_t i = 0; i < count; i++) {
    const char *facet;
    ds_vec3 corner[3];
    size_t at[3];
    if (!ds_mesh_take_bytes(in, &facet, FACET, "a triangle")) return false;
    for (int k = 0; k < 3; k++) {
      const char *p = facet + 12 * (k + 1);
      at[k] = (size_t)(p - in->bytes);
      corner[k] =
          v3(ds_mesh_load_real(p, 4, false), ds_mesh_load_real(p + 4, 4, false), ds_mesh_load_real(p + 8, 4, false));
    }
    if (!add_triangle(in, corner, at)) return false;
  }
  return true;
}

/* ---- text ---- */

static bool expect(ds_mesh_input *in, const char *keyword) {
  ds_mesh_word word = {0};
  if (ds_mesh_take_word(in, &word) && ds_mesh_word_is_any_case(&word, keyword)) return true;
  return ds_mesh_fail(in, word.at, "%s where \"%s\" should stand; expected a whole text STL",
                      ds_mesh_quote_word(&word).text, keyword);
}

/* What follows "facet". */
static bool read_facet(ds_mesh_input *in) {
  ds_vec3 corner[3];
  size_t at[3];
  if (!expect(in, "normal") || !ds_mesh_skip_words(in, 3, "the normal") || !expect(in, "outer") || !expect(in, "loop"))
    return false;
  for (int k = 0; k < 3; k++) {
    if (!expect(in, "vertex")) return false;
    at[k] = in->at;
    if (!ds_mesh_take_number(in, &corner[k].x, "the coordinates x y z") ||
        !ds_mesh_take_number(in, &corner[k].y, "the coordinates x y z") ||
        !ds_mesh_take_number(in, &corner[k].z, "the coordinates x y z"))
      return false;
  }
  return expect(in, "endloop") && expect(in, "endfacet") && add_triangle(in, corner, at);
}

static bool read_text(ds_mesh_input *in) {
  ds_mesh_word word;
  while (ds_mesh_take_word(in, &word)) {
    if (!ds_mesh_word_is_any_case(&word, "solid"))
      return ds_mesh_fail(in, word.at, "%s where a solid should start; expected \"solid\"",
                          ds_mesh_quote_word(&word).text);
    ds_mesh_next_line(in); /* its name */
    for (;;) {
      if (!ds_mesh_take_word(in, &word))
        return ds_mesh_fail(in, in->at, "the file ends within a solid; expected \"facet\" or \"endsolid\"");
      if (ds_mesh_word_is_any_case(&word, "endsolid")) break;
      if (!ds_mesh_word_is_any_case(&word, "facet"))
        return ds_mesh_fail(in, word.at, "%s within a solid; expected \"facet\" or \"endsolid\"",
                            ds_mesh_quote_word(&word).text);
      if (!read_facet(in)) return false;
    }
    ds_mesh_next_line(in);
  }
  return true;
}

bool ds_mesh_read_stl(ds_mesh_input *in) {
  ds_mesh_word word;
  if (ds_mesh_is_binary_stl(in->bytes, in->length)) return read_binary(in);
  bool text = ds_mesh_take_word(in, &word) && ds_mesh_word_is_any_case(&word, "solid");
  if (!text || memchr(in->bytes, 0, in->length)) return read_binary(in);
  in->at = 0;
  return read_text(in);
}
