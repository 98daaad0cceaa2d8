/* The bytes of a mesh file: words, numbers, binary values, messages with their place, and the arrays that fill up.
 *
 * Lines end with LF, CR LF or CR and are counted only for messages. Numbers are decimal, with strtod of the C locale,
 * which read.c sets; "nan", "inf" and hexadecimal are refused. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "la/vec3.h"
#include "mesh/mesh.h"

/* ---- messages ---- */

static size_t line_of(const ds_mesh_input *in, size_t at) {
  size_t line = 1;
  if (at > in->length) at = in->length;
  for (size_t i = 0; i < at; i++)
    if (in->bytes[i] == '\n' || (in->bytes[i] == '\r' && !(i + 1 < in->length && in->bytes[i + 1] == '\n'))) line++;
  return line;
}

bool ds_mesh_fail(ds_mesh_input *in, size_t at, const char *format, ...) {
  char text[280];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  in->status = in->binary ? ds_fail(in->error, DS_ERROR_INPUT, "%.200s: byte %zu: %s", in->name, at, text)
                          : ds_fail(in->error, DS_ERROR_INPUT, "%.200s:%zu: %s", in->name, line_of(in, at), text);
  return false;
}

bool ds_mesh_fail_memory(ds_mesh_input *in) {
  in->status =
      ds_fail(in->error, DS_ERROR_MEMORY, "%.200s: memory ran out while reading the mesh; make it smaller", in->name);
  return false;
}

/* ---- words ---- */

static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A backslash that joins two lines. */
static bool joins(const ds_mesh_input *in, size_t at) {
  return in->joins && in->bytes[at] == '\\' && at + 1 < in->length && is_line_end(in->bytes[at + 1]);
}

static void skip_line_end(ds_mesh_input *in) {
  bool crlf = in->at + 1 < in->length && in->bytes[in->at] == '\r' && in->bytes[in->at + 1] == '\n';
  in->at += crlf ? 2 : 1;
}

static void skip_blanks(ds_mesh_input *in) {
  while (in->at < in->length) {
    char c = in->bytes[in->at];
    if (joins(in, in->at)) {
      in->at++;
      skip_line_end(in);
    } else if (is_blank(c) || (is_line_end(c) && !in->by_line)) {
      in->at++;
    } else {
      return;
    }
  }
}

bool ds_mesh_take_word(ds_mesh_input *in, ds_mesh_word *word) {
  skip_blanks(in);
  size_t start = in->at;
  if (in->comments && start < in->length && in->bytes[start] == '#') return false;
  while (in->at < in->length && !is_blank(in->bytes[in->at]) && !is_line_end(in->bytes[in->at]) && !joins(in, in->at))
    in->at++;
  *word = (ds_mesh_word){in->bytes + start, in->at - start, start};
  return word->length > 0;
}

bool ds_mesh_next_line(ds_mesh_input *in) {
  while (in->at < in->length && !is_line_end(in->bytes[in->at])) {
    if (joins(in, in->at)) {
      in->at++;
      skip_line_end(in);
    } else {
      in->at++;
    }
  }
  if (in->at < in->length) skip_line_end(in);
  return in->at < in->length;
}

bool ds_mesh_word_is(const ds_mesh_word *word, const char *text) {
  return strlen(text) == word->length && memcmp(word->text, text, word->length) == 0;
}

bool ds_mesh_word_is_any_case(const ds_mesh_word *word, const char *lower) {
  if (strlen(lower) != word->length) return false;
  for (size_t i = 0; i < word->length; i++) {
    char c = word->text[i];
    if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
    if (c != lower[i]) return false;
  }
  return true;
}

ds_mesh_quote ds_mesh_quote_word(const ds_mesh_word *word) {
  ds_mesh_quote quote = {"the end"};
  if (word->length == 0) return quote;
  size_t n = word->length < 40 ? word->length : 40, at = 0;
  quote.text[at++] = '"';
  for (size_t i = 0; i < n; i++) quote.text[at++] = word->text[i] >= ' ' && word->text[i] <= '~' ? word->text[i] : '?';
  if (n < word->length) quote.text[at - 1] = quote.text[at - 2] = quote.text[at - 3] = '.';
  quote.text[at++] = '"';
  quote.text[at] = 0;
  return quote;
}

/* ---- numbers ---- */

bool ds_mesh_parse_integer(int64_t *value, const char *text, size_t length) {
  size_t i = length > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  if (i == length || length - i > 18) return false;
  int64_t x = 0;
  for (; i < length; i++) {
    if (!is_digit(text[i])) return false;
    x = 10 * x + (text[i] - '0');
  }
  *value = text[0] == '-' ? -x : x;
  return true;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before or behind the point */
static bool is_decimal(const char *s, size_t n) {
  size_t i = 0, digits = 0;
  if (i < n && (s[i] == '+' || s[i] == '-')) i++;
  for (; i < n && is_digit(s[i]); i++) digits++;
  if (i < n && s[i] == '.')
    for (i++; i < n && is_digit(s[i]); i++) digits++;
  if (digits == 0) return false;
  if (i < n && (s[i] == 'e' || s[i] == 'E')) {
    i++;
    if (i < n && (s[i] == '+' || s[i] == '-')) i++;
    if (i == n) return false;
    while (i < n && is_digit(s[i])) i++;
  }
  return i == n;
}

bool ds_mesh_take_number(ds_mesh_input *in, double *value, const char *what) {
  ds_mesh_word word;
  char copy[128];
  if (!ds_mesh_take_word(in, &word))
    return ds_mesh_fail(in, in->at, "the %s ends here; expected %s", in->by_line ? "line" : "file", what);
  if (word.length >= sizeof copy || !is_decimal(word.text, word.length))
    return ds_mesh_fail(in, word.at, "%s is not a number; expected %s", ds_mesh_quote_word(&word).text, what);
  memcpy(copy, word.text, word.length);
  copy[word.length] = 0;
  *value = strtod(copy, NULL);
  return true;
}

bool ds_mesh_take_integer(ds_mesh_input *in, int64_t *value, const char *what) {
  ds_mesh_word word;
  if (!ds_mesh_take_word(in, &word))
    return ds_mesh_fail(in, in->at, "the %s ends here; expected %s", in->by_line ? "line" : "file", what);
  if (!ds_mesh_parse_integer(value, word.text, word.length))
    return ds_mesh_fail(in, word.at, "%s is not a whole number; expected %s", ds_mesh_quote_word(&word).text, what);
  return true;
}

bool ds_mesh_take_count(ds_mesh_input *in, int64_t *value, const char *what) {
  if (!ds_mesh_take_integer(in, value, what)) return false;
  return ds_mesh_check_count(in, *value, in->at, what);
}

bool ds_mesh_skip_words(ds_mesh_input *in, int64_t count, const char *what) {
  ds_mesh_word word;
  for (int64_t i = 0; i < count; i++)
    if (!ds_mesh_take_word(in, &word))
      return ds_mesh_fail(in, in->at, "the %s ends here; expected %s", in->by_line ? "line" : "file", what);
  return true;
}

/* ---- bytes ---- */

bool ds_mesh_take_bytes(ds_mesh_input *in, const char **bytes, size_t count, const char *what) {
  if (count > in->length - in->at)
    return ds_mesh_fail(in, in->at, "the file ends after %zu of %zu bytes; expected %s", in->length - in->at, count,
                        what);
  *bytes = in->bytes + in->at;
  in->at += count;
  return true;
}

uint64_t ds_mesh_load(const char *bytes, size_t size, bool big_endian) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; i++) value = value << 8 | (unsigned char)bytes[big_endian ? i : size - 1 - i];
  return value;
}

double ds_mesh_load_real(const char *bytes, size_t size, bool big_endian) {
  uint64_t bits = ds_mesh_load(bytes, size, big_endian);
  if (size == 4) {
    uint32_t short_bits = (uint32_t)bits;
    float x;
    memcpy(&x, &short_bits, sizeof x);
    return (double)x;
  }
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* ---- vertices and triangles ---- */

bool ds_mesh_check_count(ds_mesh_input *in, int64_t count, size_t at, const char *what) {
  if (count >= 0 && count <= DS_MESH_ELEMENTS_MAX) return true;
  return ds_mesh_fail(in, at, "%lld as %s; expected 0 to %d", (long long)count, what, DS_MESH_ELEMENTS_MAX);
}

bool ds_mesh_add_vertex(ds_mesh_input *in, ds_vec3 x, size_t at) {
  if (!v3_finite(x)) return ds_mesh_fail(in, at, "a coordinate is not finite; expected finite numbers");
  ds_vec3 scaled = v3_scale(in->scale, x);
  if (!v3_finite(scaled))
    return ds_mesh_fail(in, at, "a coordinate times the scale %g is too large; expected a smaller scale", in->scale);
  if (in->vertex_count >= DS_MESH_ELEMENTS_MAX)
    return ds_mesh_fail(in, at, "more than %d vertices; expected a smaller mesh", DS_MESH_ELEMENTS_MAX);
  if (!ds_array_reserve(&in->vertices, &in->vertex_capacity, in->vertex_count + 1, sizeof *in->vertices))
    return ds_mesh_fail_memory(in);
  in->vertices[in->vertex_count++] = scaled;
  return true;
}

void ds_mesh_begin_polygon(ds_mesh_input *in) { in->corners = 0; }

bool ds_mesh_add_corner(ds_mesh_input *in, int64_t index, size_t at) {
  if (index < 0 || index >= DS_MESH_ELEMENTS_MAX)
    return ds_mesh_fail(in, at, "vertex %lld does not exist; expected a vertex of the file",
                        (long long)index + in->base);
  int32_t i = (int32_t)index;
  if (i > in->highest) in->highest = i, in->highest_at = at;
  if (in->corners >= 2) {
    if (in->triangle_count >= DS_MESH_ELEMENTS_MAX)
      return ds_mesh_fail(in, at, "more than %d triangles; expected a smaller mesh", DS_MESH_ELEMENTS_MAX);
    if (!ds_array_reserve(&in->triangles, &in->triangle_capacity, in->triangle_count + 1, sizeof *in->triangles))
      return ds_mesh_fail_memory(in);
    int32_t *t = in->triangles[in->triangle_count++];
    t[0] = in->fan[0], t[1] = in->fan[1], t[2] = i;
  }
  if (in->corners == 0) in->fan[0] = i;
  in->fan[1] = i;
  in->corners++;
  return true;
}

/* ---- tetrahedra ---- */

bool ds_mesh_find_vertex(ds_mesh_input *in, int32_t *vertex, int64_t number, size_t at) {
  if (number < in->base || number - in->base >= in->vertex_count)
    return ds_mesh_fail(in, at, "node %lld does not exist; expected %d to %d", (long long)number, in->base,
                        in->base + in->vertex_count - 1);
  *vertex = (int32_t)(number - in->base);
  return true;
}

/* Whether a node lies where one of a tetrahedron of that order with straight edges does: at a sum of its corners whose
 * weights are multiples of 1/order. Files with few digits, and meshes that are bent by nothing that matters, pass. */
static bool is_straight(const ds_mesh_input *in, const int32_t *corner, int32_t node, int order) {
  const double tolerance = 1e-3;
  ds_vec3 x[4], p = in->vertices[node];
  double longest = 0, nearest = INFINITY;
  for (int k = 0; k < 4; k++) {
    x[k] = in->vertices[corner[k]];
    for (int i = 0; i < k; i++) longest = fmax(longest, v3_dist(x[i], x[k]));
  }
  for (int i = 0; i <= order; i++)
    for (int j = 0; i + j <= order; j++)
      for (int k = 0; i + j + k <= order; k++) {
        const double weight[4] = {(double)(order - i - j - k) / order, (double)i / order, (double)j / order,
                                  (double)k / order};
        ds_vec3 sum = v3(0, 0, 0);
        for (int c = 0; c < 4; c++) sum = v3_mad(sum, weight[c], x[c]);
        nearest = fmin(nearest, v3_dist(sum, p));
      }
  return nearest <= tolerance * longest;
}

bool ds_mesh_add_tet(ds_mesh_input *in, const int32_t *vertex, int32_t nodes, size_t at) {
  int order = nodes == 56 ? 5 : nodes == 35 ? 4 : nodes == 20 ? 3 : nodes == 10 ? 2 : 1;
  for (int32_t i = 4; i < nodes; i++)
    if (in->volume && !is_straight(in, vertex, vertex[i], order))
      return ds_mesh_fail(in, at, "a tetrahedron of order %d with curved edges; expected straight ones", order);
  if (in->tet_count >= DS_MESH_ELEMENTS_MAX)
    return ds_mesh_fail(in, at, "more than %d tetrahedra; expected a smaller mesh", DS_MESH_ELEMENTS_MAX);
  if (!ds_array_reserve(&in->tets, &in->tet_capacity, in->tet_count + 1, sizeof *in->tets) ||
      !ds_array_reserve(&in->tet_at, &in->tet_at_capacity, in->tet_count + 1, sizeof *in->tet_at))
    return ds_mesh_fail_memory(in);
  in->tet_at[in->tet_count] = at;
  memcpy(in->tets[in->tet_count++], vertex, sizeof *in->tets);
  return true;
}
