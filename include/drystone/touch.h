/* Touch: hands that hold bodies through a spring and a damper, the devices behind them, and the loop that runs both a
 * thousand times a second.
 *
 * A hand is a virtual coupling [Colgate, Stanley, Brown 1995]: not the body but a target follows the user, and a spring
 * and a damper lead the body to it. Both are implicit in the step, together with contact, so that no stiffness, mass or
 * step makes it unstable. The force at the end of the step is what a device lets its user feel. docs/touch.md. */
#ifndef DRYSTONE_TOUCH_H
#define DRYSTONE_TOUCH_H

#include <stddef.h>

#include "drystone/drystone.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Hands ---- */

enum { DS_HANDS_MAX = 16 }; /* of one state */

typedef struct ds_hand_id {
  int32_t index1; /* 0 = none */
} ds_hand_id;

typedef struct ds_hand_def {
  ds_body_id body;       /* dynamic */
  ds_vec3 grip;          /* where it is held, in the body's frame; of a deformable body the material point that is
                            there now, on the surface or next to it */
  bool whole;            /* of a deformable body: its frame is held at `grip`, as if it were rigid; default false */
  bool turn;             /* its rotation follows that of the target too; default false */
  ds_pose target;        /* where the hand is; default: at the origin */
  double stiffness;      /* N/m; 0 = chosen from mass and step (default) */
  double damping;        /* N s/m; 0 = critical for the body's mass */
  double turn_stiffness; /* N m/rad; 0 = chosen */
  double turn_damping;   /* N m s/rad; 0 = critical */
  double max_force;      /* N: limit of the spring force; 0 = 50 times the weight on Earth, infinity = no limit */
  double max_torque;     /* N m; 0 = as above at the body's radius */
  double carry;          /* 0 to 1: the share of the body's weight that the hand bears besides, and does not feel;
                            default 0 */
} ds_hand_def;

/* What a hand holds, and feels. */
typedef struct ds_hand {
  ds_body_id body;
  ds_vec3 grip; /* world, as it is now */
  ds_pose target;
  ds_vec3 force, torque; /* on the body at the end of the last step, N and N m; a device gives the opposite */
  double stiffness;      /* of the last step, N/m */
} ds_hand;

ds_hand_def ds_default_hand(void);
/* A tool: held whole, at the grip, with its rotation, carried, and as hard as it takes. */
ds_hand_def ds_default_tool(void);
/* Takes hold. Zero id where the definition cannot be used or all hands are taken; the error says why. Hands are part of
 * the state: copied with it, and in its hash. */
ds_hand_id ds_state_grab(ds_state *state, const ds_hand_def *def, ds_error *error);
/* Where the hand will be at the end of the next step. Its velocity is that of the target, which the damper looks at;
 * zeros where it is not known. */
void ds_state_move_hand(ds_state *state, ds_hand_id hand, ds_pose target);
void ds_state_move_hand_at(ds_state *state, ds_hand_id hand, ds_pose target, ds_vec3 velocity,
                           ds_vec3 angular_velocity);
void ds_state_release(ds_state *state, ds_hand_id hand);
/* Hands that hold something: the id of the first after `hand`; {0} begins and ends. */
ds_hand_id ds_state_next_hand(const ds_state *state, ds_hand_id hand);
ds_hand ds_state_hand(const ds_state *state, ds_hand_id hand);

/* ---- Devices ---- */

/* Where a device is: metres and a unit quaternion in its own frame. A reading that is not finite, whose quaternion is
 * not of length 1, or that puts the tool more than 1,000 km from the world's origin counts as none. Targets follow a
 * device at no more than 100 m/s and 1,000 rad/s of its own motion. */
typedef struct ds_device_motion {
  ds_pose pose;
  ds_vec3 velocity, angular_velocity; /* where has_velocity */
  bool has_velocity;                  /* else it is estimated from one reading to the next */
} ds_device_motion;

/* What a device has to do. The calls come from one thread, a tick each, and must not wait. `time` is that of the tick
 * in s, counted from the first. */
typedef struct ds_device {
  void *user;
  bool (*read)(void *user, double time, ds_device_motion *motion); /* false: nothing has been heard of it lately */
  void (*write)(void *user, double time, ds_vec3 force, ds_vec3 torque); /* what the user shall feel, N and N m */
  void (*close)(void *user);                                             /* may be NULL */
} ds_device;

/* The latest target that any thread has set, and the latest force. */
ds_status ds_device_pointer(ds_device *device, ds_error *error);
void ds_pointer_set(const ds_device *pointer, ds_pose pose);
void ds_pointer_feel(const ds_device *pointer, ds_vec3 *force, ds_vec3 *torque);

/* A recorded motion: lines "t x y z" or "t x y z qw qx qy qz", ascending t in s, '#' begins a comment. Straight between
 * the lines, held after the last. Forces are not looked at. */
ds_status ds_device_trace(ds_device *device, const char *path, ds_error *error);
ds_status ds_device_trace_text(ds_device *device, const char *text, size_t length, const char *name, ds_error *error);

/* A simulated hand: a mass on a spring and a damper whose other end is led along a path, pushed besides, and feeling
 * what is written. Deterministic. */
typedef struct ds_operator_key {
  double time;
  ds_vec3 place; /* of the spring's other end, m */
  ds_vec3 push;  /* N */
} ds_operator_key;
typedef struct ds_operator_def {
  double mass;                 /* kg, default 0.3 */
  double stiffness;            /* N/m, default 200 */
  double damping;              /* N s/m, default 8 */
  const ds_operator_key *keys; /* straight between them, held before the first and after the last; copied */
  int32_t key_count;           /* at least 1 */
} ds_operator_def;
ds_operator_def ds_default_operator(void);
ds_status ds_device_operator(ds_device *device, const ds_operator_def *def, ds_error *error);

/* ---- The loop ---- */

typedef struct ds_touch_loop ds_touch_loop;

/* Seen by an observer after each tick, in the thread of the loop. */
typedef struct ds_touch_tick_report {
  const ds_state *state;
  const ds_step_report *step;
  double seconds, cpu_seconds; /* of the tick: wall time and the thread's own processor time */
  bool late;                   /* not done when the next was due */
} ds_touch_tick_report;
typedef void ds_touch_observer(void *user, const ds_touch_tick_report *tick);

typedef struct ds_touch_def {
  const ds_scene *scene;
  ds_state *state;    /* the loop's alone until it is destroyed */
  ds_options options; /* step: simulated time a tick, default 1 ms; deadline: default 0.85 ms */
  ds_hand_def hand;   /* of the tool, default ds_default_tool(); its target is set by the loop */
  ds_device device;   /* becomes the loop's: closed with it, also where it cannot be created */
  bool absolute;      /* device coordinates are the world's; default false: they start where the tool is */
  ds_pose origin;     /* of the device's frame in the world; only its rotation counts unless absolute */
  double scale;       /* metres in the world for one of the device, default 1 */
  double force_scale; /* N at the device for one in the world, default 1 */
  double max_force;   /* N: limit of the force sent to the device, default 10 */
  double max_torque;  /* N m, default 1 */
  double period;      /* s from tick to tick, default 1 ms */
  bool realtime;      /* ask the system for real-time priority; default false */
  double spin;        /* s: busy-wait so long before each tick; fewer late ticks, more processor time; default 0 */
  ds_touch_observer *observer; /* or NULL */
  void *observer_user;
} ds_touch_def;

/* So far. */
typedef struct ds_touch_report {
  int64_t ticks, late, skipped; /* skipped: never begun, because the one before was late */
  int64_t unconverged;          /* ticks whose step was cut short */
  int64_t silent;               /* ticks without a device */
  double time;                  /* simulated, s */
  double seconds, cpu_seconds;  /* of all ticks */
  double worst;                 /* longest tick, s */
  ds_hand hand;                 /* of the last tick */
  ds_status status;             /* other than DS_OK: the loop has ended */
} ds_touch_report;

ds_touch_def ds_default_touch(void);
ds_touch_loop *ds_touch_create(const ds_touch_def *def, ds_error *error); /* NULL with a message */
/* One tick now, without a clock: reads, steps, writes. Not while the thread runs. */
ds_status ds_touch_tick(ds_touch_loop *loop);
void ds_touch_last_step(const ds_touch_loop *loop, ds_step_report *report); /* of that tick */
/* A thread that ticks every period. A late tick is followed by the next that is due: none is made up for. */
ds_status ds_touch_start(ds_touch_loop *loop, ds_error *error);
void ds_touch_stop(ds_touch_loop *loop); /* waits for the tick under way */
/* From any thread. */
ds_touch_report ds_touch_get_report(ds_touch_loop *loop);
/* A state of the same scene becomes what the loop's was after the tick that followed the last look; and the report of
 * its step, where that is wanted. */
ds_status ds_touch_look(ds_touch_loop *loop, ds_state *into, ds_step_report *step);
void ds_touch_destroy(ds_touch_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
