/* The word a user probably meant: the nearest by edit distance (insert, delete, replace, swap of neighbours), or the
 * one that other simulators' users write instead. */
#include <string.h>

#include "base/fields.h"

/* Names used elsewhere, and ours. */
static const char *const aliases[][2] = {
    {"friction", "mu"},
    {"restitution", "e"},
    {"bounce", "e"},
    {"type", "kind"},
    {"orientation", "rotation"},
    {"quaternion", "rotation"},
    {"quat", "rotation"},
    {"pos", "position"},
    {"height", "length"},
    {"half", "size"},
    {"half_extents", "size"},
    {"extents", "size"},
    {"dimensions", "size"},
    {"vertices", "points"},
    {"dt", "step"},
    {"timestep", "step"},
    {"time_step", "step"},
    {"h", "step"},
    {"duration", "time"},
    {"version", "drystone"},
    {"objects", "bodies"},
    {"plane", "half-space"},
    {"ground", "half-space"},
    {"cube", "box"},
    {"ball", "sphere"},
    {"convex", "hull"},
    {"fixed", "static"},
    {"free", "dynamic"},
    {"angle", "degrees"},
    {"start", "start_time"},
    {"end", "end_time"},
    {"colour", "color"},
    {"omega", "angular_velocity"},
    {"pgs", "gauss-seidel"},
    {"iterations", "max_iterations"},
};

/* Restricted Damerau-Levenshtein distance of a and b, both shorter than 64. */
static int distance(const char *a, size_t na, const char *b, size_t nb) {
  int d[3][64] = {{0}}; /* rows i - 2, i - 1, i of the table, in turn */
  for (size_t j = 0; j <= nb; j++) d[0][j] = (int)j;
  for (size_t i = 1; i <= na; i++) {
    int *row = d[i % 3], *above = d[(i + 2) % 3], *before = d[(i + 1) % 3];
    row[0] = (int)i;
    for (size_t j = 1; j <= nb; j++) {
      int best = above[j - 1] + (a[i - 1] != b[j - 1]);
      if (above[j] + 1 < best) best = above[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      row[j] = best;
    }
  }
  return d[na % 3][nb];
}

static const char *alias_of(const char *word) {
  for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
    if (strcmp(aliases[i][0], word) == 0) return aliases[i][1];
  return "";
}

ds_word ds_nearest_word(const char *misspelt, const char *words) {
  ds_word nearest = {""};
  size_t n = strlen(misspelt);
  if (n >= sizeof nearest.text) return nearest;
  const char *alias = alias_of(misspelt);
  int best = n <= 3 ? 2 : n <= 8 ? 3 : 4; /* a distance has to be below this: one letter of three, two of eight */
  for (const char *word = words; *word;) {
    size_t length = strcspn(word, "|");
    if (length < sizeof nearest.text) {
      bool is_alias = strlen(alias) == length && memcmp(alias, word, length) == 0;
      int d = is_alias ? -1 : distance(misspelt, n, word, length);
      if (d < best && d < (int)n) {
        best = d;
        memcpy(nearest.text, word, length);
        nearest.text[length] = 0;
      }
    }
    word += length + (word[length] == '|');
  }
  return nearest;
}
