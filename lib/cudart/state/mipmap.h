/*
 * mipmap.h - mipmapped arrays, whose handles are libgshare's, and the arrays of their levels, which
 * are freed with them. Any thread.
 */
#ifndef GS_CUDART_MIPMAP_H
#define GS_CUDART_MIPMAP_H

#include <stdbool.h>

#include "cudart/abi.h"
#include "gshare.h"

/* Makes a mipmapped array with the number of levels in desc. */
cudaError_t mipmap_new(const gs_array_desc *desc, cudaMipmappedArray_t *mipmap);
/* Frees it, with the arrays of its levels. cudaErrorInvalidValue: the handle is invalid. */
cudaError_t mipmap_end(cudaMipmappedArray_const_t mipmap);
/* The description of its first level, with the number of levels. cudaErrorInvalidResourceHandle:
 * the handle is invalid. */
cudaError_t mipmap_describe(cudaMipmappedArray_const_t mipmap, gs_array_desc *desc);
/* The array of a level; each call returns the same one. cudaErrorInvalidResourceHandle: the handle
 * is invalid. cudaErrorInvalidValue: there is no such level. */
cudaError_t mipmap_level(cudaMipmappedArray_const_t mipmap, unsigned level, cudaArray_t *array);
/* Whether the array is a mipmapped one, or a level of one, which cannot be freed by itself. */
bool mipmap_has(cudaArray_const_t array);
/* The session of the call's device is gone, and all its arrays with it. */
void mipmaps_forget(void);

#endif
