/* The commands of the program. Each takes its own arguments, argv[0] being the command's name, and returns the exit
 * status: 0, 1 if a step or problem is not certified, with --strict, 2 for bad input, 130 after an interrupt. `stand`
 * has 3 to 5 of its own. */
#ifndef DS_CLI_COMMAND_H
#define DS_CLI_COMMAND_H

enum { EXIT_OK = 0, EXIT_UNCERTIFIED = 1, EXIT_INPUT = 2, EXIT_INTERRUPTED = 130 };

int command_run(int argc, char **argv);
int command_solve(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_reduce(int argc, char **argv);
int command_touch(int argc, char **argv);
int command_check(int argc, char **argv);
int command_stand(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_info(int argc, char **argv);
int command_scenes(int argc, char **argv);
int command_figures(int argc, char **argv);
int command_scene(int argc, char **argv);
int command_draw(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_export(int argc, char **argv);
int command_view(int argc, char **argv);
int command_film(int argc, char **argv);
int command_help(int argc, char **argv);
int command_version(int argc, char **argv);

#endif
