/* array.h - a session's CUDA arrays; see array.c. */
#ifndef GS_WORKER_TEXTURE_ARRAY_H
#define GS_WORKER_TEXTURE_ARRAY_H

#include "ptx/rewrite/texture_table.h"
#include "worker/jobs/job.h"
#include "worker/texture/check.h"

struct array {
    CUarray cu; /* NULL: it is a mipmapped array */
    CUDA_ARRAY3D_DESCRIPTOR desc;
    uint64_t row;                         /* bytes of a row */
    uint32_t texel;                       /* bytes of a texel */
    uint64_t height;                      /* rows of a slice, at least 1 */
    uint64_t depth;                       /* slices, layers or faces, at least 1 */
    enum texture_column texture, surface; /* its geometry */
    uint64_t counted;                     /* of a level 0: the mipmapped array counts */
    uint32_t uses;  /* textures and surfaces that show it, levels that are arrays of their own */
    bool destroyed; /* the tenant has destroyed it: it goes when `uses` is 0 */
    /* of a mipmapped array; levels 0: it is none */
    CUmipmappedArray mipmap;
    uint32_t levels;
    CUarray level[ARRAY_LEVELS_MAX];
    struct array *whole; /* of a level: the mipmapped array, which stays as long; else NULL */
};

/* The array with that number, or NULL. The main lane; or a job, as worker.h says. */
struct array *array_find(const struct session *session, uint64_t number);
/* Whether the driver has the calls for arrays. */
bool array_calls_found(void);
/* Clears an array, of which it takes cu, row, height and depth; not a mipmapped one. Service
 * thread. */
CUresult array_zero(const struct array *array);
/* One texture or surface shows the array no more; the device has finished with that. Service
 * thread. */
void array_unuse(struct session *session, struct array *array);
/* Destroys all arrays of a session, whose textures and surfaces have gone. Service thread, after
 * the device has finished with them. */
void arrays_deinit(struct session *session);

#endif
