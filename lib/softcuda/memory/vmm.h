// cuMemCreate and its mappings: memory is allocated separately from the addresses at which it is
// mapped. Any thread; the functions take the memory lock.
#ifndef GS_SOFTCUDA_MEMORY_VMM_H
#define GS_SOFTCUDA_MEMORY_VMM_H

#include "cuda/abi.h"

typedef CUmemGenericAllocationHandle vmm_handle;

CUresult vmm_check_prop(const CUmemAllocationProp *prop);
CUresult vmm_reserve(uint64_t *address, uint64_t size, uint64_t alignment, uint64_t hint);
CUresult vmm_unreserve(uint64_t address, uint64_t size);
CUresult vmm_create(vmm_handle *handle, uint64_t size, const CUmemAllocationProp *prop);
CUresult vmm_release(vmm_handle handle);
CUresult vmm_map(uint64_t address, uint64_t size, uint64_t offset, vmm_handle handle);
CUresult vmm_unmap(uint64_t address, uint64_t size);
CUresult vmm_set_access(uint64_t address, uint64_t size, CUmemAccess_flags flags);
CUresult vmm_get_access(unsigned long long *flags, uint64_t address);
// Makes a new descriptor of the allocation's memory file, which the caller closes.
CUresult vmm_export(int *fd, vmm_handle handle);
// FD still belongs to the caller.
CUresult vmm_import(vmm_handle *handle, int fd);
CUresult vmm_retain(vmm_handle *handle, uint64_t address);
CUresult vmm_properties(CUmemAllocationProp *prop, vmm_handle handle);

#endif
