/* The same marks as PDF 1.4: one page, paths, transparency, and one image below them. */
#ifndef DS_CLI_PDF_H
#define DS_CLI_PDF_H

#include "svg.h"

typedef struct ds_pdf ds_pdf;

ds_pdf *ds_pdf_begin(int32_t width, int32_t height, ds_color back); /* NULL if memory ran out */
/* A picture that fills the page. False if memory ran out. */
bool ds_pdf_image(ds_pdf *pdf, const ds_image *image);
void ds_pdf_paint(ds_pdf *pdf, const ds_svg *svg, ds_color color, double alpha);
void ds_pdf_clip(ds_pdf *pdf, double x0, double y0, double x1, double y1);
void ds_pdf_unclip(ds_pdf *pdf);
bool ds_pdf_end(ds_pdf *pdf, FILE *file); /* writes the file, frees; false if memory ran out */

#endif
