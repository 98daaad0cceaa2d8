/* Built reduced bodies on disk. */
#ifndef DS_REDUCE_REDUCED_CACHE_H
#define DS_REDUCE_REDUCED_CACHE_H

#include "base/cache_file.h"
#include "body/reduced.h"

ds_cache_key ds_reduced_cache_key(const ds_tets *tets, const ds_reduced_def *def);
/* A body that is not finished yet, its numbers not looked at; NULL if there is no sound file. */
ds_reduced *ds_reduced_cache_load(const ds_reduced_def *def, ds_cache_key key);
/* Best effort: a folder that cannot be written to is no error. The body is only looked at. */
void ds_reduced_cache_save(ds_reduced *reduced, const ds_reduced_def *def, ds_cache_key key);

#endif
