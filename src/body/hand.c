/* Where a hand holds its body. */
#include "body/hand.h"

#include "body/scene.h"

ds_vec3 ds_hand_grip(const ds_hand_state *hand, const ds_state *state) {
  const ds_body *body = &state->scene->bodies[ds_index(hand->def.body)];
  if (hand->triangle < 0) return hand->def.grip;
  const double weight[3] = {1 - hand->s - hand->t, hand->s, hand->t};
  ds_vec3 sum = v3(0, 0, 0);
  for (int k = 0; k < 3; k++) {
    int32_t vertex = body->skin->mesh->triangles[3 * hand->triangle + k];
    sum = v3_mad(sum, weight[k], ds_skin_vertex(body->skin, state->reduced + body->first_reduced, vertex));
  }
  return sum;
}
