/* Chairs on a plane that inclines: they stay up to slope = mu, then slide, and while they slide their legs chatter
 * [SP08 section 8.1, figure 5 right]. Chatter is a peak in the spectrum of a foot's velocity, its steady part taken
 * out; it is there at mu = 0.5, at steps of 10 ms as in the paper and of 2 ms, but not at mu = 0.1 with the same
 * acceleration, nor where the chair is rigid. */
#include "body/reduced.h"
#include "body/scene.h"
#include "scene_helper.h"

enum { SAMPLES = 1024 };

/* The chair, built once for all scenes. */
static ds_reduced *chair;

static void build_chair(void) {
  ds_error error = {""};
  ds_mesh surface = {0};
  ds_tets tets = {0};
  ds_stuffing_def stuffing = ds_default_stuffing();
  ds_reduced_def def = ds_default_reduced();
  def.young = 1e9;
  def.poisson = 0.35;
  def.modes = 30;
  def.damping_stiffness = 1e-4;
  bool ok = ds_mesh_figure(&surface, "chair", 1, &error) == DS_OK &&
            ds_tets_stuff(&tets, &surface, &stuffing, &error) == DS_OK;
  chair = ok ? ds_reduced_create(&tets, &def, &error) : NULL;
  if (!chair) printf("%s\n", error.message);
  CHECK(chair != NULL);
  ds_tets_free(&tets);
  ds_mesh_free(&surface);
}

static ds_reduced *give_chair(void *user, int32_t index, ds_error *error) {
  (void)user, (void)index, (void)error;
  return ds_reduced_retain(chair);
}

static bool start(sim *s, const char *spec) {
  ds_error error = {""};
  ds_run_settings run = {.options = ds_default_options()};
  ds_scene_read_options options = ds_default_scene_read();
  options.reduced = give_chair;
  char *text = ds_generate(spec, &error);
  ds_scene *scene = text ? ds_scene_read_text_with(text, strlen(text), spec, &options, &run, &error) : NULL;
  if (!scene) printf("%s: %s\n", spec, error.message);
  free(text);
  s->options = run.options;
  return sim_start(s, spec, scene, 1);
}

/* ---- the motion of a foot ---- */

/* The lowest vertex at the front, on the left. */
static int32_t find_foot(void) {
  int32_t best = 0;
  double low = INFINITY;
  for (int32_t i = 0; i < chair->surface.vertex_count; i++) {
    ds_vec3 x = pose_unpoint(chair->frame, chair->surface.vertices[i]);
    if (x.x > 0 && x.y > 0 && x.z < low) low = x.z, best = i;
  }
  return best;
}

/* Velocity along the slope: dx/dt = c' + w x (R y) + R U q'. */
static double foot_velocity(const sim *s, int32_t foot, double tilt) {
  ds_body_id id = sim_body(s, "chair1");
  int32_t r;
  const double *q = ds_state_reduced(s->state, id, &r), *rate = ds_state_reduced_rate(s->state, id, &r);
  ds_pose user = ds_state_pose(s->scene, s->state, id);
  ds_vec3 c = ds_state_center(s->state, id), local = {0, 0, 0};
  /* the user's frame is the mesh's: from there to the principal one and back */
  ds_vec3 y = ds_reduced_vertex(chair, q, foot), x = pose_point(user, pose_unpoint(chair->frame, y));
  for (int32_t a = 0; a < r; a++) {
    const double *u = chair->basis + 3 * (size_t)foot * (size_t)r + a;
    local = v3_mad(local, rate[a], v3(u[0], u[r], u[2 * r]));
  }
  ds_vec3 v = v3_add(ds_state_velocity(s->state, id), v3_cross(ds_state_angular_velocity(s->state, id), v3_sub(x, c)));
  v = v3_add(v, quat_rotate(user.q, quat_unrotate(chair->frame.q, local)));
  return v.x * cos(tilt) - v.z * sin(tilt);
}

/* ---- its spectrum ---- */

typedef struct spectrum {
  double frequency; /* of the peak, Hz */
  double amplitude; /* of a sine with the power of peak and neighbours, m/s */
  double share;     /* of that power in all above 5 Hz */
} spectrum;

/* Less its mean and its steady growth. */
static void take_trend(double *x, int32_t n) {
  double mean = 0, slope = 0, square = 0;
  for (int32_t i = 0; i < n; i++) {
    double t = i - 0.5 * (n - 1);
    mean += x[i] / n;
    slope += t * x[i];
    square += t * t;
  }
  for (int32_t i = 0; i < n; i++) x[i] -= mean + slope / square * (i - 0.5 * (n - 1));
}

/* A plain discrete Fourier transform through Hann's window; of a sine of amplitude A the powers add up to
 * 3 A² n²/32. */
static spectrum spectrum_of(double *x, int32_t n, double h) {
  double power[SAMPLES / 2 + 2] = {0}, all = 0;
  int32_t first = (int32_t)ceil(5 * n * h), best = first + 1;
  take_trend(x, n);
  for (int32_t k = first; k <= n / 2; k++) {
    double re = 0, im = 0;
    for (int32_t i = 0; i < n; i++) {
      double w = x[i] * (0.5 - 0.5 * cos(2 * DS_PI * (i + 0.5) / n)), turn = 2 * DS_PI * (double)k * i / n;
      re += w * cos(turn);
      im += w * sin(turn);
    }
    power[k] = re * re + im * im;
    all += power[k];
    if (k > first && power[k] > power[best]) best = k;
  }
  double peak = power[best - 1] + power[best] + power[best + 1];
  return (spectrum){best / (n * h), sqrt(32 * peak / 3) / n, all > 0 ? peak / all : 0};
}

/* Slides for as long as `samples` steps after the plane has come to rest and the chair got going. */
static spectrum slide(double mu, double over, const char *kind, double step, double wait, int32_t samples) {
  static double x[SAMPLES];
  char spec[96];
  spectrum out = {NAN, NAN, NAN};
  sim s = {0};
  snprintf(spec, sizeof spec, "chairs:count=1,seed=0,tilting=1,mu=%g,over=%g,kind=%s", mu, over, kind);
  if (start(&s, spec)) {
    s.options.step = step;
    sim_run(&s, 1.2 + wait);
    int32_t foot = find_foot();
    for (int32_t i = 0; i < samples && sim_step(&s); i++) x[i] = foot_velocity(&s, foot, atan(over * mu));
    double speed = v3_norm(ds_state_velocity(s.state, sim_body(&s, "chair1")));
    out = spectrum_of(x, samples, step);
    printf("  %s, h %g: peak at %.1f Hz, %.4f m/s, share %.3f; speed %.2f m/s at the end, error %.0e\n", spec, step,
           out.frequency, out.amplitude, out.share, speed, s.natural_error);
    CHECK_LE(0.1, speed);
  }
  sim_close(&s);
  return out;
}

/* Coulomb's law for the whole chair: below slope = mu it stays, but for what its legs give way. */
static void test_stays(void) {
  sim s = {0};
  if (start(&s, "chairs:count=1,seed=0,tilting=3,mu=0.5,over=0.95")) {
    sim_run(&s, 5);
    ds_body_id id = sim_body(&s, "chair1"), plane = sim_body(&s, "plane");
    ds_pose now = ds_state_pose(s.scene, s.state, plane), then = ds_state_pose(s.scene, s.start, plane);
    ds_vec3 to = pose_unpoint(now, ds_state_pose(s.scene, s.state, id).p);
    ds_vec3 from = pose_unpoint(then, ds_state_pose(s.scene, s.start, id).p);
    printf("  %s: moved by %.3g m\n", s.name, v3_dist(to, from));
    CHECK_LE(v3_dist(to, from), 0.005);
    CHECK_LE(v3_norm(ds_state_velocity(s.state, id)), 0.005);
  }
  sim_close(&s);
}

static void test_chatter(void) {
  int32_t samples = test_quick() ? 40 : 128;
  spectrum high = slide(0.5, 1.1, "soft", 0.01, 0.3, samples), low = slide(0.1, 1.45, "soft", 0.01, 0.3, samples);
  spectrum rigid = slide(0.5, 1.1, "rigid", 0.01, 0.3, samples);
  CHECK_LE(0.2, high.amplitude);
  CHECK_LE(0.15, high.share); /* ten slopes from 1.1 to 1.101 of the limit: 0.18 to 0.67; of noise 0.05 */
  CHECK_LE(25, high.frequency);
  CHECK_LE(high.frequency, 38);
  CHECK_LE(low.amplitude, 0.05 * high.amplitude);
  CHECK_LE(rigid.amplitude, 0.05 * high.amplitude);
}

/* Not of the step's making: the same with 2 ms. */
static void test_chatter_fine(void) {
  if (test_quick()) return;
  spectrum high = slide(0.5, 1.1, "soft", 0.002, 0.3, 400), low = slide(0.1, 1.45, "soft", 0.002, 0.3, 400);
  CHECK_LE(0.2, high.amplitude);
  CHECK_LE(0.3, high.share);
  CHECK_LE(25, high.frequency);
  CHECK_LE(high.frequency, 38);
  CHECK_LE(low.amplitude, 0.05 * high.amplitude);
}

int main(void) {
  build_chair();
  if (chair) RUN(test_stays);
  if (chair) RUN(test_chatter);
  if (chair) RUN(test_chatter_fine);
  ds_reduced_release(chair);
  return test_summary();
}
