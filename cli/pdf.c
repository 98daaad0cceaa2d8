/* PDF: marks are gathered as the content of the page, and the file is written at the end, when lengths are known. One
 * point is one pixel. Degrees of transparency are those of 255 graphics states. */
#include "pdf.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct ds_pdf {
  FILE *content;
  char *text;
  size_t text_size;
  int32_t width, height;
  bool states[256]; /* transparencies in use */
  unsigned char *image;
  size_t image_size;
  int32_t image_width, image_height;
};

static void put_color(FILE *file, ds_color c, const char *operator) {
  fprintf(file, "%.4g %.4g %.4g %s\n", (double)c.r, (double)c.g, (double)c.b, operator);
}

static void pdf_free(ds_pdf *p) {
  if (p->content != NULL) fclose(p->content);
  free(p->text);
  free(p->image);
  free(p);
}

ds_pdf *ds_pdf_begin(int32_t width, int32_t height, ds_color back) {
  ds_pdf *p = calloc(1, sizeof *p);
  if (p == NULL) return NULL;
  p->width = width, p->height = height;
  p->content = open_memstream(&p->text, &p->text_size);
  if (p->content == NULL) {
    pdf_free(p);
    return NULL;
  }
  fprintf(p->content, "1 0 0 -1 0 %d cm 1 J 1 j\n", (int)height); /* y downwards, round ends */
  put_color(p->content, back, "rg");
  fprintf(p->content, "0 0 %d %d re f\n", (int)width, (int)height);
  return p;
}

bool ds_pdf_image(ds_pdf *p, const ds_image *image) {
  uLong size = (uLong)image->width * (uLong)image->height * 3;
  uLongf room = compressBound(size);
  p->image = malloc(room);
  if (p->image == NULL || compress(p->image, &room, image->rgb, size) != Z_OK) return false;
  p->image_size = room;
  p->image_width = image->width, p->image_height = image->height;
  fprintf(p->content, "q %d 0 0 %d 0 %d cm /I Do Q\n", (int)p->width, -(int)p->height, (int)p->height);
  return true;
}

static void put_path(ds_pdf *p, const ds_svg *svg, const ds_svg_mark *m) {
  for (int32_t i = 0; i < m->count; i++) {
    const double *x = svg->points + 2 * (size_t)(m->first + i);
    fprintf(p->content, "%.2f %.2f %s\n", x[0], x[1], i == 0 ? "m" : "l");
  }
}

/* Strokes of a width are one path, so that they do not darken each other where they overlap. */
void ds_pdf_paint(ds_pdf *p, const ds_svg *svg, ds_color color, double alpha) {
  int level = alpha >= 1 ? 255 : alpha <= 0 ? 0 : (int)(alpha * 255 + 0.5);
  p->states[level] = true;
  fprintf(p->content, "/A%d gs\n", level);
  put_color(p->content, color, "RG");
  put_color(p->content, color, "rg");
  for (int32_t i = 0; i < svg->mark_count;) {
    const ds_svg_mark *m = &svg->marks[i];
    if (m->width > 0) {
      fprintf(p->content, "%.2f w\n", m->width);
      for (; i < svg->mark_count && svg->marks[i].width == m->width; i++) put_path(p, svg, &svg->marks[i]);
      fputs("S\n", p->content);
    } else {
      put_path(p, svg, m);
      fputs("h f\n", p->content);
      i++;
    }
  }
}

void ds_pdf_clip(ds_pdf *p, double x0, double y0, double x1, double y1) {
  fprintf(p->content, "q %.2f %.2f %.2f %.2f re W n\n", x0, y0, x1 - x0, y1 - y0);
}

void ds_pdf_unclip(ds_pdf *p) { fputs("Q\n", p->content); }

/* ---- the file ---- */

enum { CATALOG = 1, PAGES, PAGE, CONTENT, IMAGE, OBJECTS };

static void put_page(FILE *file, const ds_pdf *p) {
  fprintf(file, "<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R /Resources << /ExtGState << ",
          PAGES, (int)p->width, (int)p->height, CONTENT);
  for (int i = 0; i < 256; i++)
    if (p->states[i]) fprintf(file, "/A%d << /CA %.4g /ca %.4g >> ", i, i / 255.0, i / 255.0);
  fputs(">> ", file);
  if (p->image != NULL) fprintf(file, "/XObject << /I %d 0 R >> ", IMAGE);
  fputs(">> >>\n", file);
}

static void put_stream(FILE *file, const char *keys, const void *data, size_t size) {
  fprintf(file, "<< %s/Length %zu >>\nstream\n", keys, size);
  fwrite(data, 1, size, file);
  fputs("\nendstream\n", file);
}

static bool put_file(const ds_pdf *p, FILE *file) {
  uLongf room = compressBound((uLong)p->text_size);
  unsigned char *content = malloc(room);
  if (content == NULL || compress(content, &room, (const Bytef *)p->text, (uLong)p->text_size) != Z_OK) {
    free(content);
    return false;
  }
  long at[OBJECTS] = {0};
  char keys[160];
  fputs("%PDF-1.4\n", file);
  for (int i = CATALOG; i < OBJECTS; i++) {
    at[i] = ftell(file);
    fprintf(file, "%d 0 obj\n", i);
    if (i == CATALOG) fprintf(file, "<< /Type /Catalog /Pages %d 0 R >>\n", PAGES);
    if (i == PAGES) fprintf(file, "<< /Type /Pages /Kids [%d 0 R] /Count 1 >>\n", PAGE);
    if (i == PAGE) put_page(file, p);
    if (i == CONTENT) put_stream(file, "/Filter /FlateDecode ", content, room);
    snprintf(keys, sizeof keys,
             "/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB /BitsPerComponent 8 "
             "/Filter /FlateDecode ",
             (int)p->image_width, (int)p->image_height);
    if (i == IMAGE && p->image != NULL) put_stream(file, keys, p->image, p->image_size);
    if (i == IMAGE && p->image == NULL) fputs("null\n", file);
    fputs("endobj\n", file);
  }
  free(content);
  long table = ftell(file);
  fprintf(file, "xref\n0 %d\n0000000000 65535 f \n", OBJECTS);
  for (int i = CATALOG; i < OBJECTS; i++) fprintf(file, "%010ld 00000 n \n", at[i]);
  fprintf(file, "trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%ld\n%%%%EOF\n", OBJECTS, CATALOG, table);
  return true;
}

bool ds_pdf_end(ds_pdf *p, FILE *file) {
  fclose(p->content);
  p->content = NULL;
  bool ok = p->text != NULL && put_file(p, file);
  pdf_free(p);
  return ok;
}
