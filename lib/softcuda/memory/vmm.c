// cuMemCreate and its mappings, implemented by the host's kernel: an allocation is a memfd, a
// mapping is a shared mmap of it into a reservation, an export is a descriptor. So memory outlives
// the process that made it as long as a process holds a descriptor.
//
// Owns the table of allocation handles, under the memory lock. An imported descriptor may come from
// anyone: it must be a memory file sealed against shrinking, or a later truncation could kill this
// process.
#include "softcuda/memory/vmm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softcuda/device/device.h"
#include "softcuda/memory/memory.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct vmm_allocation {
    int fd;
    uint64_t size;
    uint32_t handles;  // references through handles
    uint32_t mappings; // references through ranges
    uint32_t slot;
    bool exportable;
};

// A handle combines a slot's number, from 1, with its generation, so that a stale handle is
// detected.
struct slot {
    struct vmm_allocation *allocation;
    uint32_t generation;
};

static struct slot *slots;
static uint32_t slot_count;
static uint32_t slot_free_hint;

static vmm_handle handle_of(const struct vmm_allocation *a)
{
    return (uint64_t)slots[a->slot].generation << 32 | (a->slot + 1);
}

static struct vmm_allocation *handle_find(vmm_handle handle)
{
    uint32_t i = (uint32_t)handle - 1;

    if (i >= slot_count || slots[i].generation != handle >> 32 || !slots[i].allocation ||
        !slots[i].allocation->handles)
        return NULL;
    return slots[i].allocation;
}

static bool slot_take(struct vmm_allocation *a)
{
    uint32_t i = slot_free_hint;

    while (i < slot_count && slots[i].allocation)
        i++;
    if (i == slot_count) {
        uint32_t wanted = slot_count ? slot_count * 2 : 64;
        struct slot *grown = realloc(slots, wanted * sizeof(*grown));

        if (!grown)
            return false;
        for (uint32_t j = slot_count; j < wanted; j++)
            grown[j] = (struct slot){.generation = 1};
        slots = grown;
        slot_count = wanted;
    }
    slots[i].allocation = a;
    a->slot = i;
    slot_free_hint = i + 1;
    return true;
}

static void allocation_put(struct vmm_allocation *a)
{
    if (a->handles || a->mappings)
        return;
    slots[a->slot].allocation = NULL;
    slots[a->slot].generation++;
    if (a->slot < slot_free_hint)
        slot_free_hint = a->slot;
    memory_discharge(a->size);
    close(a->fd);
    free(a);
}

// Takes ownership of FD, also on failure.
static CUresult allocation_new(int fd, uint64_t size, bool exportable, vmm_handle *handle)
{
    struct vmm_allocation *a = calloc(1, sizeof(*a));
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    if (!a)
        goto close_fd;
    *a = (struct vmm_allocation){.fd = fd, .size = size, .handles = 1, .exportable = exportable};
    memory_lock();
    result = memory_charge(size);
    if (!result && !slot_take(a)) {
        memory_discharge(size);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!result)
        *handle = handle_of(a);
    memory_unlock();
    if (!result)
        return CUDA_SUCCESS;
    free(a);
close_fd:
    close(fd);
    return result;
}

CUresult vmm_check_prop(const CUmemAllocationProp *prop)
{
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        prop->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    return prop->location.id == device_used() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult vmm_create(vmm_handle *handle, uint64_t size, const CUmemAllocationProp *prop)
{
    CUresult result = vmm_check_prop(prop);
    int fd;

    if (result)
        return result;
    if (size == 0 || size % MEMORY_GRANULARITY || size > INT64_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    fd = memfd_create("softcuda", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? CUDA_ERROR_OPERATING_SYSTEM
                                                  : CUDA_ERROR_OUT_OF_MEMORY;
    if (ftruncate(fd, size) || fcntl(fd, F_ADD_SEALS, SEALS)) {
        close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return allocation_new(
        fd, size, prop->requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, handle);
}

CUresult vmm_import(vmm_handle *handle, int fd)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS), mode = fcntl(fd, F_GETFL), own;

    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE) ||
        mode < 0 || (mode & O_ACCMODE) != O_RDWR || fstat(fd, &st) || st.st_size <= 0 ||
        st.st_size % MEMORY_GRANULARITY)
        return CUDA_ERROR_INVALID_VALUE;
    own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    return allocation_new(own, st.st_size, true, handle);
}

CUresult vmm_export(int *fd, vmm_handle handle)
{
    const struct vmm_allocation *a;
    CUresult result = CUDA_SUCCESS;
    int copy = -1;

    memory_lock();
    a = handle_find(handle);
    if (!a || !a->exportable)
        result = CUDA_ERROR_INVALID_VALUE;
    else if ((copy = fcntl(a->fd, F_DUPFD_CLOEXEC, 3)) < 0)
        result = CUDA_ERROR_OPERATING_SYSTEM;
    memory_unlock();
    if (!result)
        *fd = copy;
    return result;
}

CUresult vmm_release(vmm_handle handle)
{
    struct vmm_allocation *a;

    memory_lock();
    a = handle_find(handle);
    if (a) {
        a->handles--;
        allocation_put(a);
    }
    memory_unlock();
    return a ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult vmm_reserve(uint64_t *address, uint64_t size, uint64_t alignment, uint64_t hint)
{
    uint64_t base;

    if (size == 0 || size % MEMORY_GRANULARITY || alignment & (alignment - 1) ||
        size > (uint64_t)1 << 46 || alignment > (uint64_t)1 << 45)
        return CUDA_ERROR_INVALID_VALUE;
    if (alignment < MEMORY_GRANULARITY)
        alignment = MEMORY_GRANULARITY;
    memory_lock();
    base = address_reserve(size, alignment, hint);
    memory_unlock();
    if (!base)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = base;
    return CUDA_SUCCESS;
}

CUresult vmm_unreserve(uint64_t address, uint64_t size)
{
    CUresult result;

    memory_lock();
    result = address_release(address, size);
    memory_unlock();
    return result;
}

CUresult vmm_map(uint64_t address, uint64_t size, uint64_t offset, vmm_handle handle)
{
    struct vmm_allocation *a;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    uint64_t end;

    if (size == 0 || address % MEMORY_GRANULARITY || size % MEMORY_GRANULARITY ||
        __builtin_add_overflow(address, size, &end))
        return CUDA_ERROR_INVALID_VALUE;
    memory_lock();
    a = handle_find(handle);
    // As in CUDA, a mapping starts at the allocation's start.
    if (!a || offset != 0 || size > a->size || !address_is_reserved(address, size))
        goto out;
    if (!range_is_free(address, size)) {
        result = CUDA_ERROR_ALREADY_MAPPED;
        goto out;
    }
    if (mmap(mem_pointer(address), size, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, a->fd,
             0) == MAP_FAILED) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
        goto out;
    }
    result = range_insert(
        &(struct range){.base = address, .size = size, .kind = RANGE_VMM, .allocation = a});
    if (result)
        address_clear(address, size);
    else
        a->mappings++;
out:
    memory_unlock();
    return result;
}

// Whether [address, address + size) consists of whole mappings without gaps.
static bool mappings_cover(uint64_t address, uint64_t size)
{
    uint64_t at = address, end;

    if (size == 0 || __builtin_add_overflow(address, size, &end))
        return false;
    while (at < end) {
        const struct range *r = range_find(at);

        if (!r || r->kind != RANGE_VMM || r->base != at || r->size > end - at)
            return false;
        at += r->size;
    }
    return true;
}

// Whether each mapping in [address, end) lies completely inside. There may be none, as on the
// hardware.
static bool mappings_are_whole(uint64_t address, uint64_t end)
{
    for (const struct range *r = range_at_or_above(address); r && r->base < end;
         r = range_at_or_above(r->base + r->size)) {
        if (r->kind != RANGE_VMM || r->base < address || r->base + r->size > end)
            return false;
    }
    return true;
}

CUresult vmm_unmap(uint64_t address, uint64_t size)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    uint64_t end;

    if (size == 0 || __builtin_add_overflow(address, size, &end))
        return CUDA_ERROR_INVALID_VALUE;
    memory_lock();
    if (address_is_reserved(address, size) && mappings_are_whole(address, end)) {
        const struct range *next;

        while ((next = range_at_or_above(address)) && next->base < end) {
            struct range r = *next;

            range_remove(r.base);
            address_clear(r.base, r.size);
            r.allocation->mappings--;
            allocation_put(r.allocation);
        }
        result = CUDA_SUCCESS;
    }
    memory_unlock();
    return result;
}

CUresult vmm_set_access(uint64_t address, uint64_t size, CUmemAccess_flags flags)
{
    static const struct {
        CUmemAccess_flags flags;
        int prot;
        uint32_t access;
    } kinds[] = {
        {CU_MEM_ACCESS_FLAGS_PROT_NONE, PROT_NONE, 0},
        {CU_MEM_ACCESS_FLAGS_PROT_READ, PROT_READ, MEM_READ},
        {CU_MEM_ACCESS_FLAGS_PROT_READWRITE, PROT_READ | PROT_WRITE, MEM_READ | MEM_WRITE},
    };
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    size_t kind = 0;

    while (kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[kind].flags != flags)
        kind++;
    if (kind == sizeof(kinds) / sizeof(kinds[0]))
        return CUDA_ERROR_INVALID_VALUE;
    memory_lock();
    if (mappings_cover(address, size)) {
        result = CUDA_SUCCESS;
        for (uint64_t at = address; at < address + size && !result;) {
            const struct range *r = range_find(at);
            uint64_t base = r->base, bytes = r->size;

            // Protection must never be less than what an open view allows, so the table is
            // restricted first.
            if (r->access & ~kinds[kind].access)
                result = range_set_access(base, kinds[kind].access & r->access);
            if (!result && mprotect(mem_pointer(base), bytes, kinds[kind].prot))
                result = CUDA_ERROR_OUT_OF_MEMORY;
            if (!result)
                result = range_set_access(base, kinds[kind].access);
            at += bytes;
        }
    }
    memory_unlock();
    return result;
}

CUresult vmm_get_access(unsigned long long *flags, uint64_t address)
{
    const struct range *r;
    CUresult result = CUDA_ERROR_INVALID_VALUE;

    memory_lock();
    r = range_find(address);
    if (r && r->kind == RANGE_VMM) {
        *flags = r->access & MEM_WRITE ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                 : r->access           ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                       : CU_MEM_ACCESS_FLAGS_PROT_NONE;
        result = CUDA_SUCCESS;
    }
    memory_unlock();
    return result;
}

CUresult vmm_retain(vmm_handle *handle, uint64_t address)
{
    struct range *r;
    CUresult result = CUDA_ERROR_INVALID_VALUE;

    memory_lock();
    r = range_find(address);
    if (r && r->kind == RANGE_VMM) {
        r->allocation->handles++;
        *handle = handle_of(r->allocation);
        result = CUDA_SUCCESS;
    }
    memory_unlock();
    return result;
}

CUresult vmm_properties(CUmemAllocationProp *prop, vmm_handle handle)
{
    const struct vmm_allocation *a;

    memory_lock();
    a = handle_find(handle);
    if (a)
        *prop = (CUmemAllocationProp){
            .type = CU_MEM_ALLOCATION_TYPE_PINNED,
            .requestedHandleTypes =
                a->exportable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE,
            .location = {CU_MEM_LOCATION_TYPE_DEVICE, device_used()},
        };
    memory_unlock();
    return a ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
