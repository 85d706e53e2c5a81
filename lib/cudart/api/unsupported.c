/*
 * unsupported.c - functions of the runtime that this library does not have. Each returns
 * cudaErrorNotSupported, whatever its parameters, and reports its name at its first call if
 * GSHARE_LOG is "debug".
 */
#include "cudart/abi.h"
#include "cudart/base/error.h"

#define SUPPORTED(name)
#define UNSUPPORTED(name)                                                                          \
    CUDART_API cudaError_t name(void)                                                              \
    {                                                                                              \
        return error_record(error_unsupported(#name));                                             \
    }
#ifdef GS_CUDART_12
#define SUPPORTED_12   SUPPORTED
#define UNSUPPORTED_12 UNSUPPORTED
#define SUPPORTED_13(name)
#define UNSUPPORTED_13(name)
#else
#define SUPPORTED_12(name)
#define UNSUPPORTED_12(name)
#define SUPPORTED_13   SUPPORTED
#define UNSUPPORTED_13 UNSUPPORTED
#endif
#include "cudart/functions.def"
