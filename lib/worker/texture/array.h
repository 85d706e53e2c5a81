/* array.h - a session's CUDA arrays; see array.c. */
#ifndef GS_WORKER_TEXTURE_ARRAY_H
#define GS_WORKER_TEXTURE_ARRAY_H

#include "ptx/rewrite/texture_table.h"
#include "worker/jobs/job.h"

struct array {
    CUarray cu;
    uint64_t row;                         /* bytes of a row */
    uint32_t texel;                       /* bytes of a texel */
    uint64_t height;                      /* rows of a slice, at least 1 */
    uint64_t depth;                       /* slices, layers or faces, at least 1 */
    enum texture_column texture, surface; /* its geometry */
    uint64_t counted;
    uint32_t uses;  /* textures and surfaces that show it */
    bool destroyed; /* the tenant has destroyed it: it goes when `uses` is 0 */
};

/* The array with that number, or NULL. The main lane; or a job, as worker.h says. */
struct array *array_find(const struct session *session, uint64_t number);
/* The driver has the calls for arrays. */
bool array_calls_found(void);
/* Clears an array, of which it takes cu, row, height and depth. Service thread. */
CUresult array_zero(const struct array *array);
/* One texture or surface shows the array no more; the device has finished with that. Service
 * thread. */
void array_unuse(struct session *session, struct array *array);
/* Destroys all arrays of a session, whose textures and surfaces have gone. Service thread, after
 * the device has finished with them. */
void arrays_deinit(struct session *session);

#endif
