/* Prints the content of body files and tetrahedra. */
#ifndef DS_CLI_INFO_REDUCED_H
#define DS_CLI_INFO_REDUCED_H

#include "drystone/reduce.h"

/* Of a body file: prints it; the exit status. */
int info_reduced(const char *path);
/* One line, of a scene or a recording in which `users` bodies are made of it. */
void info_reduced_line(const ds_reduced *reduced, int32_t users);
/* Lines of all that is known of it: material, modes, frequencies. */
void info_reduced_print(const ds_reduced_info *info);
/* Lines of tetrahedra: how many, their angles and edges. */
void info_tets_print(const ds_tets *tets, const ds_tets_report *report);

#endif
