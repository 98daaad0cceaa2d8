/* The answer to STAND: whether the bodies stand as they are, with other friction, on tilted ground, or without a body.
 */
#ifndef DS_CLI_VIEW_VERDICT_H
#define DS_CLI_VIEW_VERDICT_H

#include "commands.h"
#include "drystone/drystone.h"

#define VIEW_NO_BODY UINT32_MAX /* nothing is removed */

/* NULL with a message. */
view_message *view_verdict_message(const ds_scene *scene, const ds_state *state, const view_command *command,
                                   ds_error *error);

#endif
