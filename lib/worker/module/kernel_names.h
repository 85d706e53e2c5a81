/*
 * kernel_names.h - lists a module's kernels for the message that there is none of the wanted name.
 * Pure functions; any thread.
 */
#ifndef GS_WORKER_MODULE_KERNEL_NAMES_H
#define GS_WORKER_MODULE_KERNEL_NAMES_H

#include <stddef.h>

/* Writes "no kernel 'fill' in the module; it has '_Z4fillPfi', 'add' and 7 more". Kernels whose
 * name without C++ mangling is the wanted one come first, then those that contain the wanted name.
 */
void kernel_names_tell(char *text, size_t size, const char *wanted, const char *const *names,
                       unsigned count);

#endif
