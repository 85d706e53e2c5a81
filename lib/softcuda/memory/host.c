// Registered host memory: a device address is a host address here, so registering only adds a
// range.
//
// The range must exist when it is registered and until it is unregistered, as with the real driver;
// a range with unmapped pages is refused.
#include "softcuda/memory/host.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softcuda/memory/memory.h"

// mincore reports whether pages are mapped at all, without touching them.
static bool host_is_mapped(uint64_t address, uint64_t size)
{
    uint64_t page = sysconf(_SC_PAGESIZE), end = address + size;
    unsigned char resident[4096];

    for (uint64_t at = address & ~(page - 1); at < end;) {
        uint64_t length = sizeof(resident) * page;

        if (length > end - at)
            length = (end - at + page - 1) & ~(page - 1);
        if (mincore(mem_pointer(at), length, resident))
            return false;
        at += length;
    }
    return true;
}

static CUresult host_insert(CUcontext owner, uint64_t base, uint64_t size, uint32_t access,
                            bool own)
{
    CUresult result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;

    memory_lock();
    if (range_is_free(base, size))
        result = range_insert(&(struct range){.base = base,
                                              .size = size,
                                              .kind = RANGE_HOST,
                                              .access = access,
                                              .host_owned = own,
                                              .owner = owner});
    memory_unlock();
    return result;
}

CUresult host_register(CUcontext owner, void *address, uint64_t size, uint32_t flags)
{
    uint64_t base = (uintptr_t)address, end;
    uint32_t known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                     CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;

    if (!address || size == 0 || flags & ~known || __builtin_add_overflow(base, size, &end) ||
        !host_is_mapped(base, size))
        return CUDA_ERROR_INVALID_VALUE;
    return host_insert(owner, base, size,
                       flags & CU_MEMHOSTREGISTER_READ_ONLY ? MEM_READ : MEM_READ | MEM_WRITE,
                       false);
}

// Removes the range from the table; *SIZE is its size.
static CUresult host_remove(void *address, bool own, uint64_t *size, CUresult unknown)
{
    const struct range *r;
    CUresult result = unknown;

    memory_lock();
    r = range_find((uintptr_t)address);
    if (r && r->kind == RANGE_HOST && r->base == (uintptr_t)address && r->host_owned == own) {
        *size = r->size;
        range_remove(r->base);
        result = CUDA_SUCCESS;
    }
    memory_unlock();
    return result;
}

CUresult host_unregister(void *address)
{
    uint64_t size;

    return host_remove(address, false, &size, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult host_alloc(CUcontext owner, uint64_t size, void **address)
{
    uint64_t page = sysconf(_SC_PAGESIZE), rounded = (size + page - 1) & ~(page - 1);
    CUresult result;
    void *p;

    if (size == 0 || rounded < size)
        return CUDA_ERROR_INVALID_VALUE;
    p = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = host_insert(owner, (uintptr_t)p, rounded, MEM_READ | MEM_WRITE, true);
    if (result)
        munmap(p, rounded);
    else
        *address = p;
    return result;
}

CUresult host_free(void *address)
{
    uint64_t size;
    CUresult result = host_remove(address, true, &size, CUDA_ERROR_INVALID_VALUE);

    if (!result)
        munmap(address, size);
    return result;
}

CUresult host_device_pointer(uint64_t *device, void *address)
{
    const struct range *r;
    CUresult result = CUDA_ERROR_INVALID_VALUE;

    memory_lock();
    r = range_find((uintptr_t)address);
    if (r && r->kind == RANGE_HOST) {
        *device = (uintptr_t)address;
        result = CUDA_SUCCESS;
    }
    memory_unlock();
    return result;
}

void host_release_owner(CUcontext owner)
{
    memory_lock();
    for (uint64_t at = 0;;) {
        struct range *found = range_at_or_above(at), r;

        if (!found)
            break;
        r = *found;
        at = r.base + r.size;
        if (r.kind != RANGE_HOST || r.owner != owner)
            continue;
        range_remove(r.base);
        if (r.host_owned)
            munmap(mem_pointer(r.base), r.size);
    }
    memory_unlock();
}
