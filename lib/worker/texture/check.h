/*
 * check.h - checks what arrays and textures a tenant may ask for, and computes what an array counts
 * as. Pure functions of numbers; any thread.
 */
#ifndef GS_WORKER_TEXTURE_CHECK_H
#define GS_WORKER_TEXTURE_CHECK_H

#include <stdint.h>

#include "common/wire.h"
#include "cuda/abi.h"
#include "ptx/rewrite/texture_table.h"

/* What is wrong with a request, for people. NULL: nothing. */
typedef const char *texture_fault;

/* The most levels of any mipmapped array. */
#define ARRAY_LEVELS_MAX 18u

/* Checks the arguments of REQ_ARRAY_CREATE and fills *desc and *levels; *levels is 0 unless a
 * mipmapped array is asked for. The device has limits of its own below these, which the driver
 * checks. */
texture_fault req_array_check(const uint64_t arg[4], CUDA_ARRAY3D_DESCRIPTOR *desc,
                              uint32_t *levels);

/* Returns the description of a level of a mipmapped array: half as large as the level before. */
CUDA_ARRAY3D_DESCRIPTOR array_level_desc(const CUDA_ARRAY3D_DESCRIPTOR *desc, uint32_t level);

/* Returns the bytes of a texel; 0: there is no such format or number of channels. */
uint32_t texel_size(uint32_t format, uint32_t channels);

/* Return the geometry with which instructions read the array as a texture, and the one with which
 * they access it as a surface. */
enum texture_column array_texture_column(const CUDA_ARRAY3D_DESCRIPTOR *desc);
enum texture_column array_surface_column(const CUDA_ARRAY3D_DESCRIPTOR *desc);
/* Returns the geometry of a texture of linear or pitched memory. */
enum texture_column memory_texture_column(const CUDA_RESOURCE_DESC *resource);

#define ARRAY_GRANULARITY UINT64_C(4096)

/* Returns the bytes that an array, all levels of a mipmapped one included, counts as against its
 * session's limit: a multiple of ARRAY_GRANULARITY. */
uint64_t array_counted(const CUDA_ARRAY3D_DESCRIPTOR *desc, uint32_t levels);

/* Checks a texture, and fills the driver's descriptors except for the array. *bytes: how many bytes
 * from its address on the texture reads; 0: it reads an array. */
texture_fault req_texture_check(const struct req_texture *asked, CUDA_RESOURCE_DESC *resource,
                                CUDA_TEXTURE_DESC *desc, uint64_t *bytes);

#endif
