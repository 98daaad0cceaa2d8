/* SIGINT, SIGTERM and SIGHUP: remembered, so that what runs ends in order; a second one ends the program. */
#ifndef DS_CLI_VIEW_INTERRUPT_H
#define DS_CLI_VIEW_INTERRUPT_H

void interrupt_catch(void);
int interrupt_caught(void); /* the signal's number, 0 = none */

#endif
