/* A folder that keeps the solids and deformables of a test program's scenes, so that scenes which share them build them
 * once. Begin in main, before the first scene; end removes it. To be included before scene_helper.h. */
#ifndef DS_TEST_SCENE_CACHE_H
#define DS_TEST_SCENE_CACHE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char scene_cache[] = "scene_cache_XXXXXX";
#define SCENE_CACHE scene_cache

static inline void scene_cache_begin(void) {
  if (!mkdtemp(scene_cache)) abort();
}

static inline void scene_cache_end(void) {
  char path[512];
  DIR *folder = opendir(scene_cache);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%.300s", scene_cache, entry->d_name);
    remove(path);
  }
  if (folder) closedir(folder);
  rmdir(scene_cache);
}

#endif
