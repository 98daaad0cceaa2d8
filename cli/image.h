/* An image in memory, 8 bits per channel, and its output as PNG. */
#ifndef DS_CLI_IMAGE_H
#define DS_CLI_IMAGE_H

#include <stddef.h>

#include "drystone/types.h"

#define DS_IMAGE_MAX_SIDE 16384

/* A colour as it is shown: sRGB-encoded, 0..1. */
typedef struct ds_color {
  float r, g, b;
} ds_color;

typedef struct ds_image {
  int32_t width, height;
  uint8_t *rgb; /* row by row from the top, 3 bytes per pixel */
} ds_image;

/* Black at first. Sides from 1 to DS_IMAGE_MAX_SIDE. */
ds_status ds_image_create(ds_image *image, int32_t width, int32_t height, ds_error *error);
void ds_image_free(ds_image *image);
void ds_image_fill(ds_image *image, ds_color color);
/* Reads "1280x720"; the message names the limits. */
ds_status ds_image_parse_size(int32_t *width, int32_t *height, const char *text, ds_error *error);
/* The same as bytes; to be freed. NULL if memory ran out. */
uint8_t *ds_image_png(const ds_image *image, size_t *size);
/* Writes beside the target and renames, so that an incomplete file never has that name. */
ds_status ds_image_write_png(const ds_image *image, const char *path, ds_error *error);

static inline uint8_t *ds_image_pixel(const ds_image *image, int32_t x, int32_t y) {
  return image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
}

#endif
