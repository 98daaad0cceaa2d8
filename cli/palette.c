/* Colours of bodies that have none of their own: grey for what is fixed, eight calm ones for what moves. */
#include "palette.h"

#include "base/vec3.h"

static const ds_vec3 palette[] = {{0.83, 0.46, 0.34}, {0.92, 0.72, 0.40}, {0.35, 0.56, 0.66}, {0.56, 0.68, 0.52},
                                  {0.93, 0.88, 0.78}, {0.79, 0.56, 0.58}, {0.43, 0.52, 0.62}, {0.90, 0.63, 0.40}};
enum { PALETTE_COUNT = sizeof palette / sizeof palette[0] };

ds_vec3 ds_palette_color(const ds_scene *scene, int32_t body) {
  ds_body_id id = ds_scene_body(scene, body);
  ds_vec3 color = ds_body_color(scene, id);
  if (color.x >= 0 && color.y >= 0 && color.z >= 0) return color;
  switch (ds_body_get_kind(scene, id)) {
    case DS_BODY_STATIC:
      return v3(0.66, 0.66, 0.65);
    case DS_BODY_KINEMATIC:
      return v3(0.45, 0.48, 0.52);
    case DS_BODY_DYNAMIC:
      break;
  }
  return palette[5 * body % PALETTE_COUNT]; /* neighbours differ */
}
