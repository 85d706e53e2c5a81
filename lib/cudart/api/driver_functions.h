/* driver_functions.h - the functions of the driver that a program gets by name. */
#ifndef GS_CUDART_DRIVER_FUNCTIONS_H
#define GS_CUDART_DRIVER_FUNCTIONS_H

#include <stdbool.h>

#include "cudart/abi.h"

typedef void (*driver_function)(void);

/* Finds the function as a program for that version of CUDA (12000 is 12.0) knows it; of a program
 * with per-thread default streams, where set. *found is NULL unless the result is success. */
enum cudaDriverEntryPointQueryResult driver_function_find(const char *name, unsigned version,
                                                          bool per_thread, driver_function *found);

#endif
