/* Recordings while they are written: others read them, the writer is killed, the disk is full, or there is no place for
 * them. */
#define _XOPEN_SOURCE 700 /* mkdtemp, setrlimit */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "record_sample.h"

/* A second reader sees frames while the writer goes on, and an old recording stays until the new one is there. */
static void test_read_while_written(void) {
  world w;
  if (!world_open(&w)) return;
  ds_error error = {{0}};
  ds_recorder *recorder = write_frames(&w, place("live.h5"), 8);
  wait_for_flush();
  ds_step_report report = fill(&w, 8);
  CHECK(ds_recorder_append(recorder, w.scene, w.state, &report, &error) == DS_OK);
  pid_t child = fork(); /* another process: HDF5 shares an open file within one */
  if (child == 0) {
    ds_recording *r = ds_recording_open(place("live.h5"), &error);
    bool ok = r != NULL && !ds_recording_closed(r) && ds_recording_frame_count(r) == 9;
    if (!ok) printf("%s %d frames\n", error.message, r != NULL ? (int)ds_recording_frame_count(r) : -1);
    ds_frame frame;
    for (int k = 0; ok && k < 9; k++) ok = ds_recording_read(r, &frame, k, &error) == DS_OK;
    fflush(stdout);
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(ds_recorder_close(recorder, &error) == DS_OK);
  world_close(&w);
}

/* Killed after some frames; 2,600 fill chunks of most datasets, so that rows are in them and in their tails. */
static void check_killed(int frames) {
  world w;
  if (!world_open(&w)) return;
  ds_error error = {{0}};
  pid_t child = fork();
  if (child == 0) {
    ds_recorder *recorder = write_frames(&w, place("killed.h5"), frames);
    wait_for_flush();
    for (int k = frames; k < frames + 3; k++) { /* the first of these is flushed with all before it */
      ds_step_report report = fill(&w, k);
      ds_recorder_append(recorder, w.scene, w.state, &report, &error);
    }
    raise(SIGKILL);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  ds_recording *r = ds_recording_open(place("killed.h5"), &error);
  CHECK(r != NULL);
  if (r == NULL) printf("%s\n", error.message);
  if (r != NULL) {
    CHECK(!ds_recording_closed(r));
    CHECK(ds_recording_frame_count(r) == frames + 1);
    int last = ds_recording_frame_count(r) - 1, every = test_quick() ? 26 : 1;
    for (int k = 0; k < last; k += every) check_frame(&w, r, k);
    check_frame(&w, r, last);
  }
  ds_recording_close(r);
  world_close(&w);
}

static void test_killed(void) {
  check_killed(200);
  check_killed(2600);
}

/* A reader that knows 100 frames reads them after the writer has moved their rows out of the tails. */
static void test_read_behind(void) {
  world w;
  if (!world_open(&w)) return;
  ds_error error = {{0}};
  int go[2] = {-1, -1}, opened[2] = {-1, -1};
  ds_recorder *recorder = write_frames(&w, place("behind.h5"), 99);
  wait_for_flush();
  ds_step_report report = fill(&w, 99);
  CHECK(ds_recorder_append(recorder, w.scene, w.state, &report, &error) == DS_OK);
  CHECK(pipe(go) == 0 && pipe(opened) == 0);
  pid_t child = fork();
  if (child == 0) {
    char byte;
    ds_recording *r = ds_recording_open(place("behind.h5"), &error);
    bool ok = r != NULL && ds_recording_frame_count(r) == 100;
    ok = write(opened[1], "x", 1) == 1 && read(go[0], &byte, 1) == 1 && ok;
    ds_frame frame;
    for (int k = 0; ok && k < 100; k++) {
      fill(&w, k);
      ok = ds_recording_read(r, &frame, k, &error) == DS_OK && frame.contact_count == w.state->contact_count &&
           v3_dist(frame.poses[1].p, ds_state_pose(w.scene, w.state, (ds_body_id){2}).p) == 0;
    }
    if (!ok) printf("%s\n", error.message);
    fflush(stdout);
    _exit(ok ? 0 : 1);
  }
  char byte;
  CHECK(read(opened[0], &byte, 1) == 1);
  for (int k = 100; k < 2600; k++) {
    report = fill(&w, k);
    if (k == 2599) wait_for_flush();
    CHECK(ds_recorder_append(recorder, w.scene, w.state, &report, &error) == DS_OK);
  }
  CHECK(write(go[1], "x", 1) == 1);
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(ds_recorder_close(recorder, &error) == DS_OK);
  for (int i = 0; i < 2; i++) close(go[i]), close(opened[i]);
  world_close(&w);
}

static void test_places(void) {
  world w;
  if (!world_open(&w)) return;
  ds_error error = {{0}};
  CHECK(ds_recorder_create(folder, scene_text, &w.run, w.scene, &error) == NULL);
  CHECK(strstr(error.message, "directory") != NULL);
  CHECK(ds_recorder_create("/dev/null", scene_text, &w.run, w.scene, &error) == NULL);
  CHECK(strstr(error.message, "regular") != NULL);
  CHECK(ds_recorder_create(place("no/such/a.h5"), scene_text, &w.run, w.scene, &error) == NULL);
  CHECK(strstr(error.message, "No such file") != NULL);
  world_close(&w);
}

/* A limit on the size of files stands for a full disk: an error with the system's reason, no crash when the file and
 * HDF5 are closed, and frames that were flushed before can be read. */
static void test_full_disk(void) {
  world w;
  if (!world_open(&w)) return;
  pid_t child = fork();
  if (child == 0) {
    ds_error error = {{0}};
    signal(SIGXFSZ, SIG_IGN);
    ds_recorder *recorder = write_frames(&w, place("full.h5"), 1);
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    bool failed = false;
    for (int k = 1; !failed && k < 100000; k++) {
      ds_step_report report = fill(&w, k);
      failed = ds_recorder_append(recorder, w.scene, w.state, &report, &error) != DS_OK;
    }
    bool said = strstr(error.message, "File too large") != NULL;
    if (!said) printf("said \"%s\"\n", error.message);
    ds_step_report report = fill(&w, 1);
    said = said && ds_recorder_append(recorder, w.scene, w.state, &report, &error) != DS_OK; /* it stays so */
    said = said && ds_recorder_close(recorder, &error) != DS_OK && H5close() >= 0;
    fflush(stdout);
    _exit(failed && said ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  ds_error error = {{0}};
  ds_recording *r = ds_recording_open(place("full.h5"), &error);
  if (r == NULL) printf("%s\n", error.message);
  CHECK(r != NULL && ds_recording_frame_count(r) > 0 && !ds_recording_closed(r));
  for (int k = 0; r != NULL && k < ds_recording_frame_count(r); k++) check_frame(&w, r, k);
  ds_recording_close(r);
  world_close(&w);
}

int main(void) {
  snprintf(folder, sizeof folder, "/tmp/drystone-live-XXXXXX");
  if (mkdtemp(folder) == NULL) return 1;
  RUN(test_read_while_written);
  RUN(test_killed);
  RUN(test_read_behind);
  RUN(test_places);
  RUN(test_full_disk);
  static const char *const names[] = {"live", "killed", "behind", "full"};
  CHECK(remove_folder(names, sizeof names / sizeof *names)); /* nothing is left behind beside the recordings */
  return test_summary();
}
