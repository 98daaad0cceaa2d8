/* Stage 6, record: a run as an HDF5 file in SWMR mode, readable while it is written and after a kill. docs/recording.md
 * has the layout. Frames are fixed-size rows of extensible datasets; contacts are one long dataset with an index. */
#ifndef DS_RECORD_RECORD_H
#define DS_RECORD_RECORD_H

#include "drystone/drystone.h"
#include "drystone/scene_file.h"

typedef struct ds_recorder ds_recorder;

/* Creates the file; an existing file is replaced once the new one is open. The scene's JSON text, the run settings, the
 * meshes of its solids, its reduced bodies and the library version go inside, and the state of the last frame, from
 * which a run can continue bit for bit. */
ds_recorder *ds_recorder_create(const char *path, const char *scene_text, const ds_run_settings *run,
                                const ds_scene *scene, ds_error *error);
/* Appends one frame: time, poses of user frames, velocities, reduced coordinates, contacts with impulses, certificate.
 */
ds_status ds_recorder_append(ds_recorder *recorder, const ds_scene *scene, const ds_state *state,
                             const ds_step_report *report, ds_error *error);
ds_status ds_recorder_close(ds_recorder *recorder, ds_error *error); /* frees it in every case */

/* A recording opened for reading; the scene is rebuilt from the text and the meshes inside. Its solids are surfaces
 * only: the scene can be drawn and queried, not stepped. */
typedef struct ds_recording ds_recording;
ds_recording *ds_recording_open(const char *path, ds_error *error); /* checks format version and consistency */
void ds_recording_close(ds_recording *recording);
const ds_scene *ds_recording_scene(const ds_recording *recording);
const char *ds_recording_scene_text(const ds_recording *recording);
const ds_run_settings *ds_recording_settings(const ds_recording *recording);
int32_t ds_recording_frame_count(const ds_recording *recording);

typedef struct ds_frame {
  double time;
  ds_pose *poses; /* body_count, user frames; owned by the recording until the next read */
  ds_vec3 *velocities, *angular_velocities;
  double *reduced, *reduced_rate; /* of all deformable bodies, one after the other; NULL = there are none */
  ds_contact *contacts;           /* contact_count */
  int32_t contact_count;
  ds_step_report report;
} ds_frame;
ds_status ds_recording_read(ds_recording *recording, ds_frame *frame, int32_t index, ds_error *error);
/* The same without contacts, which are most of the bytes where many bodies touch: contact_count is 0. */
ds_status ds_recording_read_bodies(ds_recording *recording, ds_frame *frame, int32_t index, ds_error *error);
int32_t ds_recording_find(const ds_recording *recording, double time); /* the frame nearest in time */
/* The step report of a frame, without poses and contacts. */
ds_status ds_recording_read_report(ds_recording *recording, ds_step_report *report, int32_t index, ds_error *error);
double ds_recording_time(const ds_recording *recording, int32_t index);
/* A state of the same bodies becomes that of the last frame, or, where the writer was killed, of one shortly before:
 * all of it, so that a run continues bit for bit. Recordings before format version 5 have none. */
bool ds_recording_has_state(const ds_recording *recording);
ds_status ds_recording_read_state(ds_recording *recording, ds_state *state, ds_error *error);
bool ds_recording_closed(const ds_recording *recording); /* false: still being written, or its writer was killed */
const char *ds_recording_version(const ds_recording *recording); /* of the library that wrote it */

#endif
