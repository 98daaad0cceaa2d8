/* drystone solve: frictional contact problems from files, one row or one JSON object each. docs/problems.md has the
 * formats and what the figures mean.
 *
 * A file that cannot be used gets a message, the others are solved. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "base/thread.h"
#include "command.h"
#include "drystone/drystone.h"
#include "drystone/problem.h"
#include "io/problem_file.h"
#include "output.h"
#include "progress.h"
#include "source.h"

typedef struct solve_options {
  arg_list files;
  ds_solve_options solver;
  const char *write_solution, *write_problem;
  bool json, strict, cold, rank;
} solve_options;

/* The result of one file. */
typedef struct solve_row {
  const char *path;
  const ds_problem *problem;
  ds_solution solution;
  int32_t rank;   /* of W; -1 = not asked for, or too large to find */
  double seconds; /* of ds_problem_solve alone */
} solve_row;

static int complain(const char *message) {
  fprintf(stderr, "drystone solve: %s\n", message);
  return EXIT_INPUT;
}

/* ---- Arguments ---- */

static bool parse(solve_options *o, const char **words, int argc, char **argv) {
  ds_solve_options *s = &o->solver;
  *s = ds_default_solve_options();
  ds_method_list methods = ds_method_choices();
  bool has_limit = false;
  const arg_option table[] = {
      {"--tol", NULL, ARG_REAL, &s->tolerance, 0, 1, NULL, NULL},
      {"--budget", NULL, ARG_REAL, &s->budget, 0, 1e9, NULL, NULL},
      {"--method", NULL, ARG_CHOICE, &s->method, 0, 0, methods.text, NULL},
      {"--max-iterations", NULL, ARG_INTEGER, &s->max_iterations, 1, 1e9, NULL, &has_limit},
      {"--asymmetric", NULL, ARG_FLAG, &s->asymmetric, 0, 0, NULL, NULL},
      {"--as-step", NULL, ARG_FLAG, &s->as_step, 0, 0, NULL, NULL},
      {"--cold", NULL, ARG_FLAG, &o->cold, 0, 0, NULL, NULL},
      {"--threads", "-j", ARG_INTEGER, &s->threads, 0, 256, NULL, NULL},
      {"--json", NULL, ARG_FLAG, &o->json, 0, 0, NULL, NULL},
      {"--write-solution", NULL, ARG_TEXT, &o->write_solution, 0, 0, NULL, NULL},
      {"--write-problem", NULL, ARG_TEXT, &o->write_problem, 0, 0, NULL, NULL},
      {"--rank", NULL, ARG_FLAG, &o->rank, 0, 0, NULL, NULL},
      {"--strict", NULL, ARG_FLAG, &o->strict, 0, 0, NULL, NULL},
  };
  o->files = (arg_list){words, 0};
  if (!args_parse(&o->files, argc, argv, table, (int32_t)(sizeof table / sizeof *table))) return false;
  const char *wrong = NULL;
  ds_options usual = ds_default_options();
  ds_options_choose(&usual, s->method);
  if (!has_limit) s->max_iterations = usual.max_iterations;
  if (o->files.count == 0)
    wrong = "give one or more problem files, FCLIB's .hdf5 or Siconos' .dat";
  else if (o->files.count > 1 && (o->write_solution != NULL || o->write_problem != NULL))
    wrong = "--write-solution and --write-problem need exactly one problem file";
  else if (o->write_solution != NULL && o->write_problem != NULL &&
           source_same_file(o->write_solution, o->write_problem))
    wrong = "--write-solution and --write-problem must be different files";
  if (wrong != NULL) complain(wrong);
  return wrong == NULL;
}

/* ---- Output ---- */

static const char *outcome_name(ds_outcome outcome) {
  switch (outcome) {
    case DS_SOLVED:
      return "solved";
    case DS_UNSOLVED:
      return "unsolved";
    case DS_JAM:
      return "jam";
    case DS_NO_SOLUTION:
      break;
  }
  return "no solution";
}

static int32_t iterations(const ds_certificate *c) { return c->staggered_iterations + c->projection_iterations; }

static void print_json(const solve_row *row) {
  const ds_problem *p = row->problem;
  const ds_solution *s = &row->solution;
  const ds_certificate *c = &s->certificate;
  json_object j = json_begin_line(stdout);
  json_text(&j, "file", row->path);
  json_text(&j, "form", p->form == DS_PROBLEM_LOCAL ? "local" : "global");
  json_integer(&j, "dimension", p->dimension);
  json_integer(&j, "contacts", p->contacts);
  if (p->form == DS_PROBLEM_LOCAL)
    json_text(&j, "dof", NULL);
  else
    json_integer(&j, "dof", p->dof);
  json_integer(&j, "equalities", p->equalities);
  if (row->rank < 0)
    json_text(&j, "rank", NULL);
  else
    json_integer(&j, "rank", row->rank);
  json_integer(&j, "islands", s->islands);
  json_bool(&j, "converged", c->converged);
  json_text(&j, "outcome", outcome_name(s->outcome));
  json_real(&j, "natural_error", c->natural_error);
  json_real(&j, "siconos_error", s->siconos_error);
  json_real(&j, "asymmetry", s->asymmetry);
  json_real(&j, "asymmetric_error", s->asymmetric_error);
  json_real(&j, "cone_violation", c->cone_violation);
  json_real(&j, "complementarity", s->complementarity);
  json_real(&j, "dissipation_error", c->dissipation_error);
  json_real(&j, "approach_velocity", c->approach_velocity);
  json_real(&j, "residual", c->residual);
  json_real(&j, "conflict", s->conflict);
  json_bool(&j, "unbounded", s->certificate.unbounded);
  json_integer(&j, "iterations", iterations(c));
  json_integer(&j, "factorizations", c->factorizations);
  json_real(&j, "time_ms", 1e3 * row->seconds);
  json_text(&j, "path", s->path);
  json_end(&j);
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static int name_width(const arg_list *files) {
  size_t width = strlen("file");
  for (int32_t i = 0; i < files->count; i++)
    if (strlen(base_name(files->items[i])) > width) width = strlen(base_name(files->items[i]));
  return (int)(width < 64 ? width : 64);
}

static void print_head(int width) {
  printf("%-*s %8s %7s %6s %7s  %-11s %8s %8s %8s %8s %8s %6s %6s %10s  %s\n", width, "file", "contacts", "dof", "rank",
         "islands", "outcome", "error", "siconos", "cone", "compl", "dissip", "iter", "factor", "ms", "path");
}

static void print_row(const solve_row *row, int width) {
  const ds_problem *p = row->problem;
  const ds_solution *s = &row->solution;
  const ds_certificate *c = &s->certificate;
  char dof[16] = "-", rank[16] = "-";
  if (p->form == DS_PROBLEM_GLOBAL) snprintf(dof, sizeof dof, "%d", (int)p->dof);
  if (row->rank >= 0) snprintf(rank, sizeof rank, "%d", (int)row->rank);
  printf("%-*s %8d %7s %6s %7d  %-11s %8.1e %8.1e %8.1e %8.1e %8.1e %6d %6d %10.3f  %s\n", width, base_name(row->path),
         (int)p->contacts, dof, rank, (int)s->islands, outcome_name(s->outcome), c->natural_error, s->siconos_error,
         c->cone_violation, s->complementarity, c->dissipation_error, (int)iterations(c), (int)c->factorizations,
         1e3 * row->seconds, s->path);
  if (s->asymmetry > 1e-12)
    printf("%-*s %s is asymmetric by %.1e; error as given %.1e\n", width, "", p->form == DS_PROBLEM_LOCAL ? "W" : "M",
           s->asymmetry, s->asymmetric_error);
  if (s->outcome == DS_NO_SOLUTION)
    printf("%-*s infeasible: no velocity prevents penetration at all contacts; conflict %.1e\n", width, "",
           s->conflict);
  else if (s->outcome == DS_JAM)
    printf("%-*s impulses grow without bound on every path to a solution: probably infeasible\n", width, "");
}

static void show_progress(progress *line, int32_t index, int32_t count, const char *path) {
  if (!line->shown || count < 2) return;
  fprintf(stderr, "\r%d of %d  %s\033[K", (int)index + 1, (int)count, base_name(path));
  fflush(stderr);
}

static void clear_progress(const progress *line) {
  if (!line->shown) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
}

/* ---- One file ---- */

/* r, u and v of a problem, in one piece. */
typedef struct unknowns {
  double *r, *u, *v;
} unknowns;

static bool unknowns_create(unknowns *x, const ds_problem_file *file, bool cold) {
  const ds_problem *p = &file->problem;
  size_t rows = (size_t)p->dimension * (size_t)p->contacts, dof = p->form == DS_PROBLEM_GLOBAL ? (size_t)p->dof : 0;
  x->r = calloc(2 * rows + dof + 1, sizeof *x->r);
  if (x->r == NULL) return false;
  x->u = x->r + rows;
  x->v = p->form == DS_PROBLEM_GLOBAL ? x->u + rows : NULL;
  if (file->guess != NULL && !cold) memcpy(x->r, file->guess, rows * sizeof *x->r);
  return true;
}

static ds_status solve_problem(solve_row *row, const ds_problem_file *file, const solve_options *o, ds_error *error) {
  const char *title = file->title;
  const double *guess = o->cold ? NULL : file->guess;
  ds_status status = DS_OK;
  if (o->write_problem != NULL) status = ds_problem_file_write(o->write_problem, &file->problem, guess, title, error);
  if (status != DS_OK) return status;
  unknowns x;
  if (!unknowns_create(&x, file, o->cold)) {
    snprintf(error->message, sizeof error->message, "%.300s: out of memory", row->path);
    return DS_ERROR_MEMORY;
  }
  ds_error why = {{0}};
  double start = ds_clock();
  status = ds_problem_solve(&file->problem, &o->solver, x.r, x.u, x.v, &row->solution, &why);
  row->seconds = ds_clock() - start;
  int32_t rank;
  if (status == DS_OK && o->rank && ds_problem_rank(&rank, &file->problem, &why) == DS_OK) row->rank = rank;
  if (status != DS_OK)
    snprintf(error->message, sizeof error->message, "%.200s: %.300s", row->path,
             why.message[0] != '\0' ? why.message : "out of memory");
  else if (o->write_solution != NULL)
    status = ds_solution_file_write(o->write_solution, &file->problem, x.r, x.u, x.v, title, error);
  free(x.r);
  return status;
}

static int solve_file(progress *line, bool *head, const solve_options *o, int32_t index) {
  solve_row row = {.path = o->files.items[index], .rank = -1};
  ds_error error = {{0}};
  show_progress(line, index, o->files.count, row.path);
  ds_problem_file *file = ds_problem_file_read(row.path, &error);
  ds_status status = file != NULL ? solve_problem(&row, file, o, &error) : DS_ERROR_INPUT;
  clear_progress(line);
  int code = EXIT_OK;
  if (status != DS_OK) {
    code = complain(error.message);
  } else {
    row.problem = &file->problem;
    if (!o->json && !*head) print_head(name_width(&o->files));
    *head = true;
    if (o->json)
      print_json(&row);
    else
      print_row(&row, name_width(&o->files));
    fflush(stdout);
    if (o->strict && row.solution.outcome != DS_SOLVED) code = EXIT_UNCERTIFIED;
  }
  ds_problem_file_free(file);
  return code;
}

int command_solve(int argc, char **argv) {
  solve_options o = {0};
  const char **words = calloc((size_t)argc + 1, sizeof *words);
  if (words == NULL) return complain("out of memory");
  int status = EXIT_INPUT;
  if (parse(&o, words, argc, argv)) {
    progress line;
    progress_begin(&line, false, 0);
    status = EXIT_OK;
    int32_t unsolved = 0;
    bool head = false; /* the table's head is printed */
    for (int32_t i = 0; i < o.files.count; i++) {
      int code = solve_file(&line, &head, &o, i);
      unsolved += code == EXIT_UNCERTIFIED;
      if (code > status) status = code; /* bad input outweighs a failed certificate */
    }
    if (unsolved > 0)
      fprintf(stderr, "drystone solve: %d of %d problems have no certified solution\n", (int)unsolved,
              (int)o.files.count);
  }
  free(words);
  return status;
}
