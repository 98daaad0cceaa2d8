/* OBJ: lines "v x y z" and "f a b c ..." with corners a, a/t, a/t/n or a//n; negative indices count from the last
 * vertex back. Polygons are split into fans. Texture, normals, groups, materials, curves and free-form surfaces, which
 * are legal, are skipped; a keyword that OBJ does not have is an error. Source: Wavefront, Advanced Visualizer manual,
 * appendix B1, "Object files", 3.0. */
#include "mesh/mesh.h"

/* Everything of the manual but v and f, the superseded statements included. */
static bool is_legal(const ds_mesh_word *word) {
  static const char *const keywords[] = {
      "vn",   "vt",    "vp",     "g",   "o",    "s",      "usemtl",    "mtllib",     "l",        "p",    "mg",
      "lod",  "bevel", "cstype", "deg", "bmat", "step",   "curv",      "curv2",      "surf",     "parm", "trim",
      "hole", "scrv",  "sp",     "end", "con",  "usemap", "maplib",    "shadow_obj", "ctech",    "call", "stech",
      "csh",  "bsp",   "bzp",    "cdc", "cdp",  "res",    "trace_obj", "c_interp",   "d_interp",
  };
  for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
    if (ds_mesh_word_is(word, keywords[i])) return true;
  return false;
}

static bool read_vertex(ds_mesh_input *in, size_t at) {
  ds_vec3 x;
  ds_mesh_word word;
  if (!ds_mesh_take_number(in, &x.x, "the coordinates x y z") ||
      !ds_mesh_take_number(in, &x.y, "the coordinates x y z") ||
      !ds_mesh_take_number(in, &x.z, "the coordinates x y z"))
    return false;
  /* a weight or a colour may follow */
  for (int extra = 0; ds_mesh_take_word(in, &word); extra++)
    if (extra == 4)
      return ds_mesh_fail(in, word.at, "%s after a vertex; expected x y z and at most 4 more numbers",
                          ds_mesh_quote_word(&word).text);
  return ds_mesh_add_vertex(in, x, at);
}

/* The vertex index of a corner; the indices of texture and normal have to be whole numbers or empty. */
static bool parse_corner(int64_t *index, const ds_mesh_word *word) {
  size_t start = 0;
  int part = 0;
  for (size_t i = 0; i <= word->length; i++) {
    if (i < word->length && word->text[i] != '/') continue;
    int64_t value = 0;
    bool given = i > start;
    if ((given || part == 0) && !ds_mesh_parse_integer(&value, word->text + start, i - start)) return false;
    if (part == 0) *index = value;
    if (++part > 3) return false;
    start = i + 1;
  }
  return true;
}

static bool read_face(ds_mesh_input *in, size_t at) {
  ds_mesh_word word;
  int64_t index = 0;
  ds_mesh_begin_polygon(in);
  while (ds_mesh_take_word(in, &word)) {
    if (!parse_corner(&index, &word))
      return ds_mesh_fail(in, word.at, "%s is not a corner; expected v, v/vt, v/vt/vn or v//vn",
                          ds_mesh_quote_word(&word).text);
    if (index == 0 || index < -(int64_t)in->vertex_count)
      return ds_mesh_fail(in, word.at, "vertex %lld does not exist; expected 1 up, or -1 to -%d", (long long)index,
                          in->vertex_count);
    if (!ds_mesh_add_corner(in, index > 0 ? index - 1 : in->vertex_count + index, word.at)) return false;
  }
  if (in->corners < 3) return ds_mesh_fail(in, at, "a face with %d corners; expected at least 3", in->corners);
  return true;
}

bool ds_mesh_read_obj(ds_mesh_input *in) {
  in->comments = in->joins = in->by_line = true;
  in->base = 1;
  if (in->length >= 3 && in->bytes[0] == '\xEF' && in->bytes[1] == '\xBB' && in->bytes[2] == '\xBF') in->at = 3;
  do {
    ds_mesh_word word;
    if (!ds_mesh_take_word(in, &word)) continue;
    bool ok = true;
    if (ds_mesh_word_is(&word, "v"))
      ok = read_vertex(in, word.at);
    else if (ds_mesh_word_is(&word, "f") || ds_mesh_word_is(&word, "fo"))
      ok = read_face(in, word.at);
    else if (!is_legal(&word))
      ok = ds_mesh_fail(in, word.at, "%s is not an OBJ keyword; expected v, f, vn, vt, g, usemtl, ...",
                        ds_mesh_quote_word(&word).text);
    if (!ok) return false;
  } while (ds_mesh_next_line(in));
  return true;
}
