/*
 * library.h - NVIDIA's cuBLASLt, loaded where the machine has it and somebody wants it.
 *
 * Jobs load it (library_load, library_start), one after the other; once library_handle gives it the
 * lanes call it, since its functions may be called by any thread.
 */
#ifndef GS_WORKER_BLAS_LIBRARY_H
#define GS_WORKER_BLAS_LIBRARY_H

#include <stdbool.h>

#include "gshare.h"
#include "worker/blas/cublaslt.h"

struct library {
#define LIBRARY_MEMBER(name, args) int(*name) args;
    LT_FUNCTIONS(LIBRARY_MEMBER)
#undef LIBRARY_MEMBER
};

/* The library's functions, once it is loaded. */
extern const struct library *const lt;

/* $GSHARE_CUBLAS: unset, "" or "none": products are refused; a path: that library; "auto": the
 * first of cuBLASLt's sonames that the dynamic linker finds, for an NVIDIA device. */

/* Whether no library is to be used on any device. At the start, before there is a driver. */
bool library_excluded(void);
/* Finds and maps the library. It calls no driver, so no launch waits for it. GS_ERR_NOT_SUPPORTED:
 * there is none; text says why. Patient service thread; a second call returns what the first did.
 */
gs_status library_load(char *text, size_t size);
/* Makes the library's handle. At a quiet moment, since that loads a module. Statuses as
 * library_load. */
gs_status library_start(char *text, size_t size);
/* The handle; NULL until library_start has made it. */
lt_handle library_handle(void);

#endif
