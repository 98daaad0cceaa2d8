/* FRAME: poses and velocities, and the report of the step that led there. */
#ifndef DS_CLI_VIEW_FRAME_H
#define DS_CLI_VIEW_FRAME_H

#include "bytes.h"
#include "drystone/drystone.h"

/* Which contacts a frame contains. */
typedef enum view_contacts {
  VIEW_CONTACTS_NONE,
  VIEW_CONTACTS_ALL,
  VIEW_CONTACTS_CARRYING,
  VIEW_CONTACTS_USUAL, /* all, or, of more than VIEW_CONTACTS_MANY, at most that many that carry load */
  VIEW_CONTACTS_END,
} view_contacts;
enum { VIEW_CONTACTS_MANY = 4000 };

/* A hand that holds a body. */
typedef struct view_hand {
  bool holds;
  int32_t body; /* index */
  ds_vec3 grip, target, force, torque;
  double stiffness;
} view_hand;

/* What a frame is made of, live or recorded. */
typedef struct view_snapshot {
  const ds_scene *scene;
  const ds_pose *poses; /* of the bodies' user frames */
  const ds_vec3 *velocities, *angular_velocities;
  const double *reduced; /* coordinates of all deformable bodies; NULL = there are none */
  const ds_contact *contacts;
  int32_t contact_count;
  const ds_step_report *report;
  bool missed; /* a step since the last frame was not certified */
  ds_energy energy;
  view_hand hand;
} view_snapshot;

/* NULL if memory ran out. */
view_message *view_frame_message(const view_snapshot *snapshot, view_contacts contacts);

/* Room to take a state apart: poses and velocities of its bodies. */
typedef struct view_poses {
  ds_pose *poses;
  ds_vec3 *velocities, *angular_velocities;
} view_poses;
bool view_poses_create(view_poses *poses, int32_t body_count);
void view_poses_free(view_poses *poses);
void view_poses_read(view_poses *poses, const ds_scene *scene, const ds_state *state);

#endif
