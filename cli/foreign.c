/* Files that are no scenes: see foreign.h. A name that ends in .json is a scene, whatever is in it. */
#include "foreign.h"

#include <stdio.h>
#include <string.h>

#include "args.h"
#include "mesh_source.h"
#include "source.h"

/* Formats that are not read, by ending and, where they have one, by the mark at the start of the file. */
static const struct format {
  const char *ending, *mark, *name;
} formats[] = {
    {".off", "OFF", "a mesh in OFF format"},
    {".off", "COFF", "a mesh in OFF format"},
    {".off", "NOFF", "a mesh in OFF format"},
    {".mesh", "MeshVersionFormatted", "a mesh in Medit format"},
    {".meshb", NULL, "a mesh in Medit format"},
    {".glb", "glTF", "a model in glTF format"},
    {".gltf", NULL, "a model in glTF format"},
    {".fbx", "Kaydara FBX", "a model in FBX format"},
    {".dae", NULL, "a model in Collada format"},
    {".3ds", NULL, "a model in 3DS format"},
    {".3mf", NULL, "a model in 3MF format"},
    {".blend", "BLENDER", "a Blender file"},
    {".usd", "PXR-USDC", "a model in USD format"},
    {".usda", "#usda", "a model in USD format"},
    {".usdc", NULL, "a model in USD format"},
    {".usdz", NULL, "a model in USD format"},
    {".vtu", NULL, "a mesh in VTK's XML format"},
    {".vtp", NULL, "a mesh in VTK's XML format"},
    {".wrl", "#VRML", "a model in VRML format"},
    {".x3d", NULL, "a model in X3D format"},
    {".step", "ISO-10303-21", "a model in STEP format"},
    {".stp", NULL, "a model in STEP format"},
    {".iges", NULL, "a model in IGES format"},
    {".igs", NULL, "a model in IGES format"},
    {".urdf", NULL, "a robot in URDF format"},
};

static const char readable[] =
    "Drystone reads meshes .obj, .stl, .ply and .msh, and tetrahedra .msh, .vtk, .veg, .node and .ele; convert it";

static const char *foreign_name(const char *path) {
  char start[32] = {0};
  FILE *file = fopen(path, "rb");
  size_t have = file != NULL ? fread(start, 1, sizeof start - 1, file) : 0;
  if (file != NULL) fclose(file);
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    size_t n = formats[i].mark != NULL ? strlen(formats[i].mark) : 0;
    if (args_ends_in(path, formats[i].ending)) return formats[i].name;
    if (n > 0 && have >= n && memcmp(start, formats[i].mark, n) == 0) return formats[i].name;
  }
  return NULL;
}

bool foreign_refuse(const char *path, ds_error *error) {
  if (args_ends_in(path, ".json")) return false;
  if (source_is_recording(path)) {
    snprintf(
        error->message, sizeof error->message,
        "%.200s: is a recording, or another HDF5 file, not a scene; 'drystone info', 'draw', 'plot' and 'view' show "
        "recordings, 'drystone run SCENE --from FILE' continues one",
        path);
    return true;
  }
  if (mesh_source_is(path)) {
    snprintf(
        error->message, sizeof error->message,
        "%.200s: is a mesh, not a scene; name it in the \"solids\" of a scene, or 'drystone reduce %.100s -o BODY.h5' "
        "makes a deformable body from it",
        path, path);
    return true;
  }
  const char *name = foreign_name(path);
  if (name == NULL) return false;
  snprintf(error->message, sizeof error->message, "%.200s: is %s, which is not supported; %s", path, name, readable);
  return true;
}
