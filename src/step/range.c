/* Deformable bodies outside the range of their model, after a step.
 *
 * A tetrahedron with a volume of zero or less is no state of a material. Linear modes leave the strain GᵀG/2 out, G the
 * displacement gradient: where a part has turned by the angle a it grows by a²/2. The limit is 4 degrees, or a strain
 * of 7 %: a strip that sags between plates with 0.1 mm of play for its 20 mm jams at 0.0038 (test_deformable_rebound).
 */
#include "body/compression.h"
#include "body/scene.h"
#include "step/step.h"

static const double LINEAR_RANGE = 0.0025;

void ds_step_range(ds_step_report *report, const ds_state *state) {
  const ds_scene *scene = state->scene;
  report->outside_bodies = report->inverted_tets = 0;
  report->outside_body = (ds_body_id){0};
  report->linear_strain = 0;
  for (int32_t i = 0; i < scene->body_count && scene->reduced_count > 0; i++) {
    const ds_body *body = &scene->bodies[i];
    if (!body->reduced) continue;
    bool linear = !body->reduced->quadratic;
    ds_extent e = ds_reduced_extent(body->reduced, state->reduced + body->first_reduced,
                                    linear ? LINEAR_RANGE : (double)INFINITY);
    bool outside = e.inverted > 0 || (linear && e.nonlinear > LINEAR_RANGE);
    report->inverted_tets += e.inverted;
    if (linear && e.nonlinear > LINEAR_RANGE) report->linear_strain = fmax(report->linear_strain, e.nonlinear);
    if (outside && report->outside_bodies++ == 0) report->outside_body = ds_id(i);
  }
}
