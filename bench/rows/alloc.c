/* alloc.c - allocating and freeing device memory, one tenant. */
#include <stdio.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "rows/rows.h"

#define REPEATS 200
#define SECONDS 2 /* at most, a size */

void row_alloc(void)
{
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {{"1K", 1u << 10}, {"1M", 1u << 20}, {"64M", 64u << 20}};
    const struct device_ops *device = device_start();

    /* This block stays, as some memory of a program does: the first and the last block cost more.
     */
    device->alloc(sizes[0].size);
    for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
        uint64_t deadline = clock_ns() + SECONDS * 1000000000ull;
        double there[REPEATS], back[REPEATS];
        char name[32];
        size_t n = 0;

        while (n < REPEATS && clock_ns() < deadline) {
            uint64_t start = clock_ns(), middle;
            uint64_t address = device->alloc(sizes[s].size);

            middle = clock_ns();
            device->free(address);
            there[n] = (double)(middle - start);
            back[n++] = (double)(clock_ns() - middle);
        }
        snprintf(name, sizeof(name), "malloc_%s", sizes[s].name);
        cell_summary(there, n, name);
        snprintf(name, sizeof(name), "free_%s", sizes[s].name);
        cell_summary(back, n, name);
    }
    device->close();
}
