/* user_object.c - see user_object.h. */
#include "cudart/graph/user_object.h"

#include <pthread.h>
#include <stdlib.h>

#include "cudart/base/handles.h"

#define OBJECTS_MAX 65536u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle_slot slots[OBJECTS_MAX];
static struct {
    void *ptr;
    cudaHostFn_t destroy;
    unsigned long long references;
} objects[OBJECTS_MAX];
static struct handles handles = HANDLES_INIT(slots, OBJECTS_MAX, 15);

cudaError_t user_object_new(void *ptr, cudaHostFn_t destroy, unsigned count, cudaUserObject_t *out)
{
    uint64_t handle;
    int number = handles_take(&handles, &handle);

    if (number < 0)
        return cudaErrorMemoryAllocation;
    objects[number].ptr = ptr;
    objects[number].destroy = destroy;
    objects[number].references = count;
    handles_open(&handles, number);
    *out = (cudaUserObject_t)(uintptr_t)handle; // NOLINT: a handle is a value
    return cudaSuccess;
}

cudaError_t user_object_retain(cudaUserObject_t object, unsigned count)
{
    int number;

    pthread_mutex_lock(&lock);
    number = handles_find(&handles, (uint64_t)(uintptr_t)object);
    if (number >= 0)
        objects[number].references += count;
    pthread_mutex_unlock(&lock);
    return number >= 0 && count > 0 ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t user_object_release(cudaUserObject_t object, unsigned count)
{
    cudaHostFn_t destroy = NULL;
    void *ptr = NULL;
    cudaError_t error = cudaErrorInvalidValue;
    int number;

    pthread_mutex_lock(&lock);
    number = handles_find(&handles, (uint64_t)(uintptr_t)object);
    if (number >= 0 && count > 0 && objects[number].references >= count) {
        objects[number].references -= count;
        error = cudaSuccess;
        if (objects[number].references == 0) {
            destroy = objects[number].destroy;
            ptr = objects[number].ptr;
            handles_close(&handles, (uint64_t)(uintptr_t)object);
            handles_free(&handles, number);
        }
    }
    pthread_mutex_unlock(&lock);
    if (destroy != NULL)
        destroy(ptr);
    return error;
}

/* ---- References of a graph ------------------------------------------------------------------- */

static struct user_ref *ref_find(const struct user_refs *refs, cudaUserObject_t object)
{
    for (size_t i = 0; i < refs->count; i++) {
        if (refs->ref[i].object == object)
            return &refs->ref[i];
    }
    return NULL;
}

bool user_refs_add(struct user_refs *refs, cudaUserObject_t object, unsigned count)
{
    struct user_ref *ref = ref_find(refs, object);

    if (ref == NULL) {
        ref = realloc(refs->ref, (refs->count + 1) * sizeof(*ref));
        if (ref == NULL)
            return false;
        refs->ref = ref;
        ref = &refs->ref[refs->count++];
        *ref = (struct user_ref){object, 0};
    }
    ref->count += count;
    return true;
}

cudaError_t user_refs_release(struct user_refs *refs, cudaUserObject_t object, unsigned count)
{
    struct user_ref *ref = ref_find(refs, object);

    if (ref == NULL || count == 0 || ref->count < count)
        return cudaErrorInvalidValue;
    ref->count -= count;
    if (ref->count == 0)
        *ref = refs->ref[--refs->count];
    return user_object_release(object, count);
}

bool user_refs_copy(struct user_refs *to, const struct user_refs *from)
{
    for (size_t i = 0; i < from->count; i++) {
        cudaUserObject_t object = from->ref[i].object;

        if (user_object_retain(object, 1) != cudaSuccess)
            continue;
        if (!user_refs_add(to, object, 1)) {
            user_object_release(object, 1);
            return false;
        }
    }
    return true;
}

void user_refs_free(struct user_refs *refs)
{
    for (size_t i = 0; i < refs->count; i++)
        user_object_release(refs->ref[i].object, refs->ref[i].count);
    free(refs->ref);
    *refs = (struct user_refs){NULL, 0};
}
