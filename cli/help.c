/* The table of commands and the help made from it. docs/program.md has the details. */
#include "help.h"

#include <string.h>

#include "args.h"
#include "command.h"
#include "drystone/drystone.h"

static const char source_note[] =
    "SOURCE is a scene file, a generator with parameters (card-house:levels=5,mu=0.7), or a body file: its body is\n"
    "dropped on a floor\n";

static const char mesh_note[] =
    "MESH is a surface (.obj, .stl, .ply, .msh), tetrahedra (.msh, .vtk, .veg, .node, .ele), figure:NAME (listed by\n"
    "'drystone figures'), or recipe:FILE.json\n";

#define CACHE_OPTIONS                                                                                      \
  "      --cache DIR         folder for built solids; default $DRYSTONE_CACHE, $XDG_CACHE_HOME/drystone, " \
  "~/.cache/drystone\n"                                                                                    \
  "      --no-cache          build everything again\n"

static const char run_options[] =
    "  -t, --time S            simulate S seconds instead of the time of the scene\n"
    "      --until-moved M     end as soon as a body is more than M metres from its start\n"
    "      --step S            length of a time step, s\n"
    "      --tol E             natural-map error at which an island counts as converged, in every step;\n"
    "                          default: 1e-8 where nothing slides, at most 1e-4 where contacts slide\n"
    "      --error-control V   bound on the error of positions per second that steps add, m/s (default 0: none)\n"
    "      --step-budget N     limit of factorizations per solve of an island (default 2000; 0: no limit)\n"
    "      --deadline S        wall time for the contacts of a step; a contact projection ends it (default 0: none)\n"
    "      --method NAME       the solver: see below\n"
    "      --integrator NAME   of rigid bodies: euler; midpoint: second order, impacts at their time; or auto\n"
    "                          (default): midpoint, but euler for many bodies while something lands among them\n"
    "      --restitution-law NAME  newton (default), poisson, or energetic: no impact adds energy\n"
    "      --impacts ORDER     of bodies that touch: simultaneous (default), or sequential: pair after pair\n"
    "      --face-pressure P   for friction between faces: corners (default), or even: right torques\n"
    "      --metric NAME       for contact with deformable bodies: effective (default) or mass, as in SP08\n"
    "  -j, --threads N         threads; 0 = all cores (default). Results do not depend on it\n"
    "  -o, --record FILE.h5    record poses, velocities, contacts and certificates\n"
    "      --from FILE.h5      continue where a recording of the same bodies ends; --time is the end\n"
    "      --record-every N    record every Nth step (default 1); the start and the end are always recorded\n"
    "      --report FILE.json  write the report; '-' writes it to stdout in place of the summary\n"
    "      --dump-problems DIR write the contact problems of islands to files for 'drystone solve'\n"
    "      --dump-when WHICH   unconverged (default), every=N: those of every Nth step, slowest=K: the K slowest\n"
    "      --set PATH=VALUE    change a value of the scene, e.g. options.tolerance=1e-6; may be "
    "repeated\n" CACHE_OPTIONS
    "      --strict            exit with status 1 if any step or its motion did not pass its certificate\n"
    "  -q, --quiet             no progress line and no summary\n";

static const char compare_options[] =
    "  -m, --methods LIST      names separated by commas, each with options of the scene after colons, such as\n"
    "                          coupled,pgs:cold,pgs:max_iterations=12; default: all but lcp, sqp\n"
    "                          and those on the disk\n"
    "  -t, --time S            simulate S seconds instead of the time of the scene\n"
    "      --step S            length of a time step, s\n"
    "      --limit S           wall time for each method, s (default 60)\n"
    "  -o, --output FILE.html  the page (default compare.html)\n"
    "      --set PATH=VALUE    change a value of the scene; may be repeated\n"
    "  -q, --quiet             no progress line\n";

static const char sweep_options[] =
    "  -o, --output DIR        folder for results (default: FILE without .json, and .sweep)\n"
    "  -j, --workers N         processes on this machine, one run each at a time; 0 = one per core (default)\n"
    "      --worker            be one worker of many, as in a job of Slurm or Open MPI, where it is the default\n"
    "      --collect           write tables and maps of what is finished, and run nothing\n"
    "      --list              print the command of every run\n"
    "      --show N            print the command of run N\n"
    "      --retry             do failed runs again\n"
    "      --strict            exit with status 1 if a run failed\n"
    "  -q, --quiet             no progress line and no summary\n";

static const char solve_options[] =
    "      --tol E             scale-free natural-map error to reach (default 1e-8)\n"
    "      --method NAME       the solver: see below\n"
    "      --max-iterations N  limit of staggered iterations, or of Gauss-Seidel sweeps\n"
    "      --budget N          limit of factorizations per independent part (default 20000; 0: no limit)\n"
    "      --as-step           solve like a step of a simulation: a dumped step gives the same bits; --tol 0\n"
    "                          chooses the tolerance as in a run without --tol\n"
    "      --asymmetric        also correct for the skew part of W; default: solve the symmetric part\n"
    "      --cold              start from zero, not from the file's guess\n"
    "  -j, --threads N         threads, default 1; 0 = all cores. Results do not depend on it\n"
    "      --json              one JSON object per line instead of the table\n"
    "      --rank              also compute the rank of W, which may take much longer than the solve\n"
    "      --write-solution FILE.hdf5      write problem and solution; one FILE only\n"
    "      --write-problem FILE.hdf5|.dat  write the problem in FCLIB's or Siconos' format; one FILE only\n"
    "      --strict            exit with status 1 if any problem is not solved\n";

static const char reduce_options[] =
    "  -o, --output BODY.h5    the body\n"
    "      --young E           Young's modulus, Pa (default 1e6)\n"
    "      --poisson NU        Poisson's ratio, between -1 and 0.5 (default 0.3)\n"
    "      --density D         kg/m³ (default 1000); a filled surface keeps the mass of its own volume\n"
    "      --mass M            kg, in place of a density\n"
    "      --modes R           reduced coordinates (default 12)\n"
    "      --stvk              large deformation: St. Venant-Kirchhoff on modes and modal derivatives\n"
    "      --damping-mass A    Rayleigh damping, 1/s (default 0)\n"
    "      --damping-stiffness B  the same, s (default 0.001)\n"
    "      --cell L            of a surface: cells of L metres are cut into tetrahedra\n"
    "      --tets N            of a surface: about N tetrahedra (default 4000)\n"
    "      --scale F           multiply the coordinates: 0.001 for a mesh in mm\n"
    "      --name NAME         name of the body; default: the name of the mesh\n"
    "      --pictures PREFIX   PREFIX-01.png, ...: a picture of each mode\n"
    "      --json              the report as JSON\n"
    "  -j, --threads N         threads; 0 = all cores (default). Results do not depend on it\n" CACHE_OPTIONS
    "  -q, --quiet             no progress line and no report\n";

static const char touch_options[] =
    "  -d, --device DEVICE     operator: a simulated hand that stirs (default); trace:FILE: lines t x y z [qw qx qy "
    "qz];\n"
    "                          udp:PORT: datagrams of another program (docs/touch.md); port 0 = any\n"
    "      --tool NAME         the body that follows the device; default: the one named tool, else the first dynamic "
    "one\n"
    "  -t, --time S            run for S seconds instead of the time of the scene\n"
    "      --rate HZ           ticks per second (default 1000); the step is 1/HZ\n"
    "      --deadline S        wall time for a step's contacts (default 0.85/HZ); 0 = none\n"
    "      --stiffness K       stiffness of the coupling, N/m (default 300); 0 = from the tool's mass\n"
    "      --max-force F       largest force sent to the device, N (default 10)\n"
    "      --reach L           amplitude of the simulated hand, m (default 0.05)\n"
    "      --absolute          device coordinates are scene coordinates; default: the device starts at the tool\n"
    "      --bind ADDRESS      address for UDP (default 127.0.0.1: this machine only)\n"
    "      --free-run          no clock and no deadline: ticks follow at once, reproducible\n"
    "      --realtime          ask the system for real-time priority\n"
    "      --spin S            busy-wait for the last S seconds before each tick: fewer late ticks, more processor "
    "time\n"
    "                          (default 0; with --realtime 0.3/HZ)\n"
    "  -o, --record FILE.h5    record 60 frames per second, for draw, view and film\n"
    "      --report FILE.json  distribution of step times and counts; '-' writes it to stdout\n"
    "      --set PATH=VALUE    change a value of the scene; may be repeated\n" CACHE_OPTIONS
    "  -q, --quiet             no summary\n";

static const char check_options[] =
    "      --set PATH=VALUE    change a value first; may be repeated\n"
    "      --scale F           multiply the coordinates of meshes\n" CACHE_OPTIONS
    "  -q, --quiet             print errors only\n";

static const char stand_options[] =
    "FILE is a scene file, a generator with parameters, a recording, an assembly of compas_assembly or compas_cra\n"
    "(JSON), toy bricks of StableLego (JSON), or OBJ with a group per block\n\n"
    "      --mu F              friction of all interfaces; default: the scene's, 0.84 for assemblies\n"
    "      --supports LIST     blocks that are fixed, besides those that FILE marks: 0,1\n"
    "      --density D         of an assembly, kg/m³ (default 2500)\n"
    "      --tolerance L       m: faces touch where gaps are at most this; default: 1e-4 of the mean block\n"
    "      --load CASE         how far a load can grow; may be repeated:\n"
    "                          tilt:DIR   the ground is tilted towards DIR: x, y, -x, -y or an azimuth in degrees\n"
    "                          push:DIR   a horizontal acceleration, in g\n"
    "                          point:BLOCK,FX,FY,FZ   a force at the centre of a block, as a multiple of it, N\n"
    "                          settle:SUPPORT,X,Y,Z   a support gives way a little\n"
    "      --interfaces FILE   friction, cohesion and strength by interface, cables and loads (JSON)\n"
    "      --cohesion PA       of all interfaces, Pa\n"
    "      --strength PA       compressive strength of all interfaces, Pa; default: unlimited\n"
    "      --clutch F          what a point of a toy brick's knob holds, N (default 0.98)\n"
    "  -t, --time T            the frame of a recording nearest to T seconds; default: the last\n"
    "      --least-mu          the least friction with which an equilibrium exists\n"
    "      --ranges            of every normal force: its least and largest value in any equilibrium\n"
    "      --remove            which blocks can be removed, one at a time\n"
    "      --order             an order of assembly in which every stage stands\n"
    "  -o, --output FILE       a picture, .png or .svg; .h5: a recording of the first motion, for film and view;\n"
    "                          .json: the blocks and their interfaces as a scene, for run\n"
    "      --polar FILE        the limit of tilt by azimuth, .png or .svg\n"
    "      --size WxH          of the picture (default 1280x720)\n"
    "      --view AZ,EL        direction of the camera in degrees\n"
    "      --quick             forces or a mechanism alone: no margin, no proof in the plane, no moving solutions\n"
    "  -a, --all               list all interfaces and supports; default: the 32 that are used most\n"
    "      --certificate FILE  write the proof, for 'drystone verify' and scripts/verify-stand.py\n"
    "      --set PATH=VALUE    change a value of the scene first; may be repeated\n" CACHE_OPTIONS
    "      --json              one JSON object\n\n"
    "Exit status: 0 STANDS, 3 CAN STAND, 4 FALLS, 5 UNDECIDED, 2 bad input\n";

static const char info_options[] =
    "  -a, --all               list all bodies\n"
    "      --set PATH=VALUE    change a value first; may be repeated\n"
    "      --density D         of a mesh, kg/m³ (default 1000)\n"
    "      --scale F           multiply the coordinates of a mesh: 0.001 for one in mm\n"
    "  -j, --threads N         threads to build solids with; 0 = all cores (default)\n" CACHE_OPTIONS;

static const char scenes_options[] = "      --brief             names only, without parameters\n";

static const char scene_options[] = "      --set PATH=VALUE    change a value; may be repeated\n";

static const char draw_options[] =
    "  -o, --output FILE       the picture: .png, .svg or .pdf\n"
    "  -t, --time S            the moment of a recording to draw (default: its end)\n"
    "      --size WxH          pixels (default 1280x720)\n"
    "      --view AZ,EL        direction of the camera: azimuth and elevation in degrees, such as -60,20\n"
    "      --look X,Y,Z        the point it looks at, m\n"
    "      --zoom F            0.01 to 100 (default 1)\n"
    "      --hide NAMES        omit bodies: names separated by commas, a final * matches any ending; may be repeated\n"
    "      --contacts          show contacts and their forces, with a scale\n"
    "      --force-scale F     arrows of F metres per newton, to compare pictures; default: by the largest force\n"
    "      --joints            show joints\n"
    "      --dark              dark background\n"
    "      --set PATH=VALUE    change a value of a scene first; may be repeated\n"
    "      --scale F           multiply the coordinates of a mesh\n";

static const char plot_options[] =
    "  -o, --output FILE       the picture: .png, .svg or .pdf\n"
    "      --what NAMES        curves, separated by commas, out of energy, contacts, natural_error, iterations, "
    "residual, speed,\n"
    "                          penetration, ms\n"
    "      --size WxH          pixels\n"
    "      --dark              dark background\n";

static const char export_options[] =
    "  -o, --output FILE       .glb or .gltf (glTF 2.0), .pvd (ParaView), .usda (USD), .obj (a file per frame), .csv\n"
    "      --from S, --to S    the part of the recording to write\n"
    "      --rate N            at most N frames per second; default: all that were recorded\n"
    "      --what TABLE        of .csv: report (default), bodies, contacts or joints\n"
    "  -q, --quiet             no summary\n";

#ifdef DRYSTONE_VIEW
static const char view_options[] =
    "      --port N            port to listen on; 0 = a free port (default)\n"
    "      --bind ADDRESS      listen on this address instead of 127.0.0.1, so that other machines can connect\n"
    "      --no-open           print the URL only, open no browser\n"
    "      --embed             other pages, such as notebooks, may show it in a frame\n"
    "      --export DIR        write the recording and the page to a folder, for any web server\n"
    "      --set PATH=VALUE    change a value of the scene first; may be repeated\n"
    "      --step S            length of a time step, s\n"
    "      --tol E             natural-map error at which an island counts as converged, in every step;\n"
    "                          default: 1e-8 where nothing slides, at most 1e-4 where contacts slide\n"
    "      --step-budget N     limit of factorizations per solve of an island (default 2000; 0: no limit)\n"
    "      --method NAME       the solver: see below\n"
    "      --integrator NAME   of rigid bodies: euler; midpoint: second order, impacts at their time; or auto\n"
    "                          (default): midpoint, but euler for many bodies while something lands among them\n"
    "      --restitution-law NAME  newton (default), poisson, or energetic: no impact adds energy\n"
    "      --impacts ORDER     of bodies that touch: simultaneous (default), or sequential: pair after pair\n"
    "      --face-pressure P   for friction between faces: corners (default), or even: right torques\n"
    "      --metric NAME       for contact with deformable bodies: effective (default) or mass, as in SP08\n"
    "  -j, --threads N         threads; 0 = all cores (default)\n" CACHE_OPTIONS;

static const char film_options[] =
    "  -o, --output FILE       .mp4 or .gif, or a folder for images; its name ends in /\n"
    "      --size WxH          pixels (default 1280x720)\n"
    "      --rate N            frame rate, frames per second (default 30)\n"
    "      --speed F           playback speed: 0.25 = four times slower than real time (default 1)\n"
    "      --show NAMES        contacts, forces, normal, friction, cones, islands, joints, separated by commas\n"
    "      --from S, --to S    the part of the recording to show\n"
    "      --view AZ,EL        direction of the camera: azimuth and elevation in degrees, such as -60,20\n"
    "      --look X,Y,Z        the point it looks at, m\n"
    "      --zoom F            0.01 to 100 (default 1)\n"
    "      --follow NAME       a body that stays in the middle\n"
    "      --dark              dark background\n"
    "  -q, --quiet             no progress line and no summary\n";
#endif

static const char help_options[] =
    "      --man               the manual page, for man(1)\n"
    "      --completion SHELL  completion of commands and options for bash, zsh or fish\n";

static const command_entry entries[] = {
    {"run", command_run, "run SOURCE [options]", "simulate a scene", run_options},
    {"solve", command_solve, "solve FILE... [options]",
     "solve frictional contact problems: FCLIB's .hdf5, Siconos' .dat", solve_options},
    {"compare", command_compare, "compare SOURCE [options]",
     "run a scene with several methods: which stands, which is certified, what each costs", compare_options},
    {"sweep", command_sweep, "sweep FILE.json [options]",
     "run a scene with many values of its parameters; continues where it was interrupted", sweep_options},
    {"touch", command_touch, "touch SOURCE [options]",
     "move a tool of a scene with a haptic device, 1,000 times per second", touch_options},
    {"reduce", command_reduce, "reduce MESH|RECIPE.json|FIGURE -o BODY.h5 [options]",
     "make a deformable body from a mesh, for scenes and 'drystone run BODY.h5'", reduce_options},
    {"check", command_check, "check SOURCE|MESH|BODY.h5... [options]", "check scenes, meshes and body files",
     check_options},
    {"stand", command_stand, "stand FILE [options]", "prove that an assembly of blocks stands, or that it falls",
     stand_options},
    {"verify", command_verify, "verify CERTIFICATE...", "check certificates of 'drystone stand'", NULL},
    {"info", command_info, "info SOURCE|RECORD.h5|MESH|BODY.h5 [options]",
     "show the content of a scene, a recording, a mesh or a body file", info_options},
    {"scenes", command_scenes, "scenes [NAME...] [options]", "list the generators and their parameters",
     scenes_options},
    {"scene", command_scene, "scene NAME [key=value...] [options]", "write a generator's scene as JSON to stdout",
     scene_options},
    {"figures", command_figures, "figures", "list the built-in figures for solids", NULL},
    {"draw", command_draw, "draw RECORD.h5|SOURCE|MESH|BODY.h5 -o FILE.png|.svg|.pdf [options]",
     "draw one frame of a recording, a scene, a mesh or a body", draw_options},
    {"plot", command_plot, "plot RECORD.h5... -o FILE.png|.svg|.pdf [options]",
     "plot quantities of recordings over time", plot_options},
    {"export", command_export, "export RECORD.h5 -o FILE.glb|.gltf|.pvd|.usda|.obj|.csv [options]",
     "write a recording for other programs: Blender, ParaView, USD, spreadsheets", export_options},
#ifdef DRYSTONE_VIEW
    {"view", command_view, "view SOURCE|RECORD.h5 [RECORD.h5] [options]",
     "show a live scene or a recording in the browser", view_options},
    {"film", command_film, "film RECORD.h5 -o FILE.mp4|FILE.gif|DIR/ [options]",
     "make a film from a recording; needs Chromium, and ffmpeg for .mp4 and .gif", film_options},
#endif
    {"help", command_help, "help [COMMAND] [options]", "show this list, or the options of a command", help_options},
    {"version", command_version, "version", "print the version of the library", NULL},
};
enum { ENTRY_COUNT = (int)(sizeof entries / sizeof *entries) };

const command_entry *command_list(int32_t *count) {
  *count = ENTRY_COUNT;
  return entries;
}

const command_entry *command_find(const char *name) {
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (strcmp(entries[i].name, name) == 0) return &entries[i];
  return NULL;
}

const char *command_nearest(const char *name) {
  const char *names[ENTRY_COUNT];
  for (int i = 0; i < ENTRY_COUNT; i++) names[i] = entries[i].name;
  return args_nearest(name, names, ENTRY_COUNT);
}

void command_print_all(FILE *out) {
  fputs("drystone COMMAND ...: simulate bodies with exact Coulomb friction, certified in every step\n\n", out);
  for (int i = 0; i < ENTRY_COUNT; i++) fprintf(out, "  %-8s %s\n", entries[i].name, entries[i].summary);
  fputs(
      "\n'drystone help COMMAND' lists the options. Exit status: 0 success; 1 not certified (--strict);\n"
      "2 bad input, or an output that cannot be written; 128 + signal after an interrupt.\n",
      out);
}

void command_print_one(FILE *out, const command_entry *entry) {
  fprintf(out, "drystone %s\n  %s\n", entry->usage, entry->summary);
  bool source = strstr(entry->usage, "SOURCE") != NULL;
  if (source) fprintf(out, "\n%s", source_note);
  if (strstr(entry->usage, "MESH") != NULL) fprintf(out, "%s%s", source ? "" : "\n", mesh_note);
  if (entry->options != NULL) fprintf(out, "\n%s", entry->options);
  if (entry->options == NULL || strstr(entry->options, "--method") == NULL) return;
  fputs("\nSolvers:\n", out);
  for (ds_method i = 0; ds_method_name(i) != NULL; i++)
    fprintf(out, "  %-14s %s\n", ds_method_name(i), ds_method_summary(i));
}
