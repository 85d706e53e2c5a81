/* driver_functions.h - functions of the driver that a program looks up by name. */
#ifndef GS_CUDART_DRIVER_FUNCTIONS_H
#define GS_CUDART_DRIVER_FUNCTIONS_H

#include <stdbool.h>

#include "cudart/abi.h"

typedef void (*driver_function)(void);

/* Finds the function that a program for that version of CUDA expects (12000 is 12.0); if per_thread
 * is set, its variant for per-thread default streams. *found is NULL unless the result is success.
 */
enum cudaDriverEntryPointQueryResult driver_function_find(const char *name, unsigned version,
                                                          bool per_thread, driver_function *found);

#endif
