/* The manual page and the completion of shells, from the table of commands: `drystone help --man`, and
 * `drystone help --completion bash|zsh|fish`. Packages install what they print. */
#include "manual.h"

#include <ctype.h>
#include <string.h>

#include "args.h"
#include "drystone/scene_file.h"
#include "help.h"

/* An option in the text of a command: "  -t, --time S            what it does", with lines that continue below. */
typedef struct option_text {
  char names[96];     /* "-t, --time S" */
  const char *detail; /* what follows them in the line, and ... */
  size_t detail_length;
  const char *next; /* ... the line after it */
} option_text;

static size_t line_length(const char *text) { return strcspn(text, "\n"); }

/* The option that begins in this line; false where none does. */
static bool read_option(option_text *o, const char *line) {
  size_t indent = strspn(line, " "), length = line_length(line), names = 0;
  if ((indent != 2 && indent != 6) || line[indent] != '-') return false;
  const char *at = line + indent;
  while (names < length - indent && !(at[names] == ' ' && at[names + 1] == ' ')) names++;
  if (names > 24) { /* a long name, with one blank before its text: it ends at the first word that is no name */
    const char *blank = memchr(at, ' ', names);
    while (blank != NULL && blank + 1 < at + names && (blank[1] == '-' || isupper((unsigned char)blank[1])))
      blank = memchr(blank + 1, ' ', (size_t)(at + names - blank - 1));
    if (blank != NULL) names = (size_t)(blank - at);
  }
  snprintf(o->names, sizeof o->names, "%.*s", (int)names, at);
  size_t gap = strspn(at + names, " ");
  o->detail = at + names + gap;
  o->detail_length = length > indent + names + gap ? length - indent - names - gap : 0;
  o->next = line + length + (line[length] == '\n');
  return true;
}

/* ---- troff ---- */

static void put_roff(FILE *out, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (i == 0 && (text[i] == '.' || text[i] == '\'')) fputs("\\&", out);
    if (text[i] == '\\')
      fputs("\\e", out);
    else if (text[i] == '-')
      fputs("\\-", out);
    else
      fputc(text[i], out);
  }
  fputc('\n', out);
}

static void put_roff_text(FILE *out, const char *text) { put_roff(out, text, strlen(text)); }

static void put_options(FILE *out, const char *text) {
  option_text o;
  for (const char *line = text; *line != '\0';) {
    size_t length = line_length(line), indent = strspn(line, " ");
    if (read_option(&o, line)) {
      fputs(".TP\n.B ", out);
      put_roff_text(out, o.names);
      if (o.detail_length > 0) put_roff(out, o.detail, o.detail_length);
    } else if (length == 0) {
      fputs(".PP\n", out);
    } else {
      put_roff(out, line + indent, length - indent);
    }
    line += length + (line[length] == '\n');
  }
}

void manual_print(FILE *out) {
  int32_t count;
  const command_entry *entries = command_list(&count);
  fprintf(out, ".TH DRYSTONE 1 \"\" \"drystone %s\" \"User Commands\"\n", ds_version());
  fputs(
      ".SH NAME\ndrystone \\- simulate bodies with exact Coulomb friction, certified in every step\n"
      ".SH SYNOPSIS\n.B drystone\n.I COMMAND\n[\\fIarguments\\fR]\n.SH DESCRIPTION\n"
      "Rigid and deformable bodies with contact and exact Coulomb friction. Every step has a certificate: how well "
      "its\n"
      "impulses solve the contact problem. Scenes are JSON files or come from generators, such as\n"
      ".BR card\\-house:levels=5 .\n.SH COMMANDS\n",
      out);
  for (int32_t i = 0; i < count; i++) {
    fputs(".SS ", out);
    put_roff_text(out, entries[i].usage);
    put_roff_text(out, entries[i].summary);
    if (entries[i].options != NULL) put_options(out, entries[i].options);
  }
  fputs(
      ".SH EXIT STATUS\n0 success; 1 not certified (\\-\\-strict); 2 bad input, or an output that cannot be written; "
      "3, 4, 5\n"
      "of stand: can stand, falls, undecided; 128 + signal after an interrupt.\n.SH ENVIRONMENT\n.TP\n.B "
      "DRYSTONE_CACHE\nfolder for built solids and deformable "
      "bodies\n.TP\n.B DRYSTONE_BROWSER\nthe Chromium that films are made with\n",
      out);
}

/* ---- completion ---- */

/* All names of a command's options, each after `before`: "--time -t --step ...". */
static void put_names(FILE *out, const command_entry *entry, const char *before) {
  option_text o;
  for (const char *line = entry->options != NULL ? entry->options : ""; *line != '\0';) {
    if (read_option(&o, line)) {
      for (const char *word = o.names; *word != '\0';) {
        size_t length = strcspn(word, " ,");
        if (word[0] == '-') fprintf(out, "%s%.*s", before, (int)length, word);
        word += length;
        word += strspn(word, " ,");
      }
    }
    size_t length = line_length(line);
    line += length + (line[length] == '\n');
  }
}

static bool takes_scene(const command_entry *entry) { return strstr(entry->usage, "SOURCE") != NULL; }

static void put_generators(FILE *out, const char *before) {
  int32_t count;
  const ds_generator *generators = ds_generators(&count);
  for (int32_t i = 0; i < count; i++) fprintf(out, "%s%s", before, generators[i].name);
}

static void complete_bash(FILE *out, const command_entry *entries, int32_t count) {
  fputs(
      "# bash completion for drystone; written by 'drystone help --completion bash'\n_drystone() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} names=\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    names=\"",
      out);
  for (int32_t i = 0; i < count; i++) fprintf(out, "%s%s", i > 0 ? " " : "", entries[i].name);
  fputs("\"\n  else\n    case ${COMP_WORDS[1]} in\n", out);
  for (int32_t i = 0; i < count; i++) {
    fprintf(out, "      %s) if [[ $word == -* ]]; then names=\"", entries[i].name);
    put_names(out, &entries[i], " ");
    fputs("\"; else names=\"", out);
    if (takes_scene(&entries[i])) fputs("$_drystone_generators", out);
    if (strcmp(entries[i].name, "help") == 0)
      for (int32_t k = 0; k < count; k++) fprintf(out, " %s", entries[k].name);
    fputs("\"; fi ;;\n", out);
  }
  fputs(
      "    esac\n  fi\n  COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
      "  [[ $COMP_CWORD -gt 1 && $word != -* ]] && COMPREPLY+=($(compgen -f -- \"$word\"))\n}\n_drystone_generators=\"",
      out);
  put_generators(out, " ");
  fputs("\"\ncomplete -o filenames -F _drystone drystone\n", out);
}

static void complete_zsh(FILE *out, const command_entry *entries, int32_t count) {
  fputs(
      "#compdef drystone\n# written by 'drystone help --completion zsh'\n_drystone() {\n  local -a names\n"
      "  if (( CURRENT == 2 )); then\n    names=(",
      out);
  for (int32_t i = 0; i < count; i++) fprintf(out, " %s", entries[i].name);
  fputs(")\n    compadd -a names\n    return\n  fi\n  case $words[2] in\n", out);
  for (int32_t i = 0; i < count; i++) {
    fprintf(out, "    %s) names=(", entries[i].name);
    put_names(out, &entries[i], " ");
    if (takes_scene(&entries[i])) put_generators(out, " ");
    fputs(") ;;\n", out);
  }
  fputs("  esac\n  compadd -a names\n  _files\n}\n_drystone \"$@\"\n", out);
}

static void complete_fish(FILE *out, const command_entry *entries, int32_t count) {
  fputs("# written by 'drystone help --completion fish'\n", out);
  for (int32_t i = 0; i < count; i++) {
    fprintf(out, "complete -c drystone -n __fish_use_subcommand -a %s -d '", entries[i].name);
    for (const char *c = entries[i].summary; *c != '\0'; c++) fprintf(out, *c == '\'' ? "\\'" : "%c", *c);
    fputs("'\n", out);
    fprintf(out, "complete -c drystone -n '__fish_seen_subcommand_from %s' -a '", entries[i].name);
    put_names(out, &entries[i], " ");
    if (takes_scene(&entries[i])) put_generators(out, " ");
    fputs("'\n", out);
  }
}

bool completion_print(FILE *out, const char *shell) {
  int32_t count;
  const command_entry *entries = command_list(&count);
  if (strcmp(shell, "bash") == 0)
    complete_bash(out, entries, count);
  else if (strcmp(shell, "zsh") == 0)
    complete_zsh(out, entries, count);
  else if (strcmp(shell, "fish") == 0)
    complete_fish(out, entries, count);
  else
    return false;
  return true;
}
