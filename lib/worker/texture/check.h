/*
 * check.h - what arrays and textures a tenant may ask for, and what an array counts as. Pure
 * functions of numbers; any thread.
 */
#ifndef GS_WORKER_TEXTURE_CHECK_H
#define GS_WORKER_TEXTURE_CHECK_H

#include <stdint.h>

#include "common/wire.h"
#include "cuda/abi.h"
#include "ptx/rewrite/texture_table.h"

/* What is wrong with a request, for people. NULL: nothing is. */
typedef const char *texture_fault;

/* No array has more levels. */
#define ARRAY_LEVELS_MAX 18u

/* Checks the arguments of REQ_ARRAY_CREATE and fills *desc and *levels, which is 0 where the array
 * is not to be a mipmapped one. The device has limits of its own below these, which the driver
 * checks. */
texture_fault req_array_check(const uint64_t arg[4], CUDA_ARRAY3D_DESCRIPTOR *desc,
                              uint32_t *levels);

/* A level of a mipmapped array: half as large as the one before. */
CUDA_ARRAY3D_DESCRIPTOR array_level_desc(const CUDA_ARRAY3D_DESCRIPTOR *desc, uint32_t level);

/* Bytes of a texel; 0: no such format or count of channels. */
uint32_t texel_size(uint32_t format, uint32_t channels);

/* The geometry with which instructions read the array, and that with which they take it as a
 * surface. */
enum texture_column array_texture_column(const CUDA_ARRAY3D_DESCRIPTOR *desc);
enum texture_column array_surface_column(const CUDA_ARRAY3D_DESCRIPTOR *desc);
/* The geometry of a texture of memory. */
enum texture_column memory_texture_column(const CUDA_RESOURCE_DESC *resource);

#define ARRAY_GRANULARITY UINT64_C(4096)

/* What an array counts as against its session's limit: a multiple of ARRAY_GRANULARITY. Of a
 * mipmapped array all levels. */
uint64_t array_counted(const CUDA_ARRAY3D_DESCRIPTOR *desc, uint32_t levels);

/* Checks a texture, and fills the driver's descriptors but for the array. *bytes: how much memory
 * from its address on the texture reads; 0: it reads an array. */
texture_fault req_texture_check(const struct req_texture *asked, CUDA_RESOURCE_DESC *resource,
                                CUDA_TEXTURE_DESC *desc, uint64_t *bytes);

#endif
