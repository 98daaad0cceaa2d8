/* The hand of a session: one client at a time holds one body, by drystone/touch.h. */
#ifndef DS_CLI_VIEW_HOLD_H
#define DS_CLI_VIEW_HOLD_H

#include "commands.h"
#include "drystone/touch.h"
#include "frame.h"

typedef struct view_hold {
  ds_hand_id hand; /* zero = nothing is held */
  uint32_t client; /* whose */
} view_hold;

/* GRAB, MOVE, RELEASE; also when a client has gone. False with a message where it cannot be done. */
bool view_hold_take(view_hold *hold, ds_state *state, const ds_scene *scene, const view_command *command,
                    ds_error *error);
void view_hold_move(const view_hold *hold, ds_state *state, const view_command *command);
void view_hold_release(view_hold *hold, ds_state *state, uint32_t client);
view_hand view_hold_read(const view_hold *hold, const ds_state *state);

#endif
