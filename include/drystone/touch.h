/* Touch: hands that hold bodies through a spring and a damper, devices that move the hands, and the loop that runs both
 * a thousand times per second.
 *
 * A hand is a virtual coupling [Colgate, Stanley, Brown 1995]: the user moves a target, and a spring and a
 * damper pull the body to it. Both are implicit in the step, together with contact, so that the coupling is stable for
 * any stiffness, mass and step. A device applies the force at the end of the step. docs/touch.md. */
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
  ds_vec3 grip;          /* where it is held, in the body's frame; for a deformable body the material point at
                            this position, on the surface or next to it */
  bool whole;            /* deformable body: its frame is held at `grip`, as if it were rigid; default false */
  bool turn;             /* the rotation follows that of the target too; default false */
  ds_pose target;        /* position of the hand; default: the origin */
  double stiffness;      /* N/m; 0 = automatic, from mass and step (default) */
  double damping;        /* N s/m; 0 = critical for the body's mass */
  double turn_stiffness; /* N m/rad; 0 = automatic */
  double turn_damping;   /* N m s/rad; 0 = critical */
  double max_force;      /* N: limit of the spring force; 0 = 50 times the weight on Earth, infinity = no limit */
  double max_torque;     /* N m; 0 = as above at the body's radius */
  double carry;          /* 0 to 1: share of the body's weight that the hand carries without feeling it; default 0
                          */
} ds_hand_def;

/* State of a hand. */
typedef struct ds_hand {
  ds_body_id body;
  ds_vec3 grip; /* world, as it is now */
  ds_pose target;
  ds_vec3 force, torque; /* on the body at the end of the last step, N and N m; a device applies the opposite */
  double stiffness;      /* of the last step, N/m */
} ds_hand;

ds_hand_def ds_default_hand(void);
/* For a tool: held whole, at the grip, with its rotation, carried, without limits of force and torque. */
ds_hand_def ds_default_tool(void);
/* Grabs a body. Zero id if the definition is invalid or all hands are in use; the error says why. Hands are part of the
 * state: copied with it, and part of its hash. */
ds_hand_id ds_state_grab(ds_state *state, const ds_hand_def *def, ds_error *error);
/* Sets the target at the end of the next step. The velocity of the target is used by the damper; zero if unknown. */
void ds_state_move_hand(ds_state *state, ds_hand_id hand, ds_pose target);
void ds_state_move_hand_at(ds_state *state, ds_hand_id hand, ds_pose target, ds_vec3 velocity,
                           ds_vec3 angular_velocity);
void ds_state_release(ds_state *state, ds_hand_id hand);
/* Iterates over the hands in use: the next one after `hand`; {0} begins and ends. */
ds_hand_id ds_state_next_hand(const ds_state *state, ds_hand_id hand);
ds_hand ds_state_hand(const ds_state *state, ds_hand_id hand);

/* ---- Devices ---- */

/* A reading of a device: metres and a unit quaternion in its own frame. Invalid readings are ignored: not finite, a
 * quaternion that is not of length 1, or a tool more than 1,000 km from the origin. Targets follow a device at no more
 * than 100 m/s and 1,000 rad/s. */
typedef struct ds_device_motion {
  ds_pose pose;
  ds_vec3 velocity, angular_velocity; /* valid if has_velocity */
  bool has_velocity;                  /* else it is estimated from successive readings */
} ds_device_motion;

/* A device. Its functions are called from one thread, once per tick, and must not block. `time` is that of the tick in
 * s, counted from the first. */
typedef struct ds_device {
  void *user;
  bool (*read)(void *user, double time, ds_device_motion *motion);       /* false: no recent reading */
  void (*write)(void *user, double time, ds_vec3 force, ds_vec3 torque); /* for the user, N and N m */
  void (*close)(void *user);                                             /* may be NULL */
} ds_device;

/* The latest target that any thread has set, and the latest force. */
ds_status ds_device_pointer(ds_device *device, ds_error *error);
void ds_pointer_set(const ds_device *pointer, ds_pose pose);
void ds_pointer_feel(const ds_device *pointer, ds_vec3 *force, ds_vec3 *torque);

/* A recorded motion: lines "t x y z" or "t x y z qw qx qy qz", ascending t in s, '#' begins a comment. Linear between
 * the lines, constant after the last. Forces are ignored. */
ds_status ds_device_trace(ds_device *device, const char *path, ds_error *error);
ds_status ds_device_trace_text(ds_device *device, const char *text, size_t length, const char *name, ds_error *error);

/* A simulated hand: a mass on a spring and a damper whose other end follows a path, with an additional force and the
 * force written to the device. Deterministic. */
typedef struct ds_operator_key {
  double time;
  ds_vec3 place; /* of the spring's other end, m */
  ds_vec3 push;  /* N */
} ds_operator_key;
typedef struct ds_operator_def {
  double mass;                 /* kg, default 0.3 */
  double stiffness;            /* N/m, default 200 */
  double damping;              /* N s/m, default 8 */
  const ds_operator_key *keys; /* linear between them, constant before the first and after the last; copied */
  int32_t key_count;           /* at least 1 */
} ds_operator_def;
ds_operator_def ds_default_operator(void);
ds_status ds_device_operator(ds_device *device, const ds_operator_def *def, ds_error *error);

/* ---- The loop ---- */

typedef struct ds_touch_loop ds_touch_loop;

/* Given to an observer after each tick, in the thread of the loop. */
typedef struct ds_touch_tick_report {
  const ds_state *state;
  const ds_step_report *step;
  double seconds, cpu_seconds; /* of the tick: wall time and the thread's own processor time */
  bool late;                   /* not finished when the next was due */
} ds_touch_tick_report;
typedef void ds_touch_observer(void *user, const ds_touch_tick_report *tick);

typedef struct ds_touch_def {
  const ds_scene *scene;
  ds_state *state;    /* owned by the loop until it is destroyed */
  ds_options options; /* step: simulated time per tick, default 1 ms; deadline: default 0.85 ms */
  ds_hand_def hand;   /* of the tool, default ds_default_tool(); its target is set by the loop */
  ds_device device;   /* owned by the loop: closed with it, also if the loop cannot be created */
  bool absolute;      /* device coordinates are world coordinates; default false: they start at the tool */
  ds_pose origin;     /* of the device's frame in the world; only its rotation counts unless absolute */
  double scale;       /* metres in the world per metre of the device, default 1 */
  double force_scale; /* N at the device per N in the world, default 1 */
  double max_force;   /* N: limit of the force sent to the device, default 10 */
  double max_torque;  /* N m, default 1 */
  double period;      /* s between ticks, default 1 ms */
  bool realtime;      /* ask the system for real-time priority; default false */
  double spin;        /* s: busy-wait so long before each tick; fewer late ticks, more processor time; default 0 */
  ds_touch_observer *observer; /* or NULL */
  void *observer_user;
} ds_touch_def;

/* Statistics so far. */
typedef struct ds_touch_report {
  int64_t ticks, late, skipped; /* skipped: omitted because the one before was late */
  int64_t unconverged;          /* ticks whose step did not converge */
  int64_t silent;               /* ticks without a reading */
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
/* Starts a thread that ticks every period. After a late tick the loop continues with the next one that is due; missed
 * ticks are not repeated. */
ds_status ds_touch_start(ds_touch_loop *loop, ds_error *error);
void ds_touch_stop(ds_touch_loop *loop); /* waits for the current tick */
/* From any thread. */
ds_touch_report ds_touch_get_report(ds_touch_loop *loop);
/* Copies the state of the loop, and the report of its step unless NULL. The copy is that of the first tick after the
 * previous call. */
ds_status ds_touch_look(ds_touch_loop *loop, ds_state *into, ds_step_report *step);
void ds_touch_destroy(ds_touch_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
