/* user_object.h - the program's own objects, which live as long as something refers to them: the
 * program, graphs, and executable graphs made from these. */
#ifndef GS_CUDART_USER_OBJECT_H
#define GS_CUDART_USER_OBJECT_H

#include "cudart/abi.h"

cudaError_t user_object_new(void *ptr, cudaHostFn_t destroy, unsigned count, cudaUserObject_t *out);
/* Adds references. cudaErrorInvalidValue: no such object. */
cudaError_t user_object_retain(cudaUserObject_t object, unsigned count);
/* Releases references. The last release calls the program's destructor function. */
cudaError_t user_object_release(cudaUserObject_t object, unsigned count);

/* ---- References of a graph: a list of them --------------------------------------------------- */

struct user_refs {
    struct user_ref {
        cudaUserObject_t object;
        unsigned count;
    } * ref;
    size_t count;
};

/* Takes over references that the caller has. False: no memory. */
bool user_refs_add(struct user_refs *refs, cudaUserObject_t object, unsigned count);
/* Releases that many of them. cudaErrorInvalidValue: the list has fewer. */
cudaError_t user_refs_release(struct user_refs *refs, cudaUserObject_t object, unsigned count);
/* Copies the list, with one reference for each object. */
bool user_refs_copy(struct user_refs *to, const struct user_refs *from);
void user_refs_free(struct user_refs *refs);

#endif
