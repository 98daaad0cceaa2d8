/* The kinds of bodies, one line each. */
#include "body/kind.h"

extern const ds_body_ops ds_body_static, ds_body_scripted, ds_body_modal, ds_body_stvk, ds_body_rigid;

/* The first that takes a body is its kind: rigid comes last, it takes any dynamic one. */
const ds_body_ops *const ds_body_kinds[] = {
    &ds_body_static,   /* kind/static.c */
    &ds_body_scripted, /* kind/scripted.c */
    &ds_body_stvk,     /* kind/reduced.c */
    &ds_body_modal,    /* kind/reduced.c */
    &ds_body_rigid,    /* kind/rigid.c */
};
const int32_t ds_body_kind_count = (int32_t)(sizeof ds_body_kinds / sizeof *ds_body_kinds);

const ds_body_ops *ds_body_choose_kind(const ds_body *body) {
  for (int32_t i = 0; i < ds_body_kind_count; i++)
    if (ds_body_kinds[i]->takes(body)) return ds_body_kinds[i];
  return NULL;
}
