/* What drystone stand prints: text and JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec3.h"
#include "output.h"
#include "stand.h"

/* ---- the verdict in words ---- */

static const char *reason_of(const ds_stand *s) {
  switch (s->reason) {
    case DS_REASON_FRICTIONLESS:
      return "proven: it is in equilibrium without any friction, and every solution is at rest";
    case DS_REASON_PLANAR:
      return "proven for motions in its plane: every solution is at rest";
    case DS_REASON_MOVES:
      return "an equilibrium exists, but so does a solution that moves and obeys all laws";
    case DS_REASON_OPEN:
      return "an equilibrium exists; solutions that move are not excluded";
    case DS_REASON_NONE:
      break;
  }
  return s->verdict == DS_FALLS ? "proven: a mechanism; no forces within the friction cones hold it as drawn"
                                : "neither an equilibrium nor a mechanism was found: too near the edge";
}

static int32_t count_supports(const ds_assembly *a) {
  int32_t count = 0;
  for (int32_t i = 0; i < a->block_count; i++) count += a->blocks[i].support;
  return count;
}

/* Stages with the last blocks put in place whose verdict is STANDS. */
static int32_t count_standing(const stand_case *c, const stand_answers *x) {
  int32_t count = 0, stages = c->assembly->block_count;
  int32_t together = stages - x->placed - count_supports(c->assembly);
  for (int32_t i = stages - x->placed - (together > 0); i < stages; i++) count += i >= 0 && x->stages[i] == DS_STANDS;
  return count;
}

static void print_settlement(const ds_settlement *s) {
  if (isnan(s->high)) {
    printf(" no equilibrium was found\n");
    return;
  }
  printf(" the support carries %.6g N along it", s->high);
  if (s->mechanism) printf(", proven to be the least to %.1e N", s->high - s->low);
  if (isinf(s->before_high))
    printf("; it could carry any more\n");
  else
    printf("; at most %.6g N in any equilibrium\n", s->before_high);
}

static void print_load(const stand_load *load) {
  const ds_multiplier *m = &load->result;
  printf("load %s:", load->text);
  if (load->settle) {
    print_settlement(&load->settlement);
    return;
  }
  if (m->equilibrium < 0) {
    printf(" %s\n", m->mechanism ? "proven: no equilibrium, with or without it" : "no equilibrium was found");
    return;
  }
  double f = 180 / DS_PI;
  if (load->tilt) {
    if (m->stands >= 0) printf(" proven to stand up to %.6g degrees,", f * atan(m->stands));
    printf(" equilibrium up to %.6g degrees", f * atan(m->equilibrium));
    if (isfinite(m->falls)) printf(", proven to fall above %.6g degrees", f * atan(m->falls));
  } else {
    if (m->stands >= 0) printf(" proven to stand up to %.6g,", m->stands);
    printf(" equilibrium up to %.8g", m->equilibrium);
    if (isfinite(m->falls)) printf(", proven to fall above %.8g", m->falls);
  }
  printf("%s\n", isfinite(m->falls) ? "" : isinf(m->equilibrium) ? ": no limit" : "; no fall proven");
}

/* ---- text ---- */

/* The order of assembly, and what stands together only. */
static void print_order(const stand_case *c, const stand_answers *x) {
  const ds_assembly *a = c->assembly;
  if (!c->o->order) return;
  int32_t together = a->block_count - x->placed - count_supports(a);
  printf("order of assembly:");
  if (together > 0) printf(" together, on a centring: {");
  for (int32_t i = 0, free = 0; i < a->block_count; i++) {
    if (a->blocks[x->order[i]].support) continue;
    printf(" %s%s", a->blocks[x->order[i]].name, ++free == together ? " }" : "");
  }
  printf("\nevery stage%s has an equilibrium; proven to stand: %d of %d\n", together > 0 ? " from there on" : "",
         (int)count_standing(c, x), (int)x->placed + (together > 0));
}

static void print_interfaces(const ds_assembly *a) {
  printf("%d blocks, %d of them supports; %d interfaces with %d points, ", (int)a->block_count, (int)count_supports(a),
         (int)a->interface_count, (int)a->point_count);
  if (a->tolerance > 0)
    printf("found at gaps up to %.3g m (widest %.2g m, deepest overlap %.2g m)\n", a->tolerance, a->widest_gap,
           a->deepest_overlap);
  else
    printf("as given\n");
  if (count_supports(a) == 0)
    printf("no block is a support, so that all of it falls: --supports names those that are\n");
}

/* An interface and how near it is to sliding or opening. */
typedef struct used {
  int32_t interface;
  double share;
} used;

static int compare_used(const void *x, const void *y) {
  const used *a = x, *b = y;
  if (a->share != b->share) return a->share > b->share ? -1 : 1;
  return a->interface < b->interface ? -1 : 1;
}

static void print_reactions(const stand_case *c) {
  const ds_assembly *a = c->assembly;
  int32_t count = 0;
  for (int32_t i = 0; i < a->block_count; i++) {
    ds_vec3 f, t;
    if (!a->blocks[i].support) continue;
    ds_support_reaction(&f, &t, a, &c->stand, i);
    if (v3_norm(f) == 0 || (++count > STAND_MOST_ROWS && !c->o->all)) continue;
    printf("support %-12s carries (%.6g, %.6g, %.6g) N\n", a->blocks[i].name, f.x, f.y, f.z);
  }
  if (count > STAND_MOST_ROWS && !c->o->all) printf("%d more supports: --all\n", (int)count - STAND_MOST_ROWS);
}

/* Bounds that are proven; where there is no upper one, the largest force of an equilibrium that was found. */
static void print_range(const ds_force_range *r) {
  printf("   %.6g .. ", r->low);
  if (isinf(r->high) && isfinite(r->most))
    printf("%.6g or more", r->most);
  else
    printf("%.6g", r->high);
}

/* All interfaces, or those that are used most. */
static bool print_thrust(const stand_case *c, const stand_answers *x) {
  const ds_assembly *a = c->assembly;
  int32_t rows = c->o->all || a->interface_count <= STAND_MOST_ROWS ? a->interface_count : STAND_MOST_ROWS;
  used *order = malloc(((size_t)a->interface_count + 1) * sizeof *order);
  if (!order) return false;
  for (int32_t i = 0; i < a->interface_count; i++) {
    ds_thrust t = ds_interface_thrust(a, &c->stand, i);
    order[i] = (used){i, fmax(t.friction, t.section)};
  }
  if (rows < a->interface_count) qsort(order, (size_t)a->interface_count, sizeof *order, compare_used);
  printf("\n%-20s %12s %9s %9s%s\n", "interface", "normal, N", "friction", "section",
         c->o->ranges ? "   normal from .. to, N" : "");
  for (int32_t k = 0; k < rows; k++) {
    int32_t i = order[k].interface;
    ds_thrust t = ds_interface_thrust(a, &c->stand, i);
    char name[136];
    snprintf(name, sizeof name, "%s - %s", a->blocks[a->interfaces[i].a].name, a->blocks[a->interfaces[i].b].name);
    printf("%-20s %12.6g %8.1f%% %8.1f%%", name, t.normal, 100 * t.friction, 100 * t.section);
    if (c->o->ranges) print_range(&x->ranges[i]);
    printf("\n");
  }
  if (rows < a->interface_count) printf("%d more that are used less: --all\n", (int)a->interface_count - (int)rows);
  free(order);
  print_reactions(c);
  return true;
}

static void print_motion(const ds_assembly *a, const ds_twist *twist, const char *title) {
  double largest = 0;
  for (int32_t i = 0; i < a->block_count; i++)
    largest = fmax(largest, v3_norm(ds_twist_at(twist[i], a->blocks[i].center)));
  printf("\n%s\n", title);
  for (int32_t i = 0; i < a->block_count; i++) {
    ds_vec3 v = v3_scale(1 / largest, ds_twist_at(twist[i], a->blocks[i].center)),
            w = v3_scale(1 / largest, twist[i].w);
    if (v3_norm(v) > 1e-3)
      printf("  %-18s moves (%.3f, %.3f, %.3f), turns (%.3f, %.3f, %.3f)\n", a->blocks[i].name, v.x, v.y, v.z, w.x, w.y,
             w.z);
  }
}

bool stand_print_text(const stand_case *c, const stand_answers *x) {
  const ds_assembly *a = c->assembly;
  const ds_stand *s = &c->stand;
  print_interfaces(a);
  printf("%s: %s\n", ds_verdict_name(s->verdict), reason_of(s));
  if (s->normal) printf("equilibrium to %.1e of a block's weight", s->residual);
  if (s->normal && isfinite(s->margin))
    printf(", margin %s%.4g weights of the mean block at every interface", s->margin >= 1 - 1e-4 ? "at least " : "",
           s->margin);
  if (s->normal) printf("\n");
  if (s->moving) printf("the moving solution has %.3g of free fall, error %.1e\n", s->moving_share, s->moving_error);
  for (int32_t i = 0; i < x->retry_count; i++)
    printf("with gaps up to %.3g m: %d interfaces with %d points, %s\n", x->retries[i].tolerance,
           (int)x->retries[i].interfaces, (int)x->retries[i].points, ds_verdict_name(x->retries[i].verdict));
  for (int32_t i = 0; i < c->o->loads.count; i++) print_load(&x->loads[i]);
  if (c->o->least_mu && isfinite(x->mu.equilibrium))
    printf("least friction: an equilibrium at %.6g, none below %.6g\n", x->mu.equilibrium, x->mu.falls);
  else if (c->o->least_mu)
    printf("least friction: no equilibrium with any up to 10\n");
  if (c->o->remove) {
    printf("can be removed:");
    for (int32_t i = 0; i < a->block_count; i++)
      if (!a->blocks[i].support && x->without[i] != DS_FALLS && x->without[i] != DS_UNDECIDED)
        printf(" %s", a->blocks[i].name);
    printf("\n");
  }
  print_order(c, x);
  if (s->normal && !print_thrust(c, x)) return false;
  if (s->mechanism) print_motion(a, s->mechanism, "mechanism, velocities over the largest:");
  if (s->moving) print_motion(a, s->moving, "second solution, accelerations over the largest:");
  for (int32_t i = 0; i < c->o->loads.count; i++)
    if (x->loads[i].settle && x->loads[i].settlement.mechanism)
      print_motion(a, x->loads[i].settlement.mechanism, "how the blocks follow the support, over the largest:");
  return true;
}

/* ---- JSON ---- */

static void json_vector(json_object *j, const char *key, ds_vec3 v) {
  double x[3] = {v.x, v.y, v.z};
  json_reals(j, key, x, 3);
}

/* Row i of a table: an object of that name. */
static json_object json_row(json_object *table, int32_t i) {
  char key[16];
  snprintf(key, sizeof key, "%d", (int)i);
  return json_child(table, key);
}

static void json_settlement(json_object *k, const ds_settlement *s) {
  json_real(k, "low", s->low);
  json_real(k, "high", s->high);
  json_real(k, "most", s->before_high);
  json_integer(k, "factorizations", s->factorizations);
}

static void json_order(json_object *j, const stand_case *c, const stand_answers *x) {
  const ds_assembly *a = c->assembly;
  const char **names = malloc(((size_t)a->block_count + 1) * sizeof *names);
  int32_t count = 0;
  for (int32_t i = 0; names && i < a->block_count; i++)
    if (!a->blocks[x->order[i]].support) names[count++] = a->blocks[x->order[i]].name;
  json_texts(j, "order", names, count);
  json_integer(j, "together", count - x->placed);
  free(names);
}

static void json_interfaces(json_object *j, const stand_case *c, const stand_answers *x) {
  const ds_assembly *a = c->assembly;
  json_object all = json_child(j, "interfaces");
  for (int32_t i = 0; i < a->interface_count; i++) {
    const ds_interface *face = &a->interfaces[i];
    json_object k = json_row(&all, i);
    json_text(&k, "a", a->blocks[face->a].name);
    json_text(&k, "b", a->blocks[face->b].name);
    json_real(&k, "mu", face->mu);
    if (face->tension > 0) json_real(&k, "tension", face->count * face->tension);
    json_integer(&k, "points", face->count);
    if (c->stand.normal) {
      ds_thrust t = ds_interface_thrust(a, &c->stand, i);
      json_vector(&k, "force", t.force);
      json_real(&k, "normal", t.normal);
      json_vector(&k, "center", t.center);
      json_real(&k, "friction", t.friction);
      json_real(&k, "section", t.section);
    }
    if (c->o->ranges) {
      double range[2] = {x->ranges[i].low, x->ranges[i].high};
      double found[2] = {x->ranges[i].least, x->ranges[i].most};
      json_reals(&k, "range", range, 2);
      json_reals(&k, "range_found", found, 2);
    }
    json_end(&k);
  }
  json_end(&all);
}

static void json_blocks(json_object *j, const stand_case *c, const stand_answers *x) {
  const ds_assembly *a = c->assembly;
  json_object all = json_child(j, "blocks");
  for (int32_t i = 0; i < a->block_count; i++) {
    const ds_block *b = &a->blocks[i];
    json_object k = json_row(&all, i);
    json_text(&k, "name", b->name);
    json_bool(&k, "support", b->support);
    if (!b->support) json_real(&k, "mass", b->mass);
    if (b->support && c->stand.normal) {
      ds_vec3 f, t;
      ds_support_reaction(&f, &t, a, &c->stand, i);
      json_vector(&k, "force", f);
      json_vector(&k, "torque", t);
    }
    const ds_twist *motion[2] = {c->stand.mechanism, c->stand.moving};
    for (int32_t m = 0; m < 2; m++) {
      if (!motion[m]) continue;
      json_vector(&k, m == 0 ? "mechanism" : "acceleration", ds_twist_at(motion[m][i], b->center));
      json_vector(&k, m == 0 ? "mechanism_turn" : "angular_acceleration", motion[m][i].w);
    }
    if (c->o->remove && !b->support) json_text(&k, "without", ds_verdict_name(x->without[i]));
    json_end(&k);
  }
  json_end(&all);
}

void stand_print_json(const stand_case *c, const stand_answers *x) {
  const ds_assembly *a = c->assembly;
  const ds_stand *s = &c->stand;
  json_object j = json_begin(stdout);
  json_text(&j, "source", c->o->words.items[0]);
  json_text(&j, "verdict", ds_verdict_name(s->verdict));
  json_text(&j, "reason", reason_of(s));
  json_real(&j, "margin", s->margin);
  json_real(&j, "residual", s->normal ? s->residual : NAN);
  json_integer(&j, "factorizations", s->factorizations);
  json_real(&j, "time_ms", 1e3 * c->seconds);
  json_real(&j, "tolerance", a->tolerance);
  json_real(&j, "widest_gap", a->widest_gap);
  json_real(&j, "deepest_overlap", a->deepest_overlap);
  if (s->moving) json_real(&j, "moving_share", s->moving_share);
  for (int32_t i = 0; i < x->retry_count; i++)
    json_text(&j, i == 0 ? "verdict_at_0.1_tolerance" : "verdict_at_10_tolerance",
              ds_verdict_name(x->retries[i].verdict));
  json_object loads = json_child(&j, "loads");
  for (int32_t i = 0; i < c->o->loads.count; i++) {
    const ds_multiplier *m = &x->loads[i].result;
    json_object k = json_child(&loads, x->loads[i].text);
    if (x->loads[i].settle) {
      json_settlement(&k, &x->loads[i].settlement);
      json_end(&k);
      continue;
    }
    json_real(&k, "stands", m->stands);
    json_real(&k, "equilibrium", m->equilibrium);
    json_real(&k, "falls", m->falls);
    json_integer(&k, "factorizations", m->factorizations);
    json_real(&k, "time_ms", 1e3 * x->loads[i].seconds);
    json_end(&k);
  }
  json_end(&loads);
  if (c->o->order) json_order(&j, c, x);
  if (c->o->least_mu) {
    json_object k = json_child(&j, "least_mu");
    json_real(&k, "falls", x->mu.falls);
    json_real(&k, "equilibrium", x->mu.equilibrium);
    json_end(&k);
  }
  json_blocks(&j, c, x);
  json_interfaces(&j, c, x);
  json_end(&j);
}
