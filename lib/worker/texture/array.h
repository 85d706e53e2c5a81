/* array.h - a session's CUDA arrays; see array.c. */
#ifndef GS_WORKER_TEXTURE_ARRAY_H
#define GS_WORKER_TEXTURE_ARRAY_H

#include "ptx/rewrite/texture_table.h"
#include "worker/jobs/job.h"
#include "worker/texture/check.h"

struct array {
    CUarray cu; /* NULL for a mipmapped array */
    CUDA_ARRAY3D_DESCRIPTOR desc;
    uint64_t row;                         /* bytes of a row of texels */
    uint32_t texel;                       /* bytes of a texel */
    uint64_t height;                      /* rows of a slice, at least 1 */
    uint64_t depth;                       /* slices, layers or faces, at least 1 */
    enum texture_column texture, surface; /* its geometries */
    uint64_t counted; /* bytes charged; 0 for a level: its mipmapped array is charged */
    uint32_t uses;  /* how many textures and surfaces show it, and levels are arrays of their own */
    bool destroyed; /* the tenant has destroyed it: it is freed when `uses` is 0 */
    /* for a mipmapped array; levels 0: it is none */
    CUmipmappedArray mipmap;
    uint32_t levels;
    CUarray level[ARRAY_LEVELS_MAX];
    struct array *whole; /* for a level: its mipmapped array, which lives as long; else NULL */
};

/* Returns the array with that number, or NULL. Called by the main lane, or by a job, as worker.h
 * says. */
struct array *array_find(const struct session *session, uint64_t number);
/* Returns whether the driver has the calls for arrays. */
bool array_calls_found(void);
/* Clears an array, which is not a mipmapped one; of the struct it uses cu, row, height and depth.
 * Service thread. */
CUresult array_zero(const struct array *array);
/* Notes that a texture or surface, with which the device has finished, shows the array no more.
 * Service thread. */
void array_unuse(struct session *session, struct array *array);
/* Destroys all arrays of a session, after its textures and surfaces. The device has finished with
 * them. Service thread. */
void arrays_deinit(struct session *session);

#endif
