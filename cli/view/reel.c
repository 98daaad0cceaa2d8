/* The output of a film: see reel.h.
 *
 * MP4 is H.264 of yuv420p, which every player supports: its sides are even. A GIF has one palette for the whole film,
 * which ffmpeg finds in a first pass over images kept in a folder beside it. */
#include "reel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"

enum { PATH_SIZE = 4096, ARGUMENTS = 40 };

typedef enum reel_kind { REEL_FOLDER, REEL_MP4, REEL_GIF } reel_kind;

struct reel {
  reel_kind kind;
  char output[PATH_SIZE];        /* the film, or the folder */
  char part[PATH_SIZE + 16];     /* the film as long as it is not whole */
  char pictures[PATH_SIZE + 16]; /* the folder of a GIF's pictures */
  char ffmpeg[PATH_SIZE], rate[32];
  pid_t process;
  int input; /* of ffmpeg, -1 = none */
  int32_t count;
};

static bool fail(ds_error *error, const char *path, const char *what, int why) {
  snprintf(error->message, sizeof error->message, "%.250s: %s: %s", path, what, strerror(why));
  return false;
}

/* ---- opening ---- */

static bool ends_in(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n > m && strcmp(text + n - m, end) == 0;
}

static bool choose_kind(reel *r, const char *output, int32_t width, int32_t height, ds_error *error) {
  struct stat status;
  bool folder = stat(output, &status) == 0 && S_ISDIR(status.st_mode);
  r->kind = ends_in(output, ".mp4") ? REEL_MP4 : ends_in(output, ".gif") ? REEL_GIF : REEL_FOLDER;
  if (folder) r->kind = REEL_FOLDER;
  snprintf(error->message, sizeof error->message,
           "%.250s: the output must be a file .mp4 or .gif, or a folder whose name ends in /", output);
  if (strlen(output) >= sizeof r->output || (r->kind == REEL_FOLDER && !folder && !ends_in(output, "/"))) return false;
  snprintf(error->message, sizeof error->message, "MP4 needs even sides; %dx%d is not, %dx%d is", (int)width,
           (int)height, (int)(width + width % 2), (int)(height + height % 2));
  return r->kind != REEL_MP4 || (width % 2 == 0 && height % 2 == 0);
}

static bool find_ffmpeg(reel *r, ds_error *error) {
  snprintf(error->message, sizeof error->message,
           "ffmpeg, which makes %s, was not found; install it (Debian: apt-get install ffmpeg), or write the images to "
           "a folder: -o DIR/",
           r->kind == REEL_MP4 ? "MP4" : "GIF");
  return r->kind == REEL_FOLDER || process_find(r->ffmpeg, sizeof r->ffmpeg, "ffmpeg");
}

static bool start_encoder(reel *r, ds_error *error) {
  const char *arguments[] = {r->ffmpeg, "-hide_banner", "-loglevel",  "error",  "-y",   "-f",    "image2pipe",
                             "-c:v",    "png",          "-framerate", r->rate,  "-i",   "-",     "-an",
                             "-c:v",    "libx264",      "-preset",    "medium", "-crf", "18",    "-pix_fmt",
                             "yuv420p", "-movflags",    "+faststart", "-f",     "mp4",  r->part, NULL};
  r->process = process_start(r->ffmpeg, arguments, &r->input, true);
  return r->process > 0 || fail(error, r->ffmpeg, "cannot be started", errno);
}

static bool make_folder(const char *path, ds_error *error) {
  return mkdir(path, 0777) == 0 || errno == EEXIST || fail(error, path, "cannot create this folder", errno);
}

/* Whether the film can be written there; checked before the work starts. */
static bool try_part(const reel *r, ds_error *error) {
  int file = open(r->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return fail(error, r->output, "cannot be written", errno);
  close(file);
  return true;
}

reel *reel_open(const char *output, int32_t width, int32_t height, double rate, ds_error *error) {
  reel *r = calloc(1, sizeof *r);
  snprintf(error->message, sizeof error->message, "out of memory");
  if (r == NULL) return NULL;
  r->input = -1;
  bool good = choose_kind(r, output, width, height, error) && find_ffmpeg(r, error);
  if (good) {
    snprintf(r->output, sizeof r->output, "%s", output);
    snprintf(r->rate, sizeof r->rate, "%.6g", rate);
    size_t length = strlen(r->output);
    while (r->kind == REEL_FOLDER && length > 1 && r->output[length - 1] == '/') r->output[--length] = '\0';
    if (r->kind == REEL_FOLDER) {
      good = make_folder(r->output, error);
    } else {
      snprintf(r->part, sizeof r->part, "%s.part", r->output);
      good = try_part(r, error);
    }
  }
  if (good && r->kind == REEL_GIF) {
    snprintf(r->pictures, sizeof r->pictures, "%s.pictures", r->output);
    good = make_folder(r->pictures, error);
  }
  if (good && r->kind == REEL_MP4) good = start_encoder(r, error);
  if (good) return r;
  reel_close(r);
  return NULL;
}

/* ---- pictures ---- */

static bool write_all(int file, const void *bytes, size_t size) {
  const char *at = bytes;
  while (size > 0) {
    ssize_t written = write(file, at, size);
    if (written < 0 && errno == EINTR && interrupt_caught() == 0) continue;
    if (written <= 0) return false;
    at += written;
    size -= (size_t)written;
  }
  return true;
}

static bool write_picture(const reel *r, const char *folder, const void *png, size_t size, ds_error *error) {
  char path[PATH_SIZE + 64], part[PATH_SIZE + 72];
  snprintf(path, sizeof path, "%s/frame-%06d.png", folder, (int)r->count);
  snprintf(part, sizeof part, "%s.part", path);
  int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return fail(error, path, "cannot be written", errno);
  bool good = write_all(file, png, size);
  int why = errno;
  if (close(file) != 0 && good) good = false, why = errno;
  if (good && rename(part, path) == 0) return true;
  unlink(part);
  return fail(error, path, "cannot be written", good ? errno : why);
}

bool reel_add(reel *r, const void *png, size_t size, ds_error *error) {
  bool good = true;
  if (r->kind == REEL_MP4) {
    snprintf(error->message, sizeof error->message, "ffmpeg ended before the film was complete");
    good = write_all(r->input, png, size);
  } else {
    good = write_picture(r, r->kind == REEL_GIF ? r->pictures : r->output, png, size, error);
  }
  r->count += good;
  return good;
}

/* ---- the end ---- */

/* ffmpeg with the images as its first input, and the rest of its arguments, which end in NULL. */
static bool run_ffmpeg(reel *r, const char *const *rest, ds_error *error) {
  char pattern[PATH_SIZE + 64];
  snprintf(pattern, sizeof pattern, "%s/frame-%%06d.png", r->pictures);
  const char *arguments[32] = {r->ffmpeg,    "-hide_banner", "-loglevel", "error", "-y",
                               "-framerate", r->rate,        "-i",        pattern};
  for (int count = 9; *rest != NULL && count < 31; rest++) arguments[count++] = *rest;
  pid_t process = process_start(r->ffmpeg, arguments, NULL, true);
  int status = process > 0 ? process_wait(process) : -1;
  snprintf(error->message, sizeof error->message, "ffmpeg failed with exit status %d", status);
  return status == 0;
}

/* First the palette, from all images, then the images with it. */
static bool make_gif(reel *r, ds_error *error) {
  char palette[PATH_SIZE + 64];
  snprintf(palette, sizeof palette, "%s/palette.png", r->pictures);
  const char *first[] = {"-vf", "palettegen=stats_mode=diff", "-frames:v", "1", palette, NULL};
  const char *second[] = {"-i",    palette, "-lavfi", "paletteuse=dither=sierra2_4a:diff_mode=rectangle",
                          "-loop", "0",     "-f",     "gif",
                          r->part, NULL};
  return run_ffmpeg(r, first, error) && run_ffmpeg(r, second, error);
}

static bool end_encoder(reel *r, ds_error *error) {
  close(r->input);
  r->input = -1;
  int status = process_wait(r->process);
  r->process = 0;
  snprintf(error->message, sizeof error->message, "ffmpeg failed with exit status %d", status);
  return status == 0;
}

bool reel_finish(reel *r, ds_error *error) {
  if (r->kind == REEL_FOLDER) return true;
  if (!(r->kind == REEL_MP4 ? end_encoder(r, error) : make_gif(r, error))) return false;
  if (rename(r->part, r->output) != 0) return fail(error, r->output, "cannot be written", errno);
  r->part[0] = '\0';
  return true;
}

void reel_close(reel *r) {
  if (r == NULL) return;
  if (r->input >= 0) close(r->input);
  process_kill(r->process);
  if (r->part[0] != '\0') unlink(r->part);
  if (r->pictures[0] != '\0') remove_folder(r->pictures);
  free(r);
}
