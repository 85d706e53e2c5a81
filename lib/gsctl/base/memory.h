/* memory.h - allocates memory for a program that ends if there is none, and defines its exit
 * statuses. */
#ifndef GS_GSCTL_BASE_MEMORY_H
#define GS_GSCTL_BASE_MEMORY_H

#include <stddef.h>

enum { EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_NO_SERVER = 3 };

/* realloc for count elements; ends the program if there is no memory. */
void *memory_more(void *memory, size_t count, size_t size);

#endif
