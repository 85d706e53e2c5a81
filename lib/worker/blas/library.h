/*
 * library.h - NVIDIA's cuBLASLt, loaded if the machine has it and a session asks for a product.
 *
 * Jobs load it (library_load, library_start), one after the other. Once library_handle returns the
 * handle, the lanes call the library; its functions may be called by any thread.
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

/* $GSHARE_CUBLAS chooses the library: unset, "" or "none": none, and products are refused; a path:
 * that library; "auto": for an NVIDIA device, the first of cuBLASLt's sonames that the dynamic
 * linker finds. */

/* Returns whether no library is to be used on any device. Called at the start, before the driver is
 * open. */
bool library_excluded(void);
/* Finds and maps the library. It calls no driver, so no launch waits for it. GS_ERR_NOT_SUPPORTED:
 * there is none; text says why. Patient service thread; a second call returns what the first did.
 */
gs_status library_load(char *text, size_t size);
/* Makes the library's handle, which loads a module and so is done at a quiet moment. Statuses as
 * library_load. */
gs_status library_start(char *text, size_t size);
/* Returns the handle; NULL until library_start has made it. */
lt_handle library_handle(void);

#endif
