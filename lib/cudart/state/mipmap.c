/* mipmap.c - see mipmap.h. */
#include "cudart/state/mipmap.h"

#include <pthread.h>
#include <stdlib.h>

#include "cudart/state/device.h"

struct mipmap {
    struct mipmap *next;
    unsigned device; /* its number */
    gs_array whole;
    gs_array_desc desc;
    gs_array level[]; /* NULL: not requested yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mipmap *mipmaps; /* guarded by lock */

cudaError_t mipmap_new(const gs_array_desc *desc, cudaMipmappedArray_t *handle)
{
    struct mipmap *mipmap = calloc(1, sizeof(*mipmap) + desc->levels * sizeof(gs_array));
    cudaError_t error;

    if (mipmap == NULL)
        return cudaErrorMemoryAllocation;
    mipmap->device = device_number();
    mipmap->desc = *desc;
    error = device_error(gs_array_create(device_session(), desc, &mipmap->whole));
    if (error != cudaSuccess) {
        free(mipmap);
        return error;
    }
    *handle = (cudaMipmappedArray_t)(uintptr_t)mipmap->whole;
    pthread_mutex_lock(&lock);
    mipmap->next = mipmaps;
    mipmaps = mipmap;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* The link that points to the mipmapped array, or the last link, which is NULL. lock is held. */
static struct mipmap **link_of(cudaMipmappedArray_const_t handle)
{
    struct mipmap **link = &mipmaps;

    while (*link != NULL && (uintptr_t)(*link)->whole != (uintptr_t)handle)
        link = &(*link)->next;
    return link;
}

cudaError_t mipmap_end(cudaMipmappedArray_const_t handle)
{
    struct mipmap **link, *mipmap;
    cudaError_t error;

    pthread_mutex_lock(&lock);
    link = link_of(handle);
    mipmap = *link;
    if (mipmap != NULL)
        *link = mipmap->next;
    pthread_mutex_unlock(&lock);
    if (mipmap == NULL)
        return cudaErrorInvalidValue;
    error = device_error(gs_array_destroy(mipmap->whole));
    for (size_t i = 0; i < mipmap->desc.levels && error == cudaSuccess; i++)
        if (mipmap->level[i] != NULL)
            error = device_error(gs_array_destroy(mipmap->level[i]));
    free(mipmap);
    return error;
}

cudaError_t mipmap_describe(cudaMipmappedArray_const_t handle, gs_array_desc *desc)
{
    const struct mipmap *mipmap;

    pthread_mutex_lock(&lock);
    mipmap = *link_of(handle);
    if (mipmap != NULL)
        *desc = mipmap->desc;
    pthread_mutex_unlock(&lock);
    return mipmap != NULL ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

/* lock is held: threads that ask for the same level meanwhile wait for the same array. */
static cudaError_t level_take(struct mipmap *mipmap, unsigned level, cudaArray_t *array)
{
    cudaError_t error = cudaSuccess;

    if (level >= mipmap->desc.levels)
        return cudaErrorInvalidValue;
    if (mipmap->level[level] == NULL)
        error = device_error(gs_array_level(mipmap->whole, level, &mipmap->level[level]));
    if (error == cudaSuccess)
        *array = (cudaArray_t)(uintptr_t)mipmap->level[level];
    return error;
}

cudaError_t mipmap_level(cudaMipmappedArray_const_t handle, unsigned level, cudaArray_t *array)
{
    struct mipmap *mipmap;
    cudaError_t error = cudaErrorInvalidResourceHandle;

    pthread_mutex_lock(&lock);
    mipmap = *link_of(handle);
    if (mipmap != NULL)
        error = level_take(mipmap, level, array);
    pthread_mutex_unlock(&lock);
    return error;
}

bool mipmap_has(cudaArray_const_t array)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (const struct mipmap *m = mipmaps; m != NULL && !found; m = m->next) {
        found = (uintptr_t)m->whole == (uintptr_t)array;
        for (size_t i = 0; i < m->desc.levels && !found; i++)
            found = array != NULL && (uintptr_t)m->level[i] == (uintptr_t)array;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void mipmaps_forget(void)
{
    pthread_mutex_lock(&lock);
    for (struct mipmap **link = &mipmaps, *mipmap; (mipmap = *link) != NULL;) {
        if (mipmap->device != device_number()) {
            link = &mipmap->next;
            continue;
        }
        *link = mipmap->next;
        free(mipmap);
    }
    pthread_mutex_unlock(&lock);
}
