/* arch.c - see arch.h. */
#include "cudart/state/arch.h"

#include <stddef.h>

static const struct arch table[] = {
    {7, 0, 2048, 32, 96, 0},      {7, 2, 2048, 32, 96, 0},      {7, 5, 1024, 16, 64, 0},
    {8, 0, 2048, 32, 164, 1024},  {8, 6, 1536, 16, 100, 1024},  {8, 7, 1536, 16, 164, 1024},
    {8, 9, 1536, 24, 100, 1024},  {9, 0, 2048, 32, 228, 1024},  {10, 0, 2048, 32, 228, 1024},
    {10, 3, 2048, 32, 228, 1024}, {11, 0, 1536, 24, 228, 1024}, {12, 0, 1536, 24, 100, 1024},
    {12, 1, 1536, 24, 100, 1024},
};

const struct arch *arch_find(unsigned major, unsigned minor)
{
    const struct arch *found = &table[0];

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (table[i].major < major || (table[i].major == major && table[i].minor <= minor))
            found = &table[i];
    }
    return found;
}
