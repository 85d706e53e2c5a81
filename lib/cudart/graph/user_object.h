/* user_object.h - the program's own objects, which live as long as somebody refers to them: the
 * program, graphs, and what was instantiated of these. */
#ifndef GS_CUDART_USER_OBJECT_H
#define GS_CUDART_USER_OBJECT_H

#include "cudart/abi.h"

cudaError_t user_object_new(void *ptr, cudaHostFn_t destroy, unsigned count, cudaUserObject_t *out);
/* Adds references. cudaErrorInvalidValue: no such object. */
cudaError_t user_object_retain(cudaUserObject_t object, unsigned count);
/* Gives references up: with the last one the program's function is called, by this call. */
cudaError_t user_object_release(cudaUserObject_t object, unsigned count);

/* ---- References of a graph: a list of them --------------------------------------------------- */

struct user_refs {
    struct user_ref {
        cudaUserObject_t object;
        unsigned count;
    } * ref;
    size_t count;
};

/* Takes references over that the caller has. false: no memory. */
bool user_refs_add(struct user_refs *refs, cudaUserObject_t object, unsigned count);
/* Gives up so many of them. cudaErrorInvalidValue: the list has fewer. */
cudaError_t user_refs_release(struct user_refs *refs, cudaUserObject_t object, unsigned count);
/* One reference of its own for each object. */
bool user_refs_copy(struct user_refs *to, const struct user_refs *from);
void user_refs_free(struct user_refs *refs);

#endif
