// SM partitions. A resource carries its set of SMs and the split it came from in the bytes that the
// ABI leaves to the driver; as those pass through the caller's hands they are checked on the way
// back.
#include "softcuda/lifecycle/green.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "softcuda/lifecycle/lifecycle.h"

// SMs are handed out as on Hopper, in groups of 8, or in pairs when the caller forgoes
// co-scheduling.
enum { GROUP_SMS = 8, PAIR_SMS = 2 };

#define HIDDEN_MAGIC UINT64_C(0x736d2d7365742d31)

struct hidden {
    uint64_t magic;
    struct sm_set sms;
};
_Static_assert(sizeof(struct hidden) <= sizeof(((CUdevResource *)0)->_internal_padding),
               "a resource has room for what the device keeps in it");

// The API has no call that frees a description, so all are kept, and equal ones share one.
struct CUdevResourceDesc_st {
    struct sm_set sms;
    CUdevResourceDesc next;
};

struct CUgreenCtx_st {
    uint32_t magic;
    CUcontext context;
};

// How many green contexts exist. They take device memory on a GPU; here GSHARE_SOFT_GREENS stands
// for that.
static _Atomic uint32_t greens;

static pthread_mutex_t descs_lock = PTHREAD_MUTEX_INITIALIZER;
static CUdevResourceDesc descs;

static void resource_make(CUdevResource *resource, const struct sm_set *sms, unsigned int grain)
{
    struct hidden h = {HIDDEN_MAGIC, *sms};

    memset(resource, 0, sizeof(*resource));
    resource->type = CU_DEV_RESOURCE_TYPE_SM;
    resource->sm.smCount = sm_set_count(sms);
    resource->sm.minSmPartitionSize = grain;
    resource->sm.smCoscheduledAlignment = grain;
    memcpy(resource->_internal_padding, &h, sizeof(h));
}

void resource_of(CUdevResource *resource, const struct sm_set *sms)
{
    resource_make(resource, sms, GROUP_SMS);
}

static CUresult resource_open(const CUdevResource *resource, struct hidden *h)
{
    struct sm_set device;

    if (!resource)
        return CUDA_ERROR_INVALID_VALUE;
    if (resource->type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    memcpy(h, resource->_internal_padding, sizeof(*h));
    sm_set_fill(&device);
    if (h->magic != HIDDEN_MAGIC || sm_set_count(&h->sms) != resource->sm.smCount)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    for (size_t i = 0; i < ARRAY_SIZE(device.bits); i++) {
        if (h->sms.bits[i] & ~device.bits[i])
            return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    }
    return CUDA_SUCCESS;
}

// Moves COUNT SMs, the lowest first, from one set to another.
static void sm_set_move(struct sm_set *to, struct sm_set *from, uint32_t count)
{
    for (uint32_t sm = 0; sm < DEVICE_MAX_SMS && count; sm++) {
        if (!sm_set_has(from, sm))
            continue;
        sm_set_add(to, sm);
        from->bits[sm / 64] &= ~((uint64_t)1 << (sm % 64));
        count--;
    }
}

CUresult resource_split(CUdevResource *groups, unsigned int *group_count,
                        const CUdevResource *input, CUdevResource *remaining, unsigned int flags,
                        unsigned int min_count)
{
    unsigned int grain =
        flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING ? PAIR_SMS : GROUP_SMS;
    unsigned int size, possible;
    struct hidden h;
    CUresult result;

    if (!group_count || min_count > DEVICE_MAX_SMS ||
        flags & ~(CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                  CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE))
        return CUDA_ERROR_INVALID_VALUE;
    result = resource_open(input, &h);
    if (result)
        return result;
    size = min_count < grain ? grain : (min_count + grain - 1) / grain * grain;
    possible = input->sm.smCount / size;
    if (!groups) {
        *group_count = possible;
        return CUDA_SUCCESS;
    }
    if (*group_count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (possible == 0)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    if (*group_count > possible)
        *group_count = possible;
    for (unsigned int i = 0; i < *group_count; i++) {
        struct sm_set sms = {{0}};

        sm_set_move(&sms, &h.sms, size);
        resource_make(&groups[i], &sms, grain);
    }
    if (!remaining)
        return CUDA_SUCCESS;
    if (sm_set_count(&h.sms))
        resource_make(remaining, &h.sms, grain);
    else
        memset(remaining, 0, sizeof(*remaining));
    return CUDA_SUCCESS;
}

static CUresult desc_of(CUdevResourceDesc *desc, const struct sm_set *sms)
{
    CUdevResourceDesc d;

    pthread_mutex_lock(&descs_lock);
    for (d = descs; d && memcmp(&d->sms, sms, sizeof(*sms)); d = d->next)
        ;
    if (!d && (d = malloc(sizeof(*d)))) {
        d->sms = *sms;
        d->next = descs;
        descs = d;
    }
    pthread_mutex_unlock(&descs_lock);
    if (!d)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *desc = d;
    return CUDA_SUCCESS;
}

CUresult resource_describe(CUdevResourceDesc *desc, const CUdevResource *resources,
                           unsigned int count)
{
    struct sm_set joined = {{0}};

    if (!desc || !resources || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; i++) {
        struct hidden h;
        CUresult result = resource_open(&resources[i], &h);

        if (result)
            return result;
        // Groups may come from any split and may overlap, as on an H200.
        for (size_t j = 0; j < ARRAY_SIZE(h.sms.bits); j++)
            joined.bits[j] |= h.sms.bits[j];
    }
    return desc_of(desc, &joined);
}

CUresult green_new(CUgreenCtx *out, CUdevResourceDesc desc)
{
    CUgreenCtx green;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    if (atomic_fetch_add_explicit(&greens, 1, memory_order_relaxed) >= device_config()->greens) {
        atomic_fetch_sub_explicit(&greens, 1, memory_order_relaxed);
        return result;
    }
    green = calloc(1, sizeof(*green));
    if (green) {
        green->magic = MAGIC_GREEN;
        result = context_new_green(&green->context, green, &desc->sms);
    }
    if (result) {
        free(green);
        atomic_fetch_sub_explicit(&greens, 1, memory_order_relaxed);
    } else {
        *out = green;
    }
    return result;
}

CUresult green_check(CUgreenCtx green)
{
    return green && green->magic == MAGIC_GREEN ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult green_free(CUgreenCtx green)
{
    CUresult result = green_check(green);

    if (result)
        return result;
    context_retire_green(green->context);
    green->magic = MAGIC_DEAD;
    free(green);
    atomic_fetch_sub_explicit(&greens, 1, memory_order_relaxed);
    return CUDA_SUCCESS;
}

CUcontext green_context(CUgreenCtx green)
{
    return green->context;
}
