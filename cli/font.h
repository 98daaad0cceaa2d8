/* Text in the program's own stroke font: printable ASCII; any other character is drawn as "?". */
#ifndef DS_CLI_FONT_H
#define DS_CLI_FONT_H

#include "canvas.h"

typedef enum ds_anchor { DS_ANCHOR_LEFT, DS_ANCHOR_CENTER, DS_ANCHOR_RIGHT } ds_anchor;

/* Size is that of the em, in pixels: capitals are 0.7 as high, the descent is 0.2. */
double ds_text_width(const char *text, double size);
/* (x, y) is on the baseline at the anchor; weight 1 is regular, 1.5 bold. */
void ds_text_draw(ds_canvas *canvas, double x, double y, ds_anchor anchor, const char *text, double size, double weight,
                  ds_color color);

#endif
