// The life of the driver and of contexts: cuInit, and what opens and closes a context. The only
// part that knows everything a context has: streams, modules, textures, memory.
//
// Owns the primary context and green contexts (green.h). Any thread runs it.
//
// May include: everything but api.
#ifndef GS_SOFTCUDA_LIFECYCLE_LIFECYCLE_H
#define GS_SOFTCUDA_LIFECYCLE_LIFECYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/context/context.h"

// Reads the settings and makes the device, for cuInit. Idempotent.
CUresult driver_init(void);

CUresult context_primary_retain(CUcontext *context);
CUresult context_primary_release(void);
CUresult context_primary_reset(void);
CUresult context_primary_set_flags(uint32_t flags);
void context_primary_state(uint32_t *flags, bool *active);

CUresult context_new(CUcontext *context, uint32_t flags);
CUresult context_free(CUcontext context);

// Makes a context over SMS that shares memory, modules and errors with the primary one, for
// green.c.
CUresult context_new_green(CUcontext *context, CUgreenCtx green, const struct sm_set *sms);
void context_retire_green(CUcontext context);

#endif
