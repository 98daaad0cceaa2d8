/* A stroke font drawn for this program.
 *
 * A glyph is a width and a path on a grid of 20 units per em: the baseline at y = 4, lower-case letters to 14, capitals
 * to 18, descenders to 0. In a path M moves, L draws a line, Q a quadratic Bezier curve (control point, end);
 * coordinates are one digit each, 0-9 then a-z for 10-35, x before y. Strokes have round ends; a curve is drawn as 6
 * segments. */
#include "font.h"

#include <math.h>

typedef struct glyph {
  int8_t width;
  const char *path;
} glyph;

#define UNITS_PER_EM 20.0
#define BASELINE 4
#define SPACING 4.3 /* between the strokes of neighbouring glyphs */
#define STROKE 1.7  /* width of a regular stroke */
#define CURVE_SEGMENTS 6

static const glyph glyphs[95] = {
    /* space ! " # */
    {2, ""},
    {0, "M0iL09M05L04"},
    {4, "M0iL0eM4iL4e"},
    {10, "M24L4iM64L8iM0dLadM09La9"},
    /* $ % & ' */
    {9, "M9fQ8i5iQ0i0eQ0c4bQ9a97Q9444Q1407M5kL42"},
    {12, "M04LciM3iQ0i0fQ0c3cQ6c6fQ6i3iM9aQ6a67Q6494Qc4c7Qca9a"},
    {11, "Mb4L2eQ2i5iQ8i8fQ8d4bQ0a07Q0444Q94ba"},
    {0, "M0iL0e"},
    /* ( ) * + */
    {3, "M3kQ0g0aQ0531"},
    {3, "M0kQ3g3aQ3501"},
    {6, "M3iL3aM0gL6cM6gL0c"},
    {10, "M55L5fM0aLaa"},
    /* , - . / */
    {1, "M15L02"},
    {6, "M0aL6a"},
    {0, "M05L04"},
    {7, "M02L7j"},
    /* 0 to 9, all of one width */
    {8, "M4iQ0i0bQ0444Q848bQ8i4i"},
    {8, "M1eL5iL54"},
    {8, "M0eQ0i4iQ8i8eQ8b69L04L84"},
    {8, "M0gQ1i4iQ8i8eQ8b4bL3bM4bQ8b87Q8444Q0407"},
    {8, "M64L6iL08L88"},
    {8, "M7iL1iL0bQ1c4cQ8c88Q8444Q1406"},
    {8, "M7gQ6i4iQ0i09Q0d4dQ8d89Q8444Q0409"},
    {8, "M0iL8iL34"},
    {8, "M4bQ1b1eQ1i4iQ7i7eQ7b4bQ0b07Q0444Q8487Q8b4b"},
    {8, "M16Q2444Q848dQ8949Q090dQ0i4iQ8i8d"},
    /* : ; < = > ? @ */
    {0, "M05L04M0dL0c"},
    {1, "M15L02M1dL1c"},
    {9, "M9fL0aL95"},
    {10, "M0dLadM07La7"},
    {9, "M0fL9aL05"},
    {7, "M0fQ0i4iQ7i7eQ7c4bQ3a38M35L34"},
    {14, "M7dQ4d4aQ4777Qa7aaQad7dMadLa8Qa6c6Qe6eaQei7iQ0i0bQ0373Qa3c4"},
    /* A to Z */
    {10, "M04L5iLa4M29L89"},
    {10, "M5bL0bM04L0iL5iQ9i9eQ9b5bQaba7Qa454L04"},
    {11, "MbfQ9i6iQ0i0bQ0464Q94b7"},
    {10, "M04L0iL4iQaiabQa444L04"},
    {8, "M8iL0iL04L84M0bL7b"},
    {8, "M8iL0iL04M0bL7b"},
    {11, "MbfQ9i6iQ0i0bQ0464Qb4b8LbbL7b"},
    {10, "M04L0iMa4LaiM0bLab"},
    {0, "M04L0i"},
    {7, "M7iL78Q7434Q0408"},
    {9, "M04L0iM9iL09M3cL94"},
    {8, "M0iL04L84"},
    {12, "M04L0iL67LciLc4"},
    {10, "M04L0iLa4Lai"},
    {12, "M6iQ0i0bQ0464Qc4cbQci6i"},
    {9, "M04L0iL5iQ9i9eQ9a5aL0a"},
    {12, "M6iQ0i0bQ0464Qc4cbQci6iM88Lc3"},
    {9, "M04L0iL5iQ9i9eQ9a5aL0aM5aL94"},
    {9, "M9fQ8i5iQ0i0eQ0c4bQ9a97Q9444Q1407"},
    {10, "M0iLaiM5iL54"},
    {10, "M0iL09Q0454Qa4a9Lai"},
    {10, "M0iL54Lai"},
    {14, "M0iL44L7iLa4Lei"},
    {10, "M0iLa4MaiL04"},
    {10, "M0iL5bLaiM5bL54"},
    {9, "M0iL9iL04L94"},
    /* [ \ ] ^ _ ` */
    {3, "M3kL0kL01L31"},
    {7, "M0jL72"},
    {3, "M0kL3kL31L01"},
    {8, "M0dL4iL8d"},
    {10, "M02La2"},
    {3, "M0iL3f"},
    /* a to z */
    {8, "M8eL84M89Q8e4eQ0e09Q0444Q8489"},
    {8, "M0iL04M09Q0e4eQ8e89Q8444Q0409"},
    {7, "M7cQ6e4eQ0e09Q0444Q6476"},
    {8, "M8iL84M89Q8e4eQ0e09Q0444Q8489"},
    {8, "M09L89Q8e4eQ0e09Q0444Q7486"},
    {5, "M5iQ2i2eL24M0eL5e"},
    {8, "M8eL83Q8040Q1012M89Q8e4eQ0e09Q0444Q8489"},
    {8, "M0iL04M0aQ0e4eQ8e8aL84"},
    {0, "M04L0eM0hL0i"},
    {3, "M3eL32Q3000M3hL3i"},
    {7, "M0iL04M7eL08M3bL74"},
    {2, "M0iL06Q0424"},
    {12, "M04L0eM0aQ0e3eQ6e6aL64M6aQ6e9eQcecaLc4"},
    {8, "M04L0eM0aQ0e4eQ8e8aL84"},
    {8, "M4eQ0e09Q0444Q8489Q8e4e"},
    {8, "M0eL00M09Q0e4eQ8e89Q8444Q0409"},
    {8, "M8eL80M89Q8e4eQ0e09Q0444Q8489"},
    {5, "M04L0eM0aQ0e5e"},
    {7, "M7cQ6e4eQ0e0bQ0949Q7977Q7444Q1406"},
    {5, "M2hL27Q2454M0eL5e"},
    {8, "M0eL08Q0444Q8488M8eL84"},
    {8, "M0eL44L8e"},
    {12, "M0eL34L6eL94Lce"},
    {8, "M0eL84M8eL04"},
    {8, "M0eL44M8eL31Q2000"},
    {7, "M0eL7eL04L74"},
    /* { | } ~ */
    {4, "M4kQ2k2hL2dQ2a0aQ2a27L24Q2141"},
    {0, "M0kL01"},
    {4, "M0kQ2k2hL2dQ2a4aQ2a27L24Q2101"},
    {10, "M08Q0b3bQ4b5aQ6979Qa9ac"},
};

/* The glyph at *text, which moves on to the next character; UTF-8 sequences count as one. */
static const glyph *next_glyph(const char **text) {
  unsigned char c = (unsigned char)**text;
  ++*text;
  if (c >= 0xc0) {
    while (((unsigned char)**text & 0xc0) == 0x80) ++*text;
  }
  return &glyphs[(c < 32 || c > 126 ? '?' : c) - 32];
}

double ds_text_width(const char *text, double size) {
  double units = 0;
  while (*text) units += next_glyph(&text)->width + SPACING;
  return (units > 0 ? units - SPACING : 0) * size / UNITS_PER_EM;
}

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/* The place of a glyph: unit (u, v) is at (x, y) + u (ux, uy) + v (vx, vy). */
typedef struct frame {
  double x, y, ux, uy, vx, vy;
} frame;

static void stroke(ds_canvas *canvas, const frame *f, double u0, double v0, double u1, double v1, double width) {
  ds_canvas_segment(canvas, f->x + u0 * f->ux + v0 * f->vx, f->y + u0 * f->uy + v0 * f->vy,
                    f->x + u1 * f->ux + v1 * f->vx, f->y + u1 * f->uy + v1 * f->vy, width);
}

static void draw_path(ds_canvas *canvas, const frame *f, const char *path, double width) {
  double u = 0, v = 0;
  while (*path) {
    char command = *path;
    double a = digit(path[1]), b = digit(path[2]) - BASELINE;
    path += 3;
    if (command == 'L') stroke(canvas, f, u, v, a, b, width);
    if (command == 'Q') {
      double c = digit(path[0]), d = digit(path[1]) - BASELINE, u0 = u, v0 = v, pu = u, pv = v;
      path += 2;
      for (int i = 1; i <= CURVE_SEGMENTS; i++) {
        double t = (double)i / CURVE_SEGMENTS, k0 = (1 - t) * (1 - t), k1 = 2 * t * (1 - t), k2 = t * t;
        double qu = k0 * u0 + k1 * a + k2 * c, qv = k0 * v0 + k1 * b + k2 * d;
        stroke(canvas, f, pu, pv, qu, qv, width);
        pu = qu, pv = qv;
      }
      a = c, b = d;
    }
    u = a, v = b;
  }
}

static void draw_text(ds_canvas *canvas, frame f, ds_anchor anchor, const char *text, double size, double weight,
                      ds_color color) {
  double unit = size / UNITS_PER_EM, width = ds_text_width(text, size) / unit;
  double u = anchor == DS_ANCHOR_LEFT ? 0 : anchor == DS_ANCHOR_CENTER ? -0.5 * width : -width;
  f.x += u * f.ux, f.y += u * f.uy;
  while (*text) {
    const glyph *g = next_glyph(&text);
    draw_path(canvas, &f, g->path, fmax(STROKE * weight * unit, 0.9));
    f.x += (g->width + SPACING) * f.ux, f.y += (g->width + SPACING) * f.uy;
  }
  ds_canvas_paint(canvas, color, 1);
}

void ds_text_draw(ds_canvas *canvas, double x, double y, ds_anchor anchor, const char *text, double size, double weight,
                  ds_color color) {
  double unit = size / UNITS_PER_EM;
  draw_text(canvas, (frame){x, y, unit, 0, 0, -unit}, anchor, text, size, weight, color);
}
