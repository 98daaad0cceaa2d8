/* Pictures in memory, and PNG files by libpng.
 *
 * A regular target is written to a temporary file in the same folder and renamed when complete. A target that is
 * something else (a device, a pipe, a symbolic link) is written in place, since renaming would replace it. */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ds_status ds_image_create(ds_image *image, int32_t width, int32_t height, ds_error *error) {
  *image = (ds_image){0};
  if (width < 1 || height < 1 || width > DS_IMAGE_MAX_SIDE || height > DS_IMAGE_MAX_SIDE) {
    snprintf(error->message, sizeof error->message,
             "an image of %d x %d is not possible; each side must be 1 to %d pixels", width, height, DS_IMAGE_MAX_SIDE);
    return DS_ERROR_INPUT;
  }
  image->rgb = calloc((size_t)width * (size_t)height, 3);
  if (!image->rgb) {
    snprintf(error->message, sizeof error->message, "no memory for a picture of %d x %d", width, height);
    return DS_ERROR_MEMORY;
  }
  image->width = width;
  image->height = height;
  return DS_OK;
}

void ds_image_free(ds_image *image) {
  free(image->rgb);
  *image = (ds_image){0};
}

static uint8_t encode(float c) { return (uint8_t)(c <= 0 ? 0 : c >= 1 ? 255 : c * 255 + 0.5f); }

void ds_image_fill(ds_image *image, ds_color color) {
  size_t count = (size_t)image->width * (size_t)image->height;
  uint8_t r = encode(color.r), g = encode(color.g), b = encode(color.b);
  for (size_t i = 0; i < count; i++) {
    image->rgb[3 * i] = r;
    image->rgb[3 * i + 1] = g;
    image->rgb[3 * i + 2] = b;
  }
}

ds_status ds_image_parse_size(int32_t *width, int32_t *height, const char *text, ds_error *error) {
  long side[2] = {0, 0};
  const char *at = text;
  bool good = true;
  for (int i = 0; i < 2 && good; i++) {
    char *end = NULL;
    good = *at >= '0' && *at <= '9';
    if (!good) break;
    errno = 0;
    side[i] = strtol(at, &end, 10);
    good = errno == 0 && side[i] >= 1 && side[i] <= DS_IMAGE_MAX_SIDE && *end == (i == 0 ? 'x' : '\0');
    at = end + 1;
  }
  if (!good) {
    snprintf(error->message, sizeof error->message,
             "size \"%.60s\" is not usable; expected WIDTHxHEIGHT, such as 1280x720, each from 1 to %d", text,
             DS_IMAGE_MAX_SIDE);
    return DS_ERROR_INPUT;
  }
  *width = (int32_t)side[0];
  *height = (int32_t)side[1];
  return DS_OK;
}

/* ---- PNG ---- */

typedef struct png_trouble {
  jmp_buf jump;
  char text[160];
} png_trouble;

static void on_png_error(png_structp png, png_const_charp text) {
  png_trouble *trouble = png_get_error_ptr(png);
  snprintf(trouble->text, sizeof trouble->text, "%s", text);
  longjmp(trouble->jump, 1);
}

static void on_png_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

/* The whole encoding; false with the reason in trouble->text. Nothing here changes between setjmp and longjmp but what
 * libpng owns. */
static bool encode_png(FILE *file, const ds_image *image, png_structp png, png_infop info, png_trouble *trouble) {
  if (setjmp(trouble->jump)) return false;
  png_init_io(png, file);
  png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8, PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_write_info(png, info);
  for (int32_t y = 0; y < image->height; y++) png_write_row(png, ds_image_pixel(image, 0, y));
  png_write_end(png, NULL);
  return true;
}

static bool write_stream(FILE *file, const ds_image *image, char *reason, size_t size) {
  png_trouble trouble = {.text = "out of memory"};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &trouble, on_png_error, on_png_warning);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  errno = 0;
  bool good = info && encode_png(file, image, png, info, &trouble);
  if (!good) snprintf(reason, size, "%s%s%s", trouble.text, errno ? ": " : "", errno ? strerror(errno) : "");
  if (png) png_destroy_write_struct(&png, info ? &info : NULL);
  if (good && (fflush(file) != 0 || ferror(file))) {
    snprintf(reason, size, "%s", strerror(errno));
    good = false;
  }
  return good;
}

uint8_t *ds_image_png(const ds_image *image, size_t *size) {
  char *bytes = NULL, reason[200];
  FILE *file = open_memstream(&bytes, size);
  if (!file) return NULL;
  bool good = write_stream(file, image, reason, sizeof reason);
  good = fclose(file) == 0 && good;
  if (!good) free(bytes);
  return good ? (uint8_t *)bytes : NULL;
}

/* A file that anyone may read who could read one made by fopen. */
static int open_temporary(char *path) {
  int descriptor = mkstemp(path);
  if (descriptor < 0) return -1;
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor, 0666 & ~mask) != 0) {
    int saved = errno;
    close(descriptor);
    unlink(path);
    errno = saved;
    return -1;
  }
  return descriptor;
}

ds_status ds_image_write_png(const ds_image *image, const char *path, ds_error *error) {
  struct stat now;
  bool in_place = lstat(path, &now) == 0 && !S_ISREG(now.st_mode);
  size_t length = strlen(path);
  char *temporary = malloc(length + 12);
  if (!temporary) {
    snprintf(error->message, sizeof error->message, "no memory to write %.200s", path);
    return DS_ERROR_MEMORY;
  }
  memcpy(temporary, path, length);
  memcpy(temporary + length, ".tmpXXXXXX", 11);
  char reason[200] = "";
  int descriptor = in_place ? open(path, O_WRONLY | O_TRUNC) : open_temporary(temporary);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
  if (!file) {
    snprintf(reason, sizeof reason, "%s", strerror(errno));
    if (descriptor >= 0) close(descriptor);
  }
  bool good = file && write_stream(file, image, reason, sizeof reason);
  if (file && fclose(file) != 0 && good) {
    snprintf(reason, sizeof reason, "%s", strerror(errno));
    good = false;
  }
  if (good && !in_place && rename(temporary, path) != 0) {
    snprintf(reason, sizeof reason, "%s", strerror(errno));
    good = false;
  }
  if (!good && !in_place && descriptor >= 0) unlink(temporary);
  free(temporary);
  if (!good) snprintf(error->message, sizeof error->message, "cannot write %.250s: %s", path, reason);
  return good ? DS_OK : DS_ERROR_INPUT;
}
