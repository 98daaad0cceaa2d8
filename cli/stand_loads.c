/* Load cases of drystone stand: their text, and what they give. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec3.h"
#include "stand.h"

static bool bad_load(const char *text) {
  fprintf(stderr,
          "drystone stand: --load %s: expected tilt:DIR, push:DIR, point:BLOCK,FX,FY,FZ or settle:SUPPORT,X,Y,Z, where "
          "DIR is x, y, -x, -y or an azimuth in degrees\n",
          text);
  return false;
}

static bool parse_direction(ds_vec3 *direction, const char *text) {
  static const char *const names[] = {"x", "y", "-x", "-y"};
  static const ds_vec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}};
  double degrees;
  for (int32_t i = 0; i < 4; i++)
    if (strcmp(text, names[i]) == 0) return *direction = axes[i], true;
  if (!args_real(&degrees, text)) return false;
  *direction = v3(cos(degrees * DS_PI / 180), sin(degrees * DS_PI / 180), 0);
  return true;
}

/* "BLOCK,FX,FY,FZ": a block by name. Says what is wrong. */
static bool parse_point(int32_t *block, ds_vec3 *force, const char *load, const char *text, const ds_assembly *a) {
  char name[64], rest;
  const char *comma = strchr(text, ',');
  if (!comma || (size_t)(comma - text) >= sizeof name ||
      sscanf(comma + 1, "%lf,%lf,%lf%c", &force->x, &force->y, &force->z, &rest) != 3 || !v3_finite(*force) ||
      !(v3_norm(*force) > 0))
    return bad_load(load);
  memcpy(name, text, (size_t)(comma - text));
  name[comma - text] = 0;
  for (*block = 0; *block < a->block_count && strcmp(a->blocks[*block].name, name) != 0;) ++*block;
  if (*block == a->block_count) fprintf(stderr, "drystone stand: --load %s: there is no block named %s\n", load, name);
  return *block < a->block_count;
}

bool stand_solve_load(stand_load *load, const ds_assembly *a, ds_error *error) {
  ds_vec3 direction, force;
  int32_t block;
  load->tilt = strncmp(load->text, "tilt:", 5) == 0;
  if (load->tilt || strncmp(load->text, "push:", 5) == 0) {
    if (!parse_direction(&direction, load->text + 5)) return bad_load(load->text);
    return ds_stand_push(&load->result, a, direction, error) == DS_OK;
  }
  load->settle = strncmp(load->text, "settle:", 7) == 0;
  if (load->settle) {
    if (!parse_point(&block, &force, load->text, load->text + 7, a)) return false;
    return ds_stand_settle(&load->settlement, a, block, force, error) == DS_OK;
  }
  if (strncmp(load->text, "point:", 6) != 0) return bad_load(load->text);
  if (!parse_point(&block, &force, load->text, load->text + 6, a)) return false;
  ds_vec3 *forces = calloc((size_t)a->block_count + 1, sizeof *forces);
  if (!forces) return snprintf(error->message, sizeof error->message, "memory ran out"), false;
  forces[block] = force;
  ds_status status = ds_stand_multiplier(&load->result, a, forces, NULL, error);
  free(forces);
  return status == DS_OK;
}
