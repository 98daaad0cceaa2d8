/* Recordings as tables: of steps (report), of bodies, of contacts or of joints, with one row per frame and item.
 * Numbers have all digits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bodies.h"
#include "export.h"
#include "frame_energy.h"
#include "output.h"

static void put(FILE *file, double value) { fprintf(file, ",%.17g", value); }
static void put_vector(FILE *file, ds_vec3 v) { fprintf(file, ",%.17g,%.17g,%.17g", v.x, v.y, v.z); }

/* A name in quotes where it has what would end a field. */
static void put_name(FILE *file, const export_set *set, int32_t body) {
  char name[80];
  export_name(name, sizeof name, set, body, false);
  if (strpbrk(name, ",\"\n\r") == NULL) {
    fprintf(file, ",%s", name);
    return;
  }
  fputs(",\"", file);
  for (const char *c = name; *c != '\0'; c++) fprintf(file, *c == '"' ? "\"\"" : "%c", *c);
  fputc('"', file);
}

static const char report_head[] =
    "time,step,contacts,active_contacts,islands,unconverged_islands,converged,natural_error,residual,rel_err,"
    "approach_velocity,cone_violation,dissipation_error,staggered_iterations,projection_iterations,factorizations,"
    "penetration,kinetic,potential,elastic,energy,seconds";

static void put_report(FILE *file, const ds_frame *frame, ds_energy e) {
  const ds_step_report *r = &frame->report;
  const ds_certificate *c = &r->worst;
  double seconds = 0;
  for (int i = 0; i < DS_STAGE_COUNT; i++) seconds += r->seconds[i];
  fprintf(file, "%.17g,%lld,%d,%d,%d,%d,%d", frame->time, (long long)r->step, (int)r->contacts, (int)r->active_contacts,
          (int)r->islands, (int)r->unconverged_islands, c->converged);
  const double errors[] = {c->natural_error,     c->residual,       c->rel_err,
                           c->approach_velocity, c->cone_violation, c->dissipation_error};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) put(file, errors[i]);
  fprintf(file, ",%d,%d,%d", (int)c->staggered_iterations, (int)c->projection_iterations, (int)c->factorizations);
  const double rest[] = {r->penetration, e.kinetic, e.potential, e.elastic, e.kinetic + e.potential + e.elastic,
                         seconds};
  for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) put(file, rest[i]);
  fputc('\n', file);
}

static const char bodies_head[] = "time,body,name,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz";

static void put_bodies(FILE *file, const export_set *set, const ds_frame *frame) {
  for (int32_t i = 0; i < set->body_count; i++) {
    const ds_pose *pose = &frame->poses[i];
    fprintf(file, "%.17g,%d", frame->time, (int)i);
    put_name(file, set, i);
    put_vector(file, pose->p);
    fprintf(file, ",%.17g,%.17g,%.17g,%.17g", pose->q.w, pose->q.x, pose->q.y, pose->q.z);
    put_vector(file, frame->velocities[i]);
    put_vector(file, frame->angular_velocities[i]);
    fputc('\n', file);
  }
}

static const char contacts_head[] =
    "time,a,b,a_name,b_name,mode,x,y,z,nx,ny,nz,gap,mu,impulse_x,impulse_y,impulse_z,normal_impulse,friction_impulse,"
    "ux,uy,uz";

static void put_contacts(FILE *file, const export_set *set, const ds_frame *frame) {
  static const char *const modes[] = {"open", "stick", "slide"};
  for (int32_t i = 0; i < frame->contact_count; i++) {
    const ds_contact *c = &frame->contacts[i];
    double normal = v3_dot(c->impulse, c->normal);
    fprintf(file, "%.17g,%d,%d", frame->time, (int)body_index(c->a), (int)body_index(c->b));
    put_name(file, set, body_index(c->a));
    put_name(file, set, body_index(c->b));
    fprintf(file, ",%s", modes[c->mode]);
    put_vector(file, c->point);
    put_vector(file, c->normal);
    put(file, c->gap);
    put(file, c->mu);
    put_vector(file, c->impulse);
    put(file, normal);
    put(file, v3_norm(v3_sub(c->impulse, v3_scale(normal, c->normal))));
    put_vector(file, c->velocity);
    fputc('\n', file);
  }
}

static const char joints_head[] = "time,joint,kind,position,gap,x,y,z";

static void put_joints(FILE *file, const export_set *set, const ds_frame *frame) {
  for (int32_t i = 0; i < ds_scene_joint_count(set->scene); i++) {
    ds_joint_id id = ds_scene_joint(set->scene, i);
    ds_joint_def def = ds_joint_get_def(set->scene, id);
    ds_joint_place at = ds_joint_at(set->scene, id, frame->poses[body_index(def.a)], frame->poses[body_index(def.b)]);
    fprintf(file, "%.17g,%d,%s", frame->time, (int)i, ds_joint_kind_name(def.kind));
    put(file, at.position);
    put(file, at.gap);
    put_vector(file, at.on_a);
    fputc('\n', file);
  }
}

bool export_csv(const export_set *set, const char *path, const char *what, ds_error *error) {
  static const char *const heads[] = {report_head, bodies_head, contacts_head, joints_head};
  static const char *const names[] = {"report", "bodies", "contacts", "joints"};
  int table = 0;
  while (table < 3 && strcmp(names[table], what) != 0) table++;
  ds_state *state = ds_state_create(set->scene);
  double step = ds_recording_settings(set->recording)->options.step;
  output out;
  bool ok = state != NULL || export_no_memory(error);
  if (ok) ok = output_open(&out, path, error);
  if (ok) fprintf(out.file, "%s\n", heads[table]);
  for (int32_t i = 0; ok && i < set->frame_count; i++) {
    ds_frame frame;
    ok = (table == 2 ? ds_recording_read : ds_recording_read_bodies)(set->recording, &frame, set->frames[i], error) ==
         DS_OK;
    if (!ok) {
      output_discard(&out);
      break;
    }
    if (table == 0)
      put_report(out.file, &frame, frame_energy(state, set->scene, &frame, frame.report.step > 0 ? step : 0));
    else if (table == 1)
      put_bodies(out.file, set, &frame);
    else if (table == 2)
      put_contacts(out.file, set, &frame);
    else
      put_joints(out.file, set, &frame);
  }
  if (ok) ok = output_commit(&out, error);
  ds_state_destroy(state);
  return ok;
}
