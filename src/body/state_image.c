/* A state as bytes: everything needed to go on bit for bit, for files and for other processes.
 *
 *   0   8 bytes  "DSTATE\r\n"
 *   8   u64      version
 *  16   u64      length of all, bytes
 *  24   u64      FNV-1a of all that follows
 *  32   ...      the fields, in the order of visit_state: integers as u64 or i64, reals as their bits, little-endian
 *
 * One function visits the fields for counting, saving and loading. A new field is one line there, at the end, behind
 * `if (c->version >= N)` with the next version N: what older versions saved stays readable, and starts without it.
 *
 * Loading trusts nothing: mark, version, length, checksum, the kinds of all bodies, counts before memory is taken for
 * them, finite numbers, unit quaternions, contacts of bodies that exist in the order of detection, hands that can hold.
 * The state changes only where all is right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/error.h"
#include "body/kind.h"

enum { VERSION = 1, HEADER = 32, CONTACT_BYTES = 8 * 20 /* at least */ };
static const unsigned char MARK[8] = {'D', 'S', 'T', 'A', 'T', 'E', '\r', '\n'};

/* Where the visit is. Neither `out` nor `in`: it counts. */
typedef struct cursor {
  unsigned char *out;
  const unsigned char *in;
  size_t at, size;
  uint64_t version;
  const char *fault; /* of what is loaded; NULL = none */
} cursor;

static void fault(cursor *c, const char *what) {
  if (c->fault == NULL) c->fault = what;
}

/* ---- numbers ---- */

static uint64_t get_word(const unsigned char *at) {
  uint64_t x = 0;
  for (int i = 0; i < 8; i++) x |= (uint64_t)at[i] << (8 * i);
  return x;
}

static void put_word(unsigned char *at, uint64_t x) {
  for (int i = 0; i < 8; i++) at[i] = (unsigned char)(x >> (8 * i) & 255);
}

static void word(cursor *c, uint64_t *x) {
  if (c->in != NULL && (c->fault != NULL || c->size - c->at < 8)) {
    fault(c, "it ends too early");
    return;
  }
  if (c->out != NULL) put_word(c->out + c->at, *x);
  if (c->in != NULL) *x = get_word(c->in + c->at);
  c->at += 8;
}

static void integer(cursor *c, int64_t *x) {
  uint64_t bits = (uint64_t)*x;
  word(c, &bits);
  *x = (int64_t)bits;
}

/* From low to high. */
static void number(cursor *c, int32_t *x, int32_t low, int32_t high, const char *what) {
  int64_t wide = *x;
  integer(c, &wide);
  if (c->in != NULL && (wide < low || wide > high)) fault(c, what);
  if (c->fault == NULL) *x = (int32_t)wide;
}

static void flag(cursor *c, bool *x) {
  int32_t value = *x;
  number(c, &value, 0, 1, "a flag is neither 0 nor 1");
  *x = value != 0;
}

static void any_real(cursor *c, double *x) {
  uint64_t bits;
  memcpy(&bits, x, sizeof bits);
  word(c, &bits);
  memcpy(x, &bits, sizeof bits);
}

static void real(cursor *c, double *x) {
  any_real(c, x);
  if (c->in != NULL && !isfinite(*x)) fault(c, "a number is not finite");
}

static void reals(cursor *c, double *x, int32_t count) {
  for (int32_t i = 0; i < count; i++) real(c, x + i);
}

static void vector(cursor *c, ds_vec3 *v) { real(c, &v->x), real(c, &v->y), real(c, &v->z); }

static void rotation(cursor *c, ds_quat *q) {
  real(c, &q->w), real(c, &q->x), real(c, &q->y), real(c, &q->z);
  if (c->in != NULL && !(fabs(quat_norm(*q) - 1) < 1e-6)) fault(c, "a rotation is not of length 1");
}

static void pose(cursor *c, ds_pose *p) { vector(c, &p->p), rotation(c, &p->q); }

static void body_id(cursor *c, ds_body_id *id, const ds_state *s, int32_t low) {
  number(c, &id->index1, low, s->body_count, "it names a body that does not exist");
}

/* ---- the fields ---- */

/* What has to be the same in the scene that the state is loaded for. */
static void visit_scene(cursor *c, const ds_scene *scene) {
  int32_t bodies = scene->body_count;
  number(c, &bodies, scene->body_count, scene->body_count, "it is of a scene with another number of bodies");
  for (int32_t i = 0; i < scene->body_count && c->fault == NULL; i++) {
    int32_t kind = (int32_t)scene->bodies[i].kind, r = scene->bodies[i].r;
    number(c, &kind, kind, kind, "it is of a scene with bodies of other kinds");
    number(c, &r, r, r, "it is of a scene with other deformable bodies");
  }
}

static void visit_contact(cursor *c, ds_contact *k, const ds_state *s) {
  int32_t mode = (int32_t)k->mode;
  body_id(c, &k->a, s, 1), body_id(c, &k->b, s, 1);
  vector(c, &k->point), vector(c, &k->normal);
  real(c, &k->gap), real(c, &k->mu), real(c, &k->restitution);
  vector(c, &k->impulse), vector(c, &k->velocity);
  number(c, &mode, DS_CONTACT_OPEN, DS_CONTACT_SLIDE, "a contact does nothing that contacts do");
  k->mode = (ds_contact_mode)mode;
  word(c, &k->feature);
  real(c, &k->held);
  if (c->in != NULL && !(k->held >= 0)) fault(c, "a contact holds an overlap below 0");
}

static void visit_contacts(cursor *c, ds_state *s) {
  int32_t count = s->contact_count;
  number(c, &count, 0, INT32_MAX - 1, "its number of contacts is none");
  if (c->in != NULL) {
    if (c->fault == NULL && (size_t)count > (c->size - c->at) / CONTACT_BYTES) fault(c, "it ends within its contacts");
    if (c->fault != NULL) return;
    if (!ds_array_reserve(&s->contacts, &s->contact_capacity, count + 1, sizeof *s->contacts))
      fault(c, "there is no memory for its contacts");
    if (c->fault != NULL) return;
    memset(s->contacts, 0, (size_t)count * sizeof *s->contacts);
    s->contact_count = count;
  }
  for (int32_t i = 0; i < count && c->fault == NULL; i++) visit_contact(c, &s->contacts[i], s);
  if (c->in != NULL && c->fault == NULL && !ds_contacts_in_order(s->contacts, count))
    fault(c, "its contacts are not in order");
}

static bool can_hold(const ds_hand_state *hand, const ds_scene *scene) {
  const ds_body *body = &scene->bodies[ds_index(hand->def.body)];
  if (!body->ops->dynamic) return false;
  return hand->triangle < 0 || (body->skin && hand->triangle < body->skin->mesh->triangle_count);
}

static void visit_hand(cursor *c, ds_hand_state *hand, const ds_state *s) {
  ds_hand_def *d = &hand->def;
  body_id(c, &d->body, s, 0);
  vector(c, &d->grip), flag(c, &d->whole), flag(c, &d->turn), pose(c, &d->target);
  real(c, &d->stiffness), real(c, &d->damping), real(c, &d->turn_stiffness), real(c, &d->turn_damping);
  any_real(c, &d->max_force), any_real(c, &d->max_torque), real(c, &d->carry); /* the two may be infinite */
  number(c, &hand->triangle, -1, INT32_MAX, "a hand holds no triangle");
  real(c, &hand->s), real(c, &hand->t);
  vector(c, &hand->velocity), vector(c, &hand->angular_velocity), vector(c, &hand->force), vector(c, &hand->torque);
  real(c, &hand->stiffness);
  if (c->in == NULL || c->fault != NULL || d->body.index1 == 0) return;
  if (!can_hold(hand, s->scene)) fault(c, "a hand holds what cannot be held");
  const double amounts[] = {d->stiffness, d->damping,    d->turn_stiffness, d->turn_damping,
                            d->max_force, d->max_torque, d->carry};
  for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
    if (!(amounts[i] >= 0)) fault(c, "a hand has a negative stiffness, damping or limit");
}

static void visit_hands(cursor *c, ds_state *s) {
  number(c, &s->hand_count, 0, DS_HANDS_MAX, "it has more hands than there can be");
  for (int32_t i = 0; i < s->hand_count && c->fault == NULL; i++) {
    ds_hand_state hand = s->hands[i];
    if (hand.def.body.index1 == 0) hand.def.target.q = quat_identity(); /* a free place, all zeros */
    visit_hand(c, &hand, s);
    if (c->in != NULL) s->hands[i] = hand.def.body.index1 == 0 ? (ds_hand_state){.triangle = -1} : hand;
  }
}

static void visit_body(cursor *c, ds_body_state *b) {
  vector(c, &b->x), rotation(c, &b->q), vector(c, &b->v), vector(c, &b->w);
}

static void visit_state(cursor *c, ds_state *s) {
  visit_scene(c, s->scene);
  real(c, &s->time), real(c, &s->time_rest);
  integer(c, &s->step);
  for (int32_t i = 0; i < s->body_count && c->fault == NULL; i++) {
    visit_body(c, &s->bodies[i]);
    vector(c, &s->force[i]), vector(c, &s->torque[i]);
  }
  reals(c, s->reduced, s->scene->reduced_count);
  reals(c, s->reduced_rate, s->scene->reduced_count);
  real(c, &s->reduced_step);
  visit_contacts(c, s);
  visit_hands(c, s);
}

/* ---- ---- */

static uint64_t checksum(const unsigned char *bytes, size_t size) { /* FNV-1a, by words: all fields are words */
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i + 8 <= size; i += 8) hash = (hash ^ get_word(bytes + i)) * 0x100000001b3u;
  return hash;
}

unsigned char *ds_state_save(const ds_state *state, size_t *size) {
  DS_CHECK(state && size);
  ds_state s = *state; /* visit_state also loads; saving changes nothing */
  cursor c = {.at = HEADER, .version = VERSION};
  visit_state(&c, &s);
  *size = c.at;
  unsigned char *bytes = malloc(c.at);
  if (!bytes) return NULL;
  c = (cursor){.out = bytes, .at = HEADER, .size = *size, .version = VERSION};
  visit_state(&c, &s);
  memcpy(bytes, MARK, sizeof MARK);
  put_word(bytes + 8, VERSION);
  put_word(bytes + 16, *size);
  put_word(bytes + 24, checksum(bytes + HEADER, *size - HEADER));
  return bytes;
}

static ds_status refuse(ds_error *error, const char *why) {
  return ds_fail(error, DS_ERROR_INPUT, "the saved state cannot be used: %s", why);
}

ds_status ds_state_load(ds_state *state, const void *data, size_t size, ds_error *error) {
  DS_CHECK(state && (data || size == 0));
  const unsigned char *bytes = data;
  if (size < HEADER || memcmp(bytes, MARK, sizeof MARK) != 0) return refuse(error, "it is none");
  uint64_t version = get_word(bytes + 8), length = get_word(bytes + 16);
  if (version < 1 || version > VERSION)
    return ds_fail(error, DS_ERROR_INPUT, "the saved state has version %llu; this program reads 1 to %d",
                   (unsigned long long)version, (int)VERSION);
  if (length < HEADER || length > size || length % 8 != 0) return refuse(error, "it has been cut short");
  if (checksum(bytes + HEADER, (size_t)length - HEADER) != get_word(bytes + 24))
    return refuse(error, "it is damaged, its checksum is another");
  ds_state *loaded = ds_state_create(state->scene);
  if (!loaded) return ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  cursor c = {.in = bytes, .at = HEADER, .size = (size_t)length, .version = version};
  visit_state(&c, loaded);
  if (c.fault == NULL && c.at != c.size) fault(&c, "it is longer than its fields");
  ds_status status = c.fault == NULL ? ds_state_assign(state, loaded) : refuse(error, c.fault);
  if (status == DS_ERROR_MEMORY) ds_fail(error, DS_ERROR_MEMORY, "out of memory");
  ds_state_destroy(loaded);
  return status;
}
