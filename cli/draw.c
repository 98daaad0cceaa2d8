/* `drystone draw`: a picture of a recording at a time, of a scene at its start, or of a mesh. docs/pictures.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "bodies.h"
#include "command.h"
#include "hide.h"
#include "io/reduced_file.h"
#include "mesh_source.h"
#include "output.h"
#include "overlay.h"
#include "picture.h"
#include "record/record.h"
#include "source.h"

typedef struct drawing {
  const char *source, *output, *size, *view, *look;
  arg_list settings, hide;
  double time, zoom, scale, force_scale;
  bool time_given, scale_given, contacts, joints, dark;
  int32_t width, height;
  ds_framing framing;
} drawing;

/* What is drawn: a recording's frame, a scene's start, or a mesh. */
typedef struct subject {
  ds_recording *recording;
  ds_scene *own_scene; /* NULL if the recording has it */
  const ds_scene *scene;
  ds_pose *own_poses;
  const ds_pose *poses;
  double *own_reduced;
  const double *reduced; /* coordinates of all deformable bodies */
  const ds_contact *contacts;
  ds_contact *own_contacts; /* NULL if the frame has them */
  int32_t contact_count;
  bool *hidden; /* a body; NULL = none */
  double time, step;
  bool is_mesh, is_body;
  ds_mesh mesh;
} subject;

static bool is_vector(const char *name) { return args_ends_in(name, ".svg") || args_ends_in(name, ".pdf"); }

static bool check_drawing(drawing *d) {
  ds_error error;
  double view[2], look[3];
  if (ds_image_parse_size(&d->width, &d->height, d->size, &error) != DS_OK) {
    fprintf(stderr, "drystone draw: --size: %s\n", error.message);
    return false;
  }
  d->framing.view_given = d->view != NULL;
  if (d->view) {
    if (!args_reals(view, 2, d->view, 360) || fabs(view[1]) > 89.9) {
      fprintf(stderr,
              "drystone draw: --view: '%s' is not usable; give AZIMUTH,ELEVATION in degrees, such as -60,20, with an "
              "elevation within 89.9\n",
              d->view);
      return false;
    }
    d->framing.azimuth = view[0], d->framing.elevation = view[1];
  }
  d->framing.look_given = d->look != NULL;
  if (d->look) {
    if (!args_reals(look, 3, d->look, 1e6)) {
      fprintf(stderr, "drystone draw: --look: '%s' is not usable; give X,Y,Z in metres, such as 0,0,0.5\n", d->look);
      return false;
    }
    d->framing.look = v3(look[0], look[1], look[2]);
  }
  d->framing.zoom = d->zoom;
  if (!d->output) {
    fprintf(stderr, "drystone draw: give the output file: -o out.png, out.svg or out.pdf\n");
    return false;
  }
  if (source_same_file(d->source, d->output)) {
    fprintf(stderr, "drystone draw: %s would be overwritten by the picture\n", d->source);
    return false;
  }
  if (d->force_scale > 0 && !d->contacts) {
    fprintf(stderr, "drystone draw: --force-scale is for --contacts\n");
    return false;
  }
  if (!args_ends_in(d->output, ".png") && !is_vector(d->output) && !args_ends_in(d->output, "")) {
    fprintf(stderr, "drystone draw: %s: pictures are PNG, SVG or PDF; give a name that ends in .png, .svg or .pdf\n",
            d->output);
    return false;
  }
  return true;
}

static bool parse_drawing(drawing *d, const char **words, int argc, char **argv) {
  const arg_option options[] = {
      {.name = "--time",
       .alias = "-t",
       .kind = ARG_REAL,
       .target = &d->time,
       .low = -1e9,
       .high = 1e9,
       .given = &d->time_given},
      {.name = "--output", .alias = "-o", .kind = ARG_TEXT, .target = &d->output},
      {.name = "--size", .kind = ARG_TEXT, .target = &d->size},
      {.name = "--view", .kind = ARG_TEXT, .target = &d->view},
      {.name = "--zoom", .kind = ARG_REAL, .target = &d->zoom, .low = 0.01, .high = 100},
      {.name = "--look", .kind = ARG_TEXT, .target = &d->look},
      {.name = "--hide", .kind = ARG_LIST, .target = &d->hide},
      {.name = "--set", .kind = ARG_LIST, .target = &d->settings},
      {.name = "--scale", .kind = ARG_REAL, .target = &d->scale, .low = 1e-9, .high = 1e9, .given = &d->scale_given},
      {.name = "--contacts", .kind = ARG_FLAG, .target = &d->contacts},
      {.name = "--force-scale", .kind = ARG_REAL, .target = &d->force_scale, .low = 1e-12, .high = 1e9},
      {.name = "--joints", .kind = ARG_FLAG, .target = &d->joints},
      {.name = "--dark", .kind = ARG_FLAG, .target = &d->dark},
  };
  arg_list found = {words, 0};
  if (!args_parse(&found, argc, argv, options, sizeof options / sizeof options[0])) return false;
  if (found.count != 1) {
    fprintf(stderr, "drystone draw: give one recording, scene file, generator, mesh or body file%s\n",
            found.count > 1 ? ", not several" : "");
    return false;
  }
  d->source = found.items[0];
  return check_drawing(d);
}

static ds_status open_recording(subject *s, const drawing *d, ds_error *error) {
  s->recording = ds_recording_open(d->source, error);
  if (!s->recording) return DS_ERROR_INPUT;
  int32_t frames = ds_recording_frame_count(s->recording), index = frames - 1;
  ds_frame frame, last;
  if (frames < 1) {
    snprintf(error->message, sizeof error->message, "%.200s: has no frames yet", d->source);
    return DS_ERROR_INPUT;
  }
  if (d->time_given) {
    ds_status status = ds_recording_read(s->recording, &last, frames - 1, error);
    if (status == DS_OK) status = ds_recording_read(s->recording, &frame, 0, error);
    if (status != DS_OK) return status;
    double slack = 1e-6 + 1e-9 * fabs(last.time);
    if (d->time < fmin(0, frame.time) - slack || d->time > last.time + slack) {
      snprintf(error->message, sizeof error->message,
               "%.200s: --time %g is out of range; the recording has times from %g to %g s", d->source, d->time,
               frame.time, last.time);
      return DS_ERROR_INPUT;
    }
    index = ds_recording_find(s->recording, d->time);
  }
  ds_status status = ds_recording_read(s->recording, &frame, index, error);
  if (status != DS_OK) return status;
  s->scene = ds_recording_scene(s->recording);
  s->poses = frame.poses;
  s->reduced = frame.reduced;
  s->contacts = frame.contacts;
  s->contact_count = frame.contact_count;
  s->step = ds_recording_settings(s->recording)->options.step;
  s->time = frame.time;
  return DS_OK;
}

static ds_status open_scene(subject *s, const drawing *d, ds_error *error) {
  ds_run_settings run;
  if (d->contacts || (d->time_given && d->time != 0)) {
    snprintf(error->message, sizeof error->message,
             "%.200s: a scene is drawn at its start, without contacts; run it and draw the recording for %s", d->source,
             d->contacts ? "contacts" : "other times");
    return DS_ERROR_INPUT;
  }
  source_reading reading = {.surface_only = true};
  s->own_scene = source_scene(NULL, &run, d->source, &d->settings, &reading, error);
  if (!s->own_scene) return DS_ERROR_INPUT;
  s->scene = s->own_scene;
  ds_state *state = ds_state_create(s->scene);
  int32_t count = ds_scene_body_count(s->scene);
  s->own_poses = malloc((size_t)(count > 0 ? count : 1) * sizeof *s->own_poses);
  s->own_reduced = calloc((size_t)ds_scene_reduced_count(s->scene) + 1, sizeof *s->own_reduced);
  if (!state || !s->own_poses || !s->own_reduced) {
    ds_state_destroy(state);
    snprintf(error->message, sizeof error->message, "no memory for %d bodies", count);
    return DS_ERROR_MEMORY;
  }
  for (int32_t i = 0; i < count; i++) s->own_poses[i] = ds_state_pose(s->scene, state, ds_scene_body(s->scene, i));
  for (int32_t i = 0; i < ds_scene_reduced_count(s->scene); i++) s->own_reduced[i] = ds_state_all_reduced(state)[i];
  s->time = ds_state_time(state);
  s->poses = s->own_poses;
  s->reduced = s->own_reduced;
  ds_state_destroy(state);
  return DS_OK;
}

/* The surface of a body file, undeformed. */
static ds_status read_body(ds_mesh *mesh, const char *path, ds_error *error) {
  ds_reduced *body = ds_reduced_file_read(path, error);
  if (!body) return DS_ERROR_INPUT;
  int32_t vertices = ds_reduced_get_info(body).vertices, triangles = ds_reduced_get_info(body).triangles;
  *mesh = (ds_mesh){.vertices = malloc((size_t)vertices * sizeof *mesh->vertices),
                    .vertex_count = vertices,
                    .triangles = malloc(3 * (size_t)triangles * sizeof *mesh->triangles),
                    .triangle_count = triangles};
  bool good = mesh->vertices && mesh->triangles;
  if (good) ds_reduced_shape(mesh->vertices, body, NULL);
  if (good) memcpy(mesh->triangles, ds_reduced_triangles(body), 3 * (size_t)triangles * sizeof *mesh->triangles);
  ds_reduced_release(body);
  if (!good) snprintf(error->message, sizeof error->message, "no memory for %d triangles", triangles);
  return good ? DS_OK : DS_ERROR_MEMORY;
}

static ds_status open_mesh(subject *s, const drawing *d, bool is_body, ds_error *error) {
  if (d->contacts || d->joints || d->time_given || d->settings.count > 0 || d->hide.count > 0) {
    snprintf(error->message, sizeof error->message, "%.200s: a %s has no %s", d->source, is_body ? "body file" : "mesh",
             d->contacts             ? "contacts"
             : d->joints             ? "joints"
             : d->time_given         ? "times"
             : d->settings.count > 0 ? "settings"
                                     : "bodies to hide");
    return DS_ERROR_INPUT;
  }
  s->is_mesh = true;
  s->is_body = is_body;
  ds_status status =
      is_body ? read_body(&s->mesh, d->source, error) : mesh_source_read(&s->mesh, d->source, d->scale, error);
  return status == DS_OK ? mesh_source_drawable(&s->mesh, d->source, error) : status;
}

/* Leaves bodies out, and the contacts that they take part in. */
static ds_status hide(subject *s, const drawing *d, ds_error *error) {
  if (d->hide.count == 0) return DS_OK;
  s->hidden = hide_bodies(s->scene, &d->hide, d->source, error);
  if (!s->hidden) return DS_ERROR_INPUT;
  s->own_contacts = malloc((size_t)(s->contact_count > 0 ? s->contact_count : 1) * sizeof *s->own_contacts);
  if (!s->own_contacts) {
    snprintf(error->message, sizeof error->message, "no memory for %d contacts", s->contact_count);
    return DS_ERROR_MEMORY;
  }
  int32_t count = 0;
  for (int32_t i = 0; i < s->contact_count; i++) {
    const ds_contact *c = &s->contacts[i];
    if (!s->hidden[body_index(c->a)] && !s->hidden[body_index(c->b)]) s->own_contacts[count++] = *c;
  }
  s->contacts = s->own_contacts;
  s->contact_count = count;
  return DS_OK;
}

static ds_status open_subject(subject *s, const drawing *d, ds_error *error) {
  if (mesh_source_is(d->source)) return open_mesh(s, d, false, error);
  if (d->scale_given) {
    snprintf(error->message, sizeof error->message, "%.200s: --scale is for meshes", d->source);
    return DS_ERROR_INPUT;
  }
  if (ds_reduced_file_is(d->source)) return open_mesh(s, d, true, error);
  ds_status status = source_is_recording(d->source) ? open_recording(s, d, error) : open_scene(s, d, error);
  return status == DS_OK ? hide(s, d, error) : status;
}

static void close_subject(subject *s) {
  ds_mesh_free(&s->mesh);
  if (s->recording) ds_recording_close(s->recording);
  if (s->own_scene) ds_scene_destroy(s->own_scene);
  free(s->own_poses);
  free(s->own_reduced);
  free(s->own_contacts);
  free(s->hidden);
}

/* The text in the lower left corner. */
static void write_label(char *text, size_t size, const subject *s) {
  if (!s->is_mesh) {
    snprintf(text, size, "t = %.2f s", s->time);
    return;
  }
  ds_vec3 low, high;
  mesh_bounds(&low, &high, &s->mesh);
  snprintf(text, size, "%.3g x %.3g x %.3g m, %d triangles", high.x - low.x, high.y - low.y, high.z - low.z,
           (int)s->mesh.triangle_count);
}

/* Joints of bodies that are shown; to be freed. */
static ds_joint_mark *find_joints(int32_t *count, const subject *s, ds_error *error) {
  int32_t joints = ds_scene_joint_count(s->scene);
  ds_joint_mark *marks = malloc(((size_t)joints + 1) * sizeof *marks);
  if (!marks) snprintf(error->message, sizeof error->message, "no memory for %d joints", joints);
  *count = 0;
  for (int32_t i = 0; marks && i < joints; i++) {
    ds_joint_id id = ds_scene_joint(s->scene, i);
    ds_joint_def joint = ds_joint_get_def(s->scene, id);
    int32_t a = body_index(joint.a), b = body_index(joint.b);
    if (s->hidden && (s->hidden[a] || s->hidden[b])) continue;
    ds_joint_place place = ds_joint_at(s->scene, id, s->poses[a], s->poses[b]);
    marks[(*count)++] = (ds_joint_mark){joint.kind, place.on_a, place.axis};
  }
  return marks;
}

static ds_status draw_subject(ds_image *image, const ds_vector *vector, const drawing *d, const subject *s,
                              ds_error *error) {
  ds_tableau tableau;
  char label[96];
  ds_picture picture = {.width = d->width,
                        .height = d->height,
                        .framing = d->framing,
                        .dark = d->dark,
                        .is_mesh = s->is_mesh,
                        .label = label,
                        .show_contacts = d->contacts,
                        .step = s->step,
                        .force_scale = d->force_scale,
                        .contacts = s->contacts,
                        .contact_count = s->contact_count};
  ds_bodies_at bodies = {s->scene, s->poses, s->reduced, s->hidden, NULL};
  ds_joint_mark *joints = d->joints && !s->is_mesh ? find_joints(&picture.joint_count, s, error) : NULL;
  if (d->joints && !s->is_mesh && !joints) return DS_ERROR_MEMORY;
  picture.joints = joints;
  ds_status status = s->is_mesh ? ds_tableau_build_mesh(&tableau, &s->mesh, s->is_body ? s->mesh.vertices : NULL, error)
                                : ds_tableau_build(&tableau, &bodies, d->contacts, error);
  if (status == DS_OK) {
    write_label(label, sizeof label, s);
    status = ds_picture_draw(image, vector, &tableau, &picture, error);
    ds_tableau_free(&tableau);
  }
  free(joints);
  return status;
}

static ds_status draw(const drawing *d, ds_error *error) {
  subject s = {0};
  ds_image image = {0};
  ds_status status = open_subject(&s, d, error);
  if (status == DS_OK && is_vector(d->output)) {
    output out;
    status = output_open(&out, d->output, error) ? DS_OK : DS_ERROR_INPUT;
    if (status == DS_OK) {
      ds_vector vector = {out.file, args_ends_in(d->output, ".pdf") ? DS_VECTOR_PDF : DS_VECTOR_SVG};
      status = draw_subject(&image, &vector, d, &s, error);
      if (status != DS_OK)
        output_discard(&out);
      else if (!output_commit(&out, error))
        status = DS_ERROR_INPUT;
    }
  } else if (status == DS_OK) {
    status = draw_subject(&image, NULL, d, &s, error);
    if (status == DS_OK) status = ds_image_write_png(&image, d->output, error);
  }
  ds_image_free(&image);
  close_subject(&s);
  return status;
}

int command_draw(int argc, char **argv) {
  const char **words = malloc(3 * (size_t)(argc + 1) * sizeof *words);
  if (!words) {
    fprintf(stderr, "drystone draw: out of memory\n");
    return EXIT_INPUT;
  }
  drawing d = {.size = "1280x720",
               .zoom = 1,
               .scale = 1,
               .settings = {words + argc + 1, 0},
               .hide = {words + 2 * (argc + 1), 0}};
  ds_error error = {{0}};
  int result = EXIT_INPUT;
  if (parse_drawing(&d, words, argc, argv)) {
    result = draw(&d, &error) == DS_OK ? EXIT_OK : EXIT_INPUT;
    if (result != EXIT_OK) fprintf(stderr, "drystone draw: %s\n", error.message);
  }
  free(words);
  return result;
}
