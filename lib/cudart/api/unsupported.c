/*
 * unsupported.c - the names of the runtime that this library does not have: each returns
 * cudaErrorNotSupported, whatever its parameters, and names itself at its first call.
 */
#include "cudart/abi.h"
#include "cudart/base/error.h"

#define SUPPORTED(name)
#define UNSUPPORTED(name)                                                                          \
    CUDART_API cudaError_t name(void)                                                              \
    {                                                                                              \
        return error_record(error_unsupported(#name));                                             \
    }
#include "cudart/functions.def"
