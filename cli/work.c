/* Work per step: see work.h. Counts up to WORK_EXACT are exact; larger ones share bins that grow by 1 %, each with the
 * sum of its counts. */
#include "work.h"

#include <math.h>
#include <string.h>

#include "base/vec3.h"
#include "bodies.h"

static const double rest_speed =
    1e-3;                           /* m/s of the fastest point of any body: slower is at rest. What stands has 1e-9 */
static const double rest_delay = 1; /* s at rest before steps count as such: warm starts have settled by then */
static const double worst_share = 0.01;
static const double bin_ratio = 1.01;

void work_begin(work_tally *work, double time) {
  memset(work, 0, sizeof *work);
  work->max_time = NAN;
  work->rest_time = time;
}

static int bin_of(int64_t count) {
  if (count < WORK_EXACT) return (int)count;
  double bin = WORK_EXACT + log((double)count / WORK_EXACT) / log(bin_ratio);
  return bin < WORK_BINS - 1 ? (int)bin : WORK_BINS - 1;
}

/* Speed of the fastest point of any dynamic body, at most: |v| + |omega| radius. */
static double fastest(const ds_scene *scene, const ds_state *state) {
  double most = 0;
  for (int32_t i = 0; i < ds_scene_body_count(scene); i++) {
    if (!body_is_dynamic(scene, i)) continue;
    ds_body_id id = body_at(i);
    double speed = v3_norm(ds_state_velocity(state, id));
    speed += v3_norm(ds_state_angular_velocity(state, id)) * ds_body_radius(scene, id);
    if (!(speed <= most)) most = speed;
  }
  return most;
}

void work_add(work_tally *work, const ds_scene *scene, const ds_state *state, const ds_step_report *step) {
  int64_t count = step->worst.factorizations;
  int bin = bin_of(count);
  work->total++;
  work->steps[bin]++;
  work->sums[bin] += count;
  if (count > work->max) {
    work->max = count;
    work->max_time = step->time;
  }
  if (!(fastest(scene, state) <= rest_speed)) {
    work->rest_time = step->time;
    work->rest_steps = work->rest_sum = 0;
  } else if (step->time > work->rest_time + rest_delay) {
    work->rest_steps++;
    work->rest_sum += count;
  }
}

double work_worst_mean(const work_tally *work) {
  int64_t left = (int64_t)ceil(worst_share * (double)work->total), wanted = left;
  double sum = 0;
  for (int i = WORK_BINS - 1; i >= 0 && left > 0; i--) {
    if (work->steps[i] == 0) continue;
    int64_t taken = work->steps[i] < left ? work->steps[i] : left;
    sum += (double)taken * (double)work->sums[i] / (double)work->steps[i];
    left -= taken;
  }
  return wanted > 0 ? sum / (double)wanted : NAN;
}

double work_rest_time(const work_tally *work, double end) {
  return work->total > 0 && work->rest_time < end ? work->rest_time : NAN;
}

double work_rest_mean(const work_tally *work) {
  return work->rest_steps > 0 ? (double)work->rest_sum / (double)work->rest_steps : NAN;
}
