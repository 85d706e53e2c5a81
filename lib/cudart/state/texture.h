/*
 * texture.h - texture and surface objects. The number that kernels use is libgshare's; this table
 * keeps what each object was made of, for the calls that ask. Any thread.
 */
#ifndef GS_CUDART_TEXTURE_H
#define GS_CUDART_TEXTURE_H

#include "cudart/abi.h"

struct texture_object {
    struct texture_object *next;
    bool surface;
    unsigned device; /* its number */
    uint64_t handle;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc desc; /* of a texture */
};

/* Checks the description, makes the object and keeps the description. desc NULL: a surface. */
cudaError_t texture_new(const struct cudaResourceDesc *resource, const struct cudaTextureDesc *desc,
                        unsigned long long *handle);
cudaError_t texture_end(unsigned long long handle, bool surface);
/* Copies out the description of the object. cudaErrorInvalidValue: there is no such object. */
cudaError_t texture_find(unsigned long long handle, bool surface, struct texture_object *found);
/* The session of the call's device is gone, and all its objects with it. */
void textures_forget(void);

#endif
