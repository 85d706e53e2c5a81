/*
 * copies.c - copies between host and device, of one tenant: from memory that the device reaches
 * directly (gs_host_alloc, cuMemHostAlloc) and from ordinary memory. The contents are checked.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/stats.h"
#include "rows/rows.h"

#define MIB         ((size_t)1 << 20)
#define REPEATS_MAX 15

/* Words that differ from their neighbours and between the two kinds of memory; also the first touch
 * of the memory. */
static uint64_t pattern(uint64_t seed, size_t i)
{
    return (i + 1) * 0x9e3779b97f4a7c15u ^ seed;
}

static void pattern_fill(uint64_t *memory, size_t words, uint64_t seed)
{
    for (size_t i = 0; i < words; i++)
        memory[i] = pattern(seed, i);
}

static void pattern_check(const uint64_t *memory, size_t words, uint64_t seed, const char *what)
{
    for (size_t i = 0; i < words; i++) {
        if (memory[i] != pattern(seed, i))
            cell_fail("%s memory of %zu bytes: word %zu came back as %#llx", what, words * 8, i,
                      (unsigned long long)memory[i]);
    }
}

static void copies_measure(const struct device_ops *device, uint64_t address, void *memory,
                           size_t size, const char *what)
{
    int repeats = size > 256 * MIB ? 5 : size > 16 * MIB ? 7 : REPEATS_MAX;
    double there[REPEATS_MAX], back[REPEATS_MAX];
    uint64_t seed = (uint64_t)(uintptr_t)what ^ size;

    pattern_fill(memory, size / 8, seed);
    for (int i = 0; i < repeats; i++) {
        uint64_t start = clock_ns();

        device->htod(address, memory, size);
        there[i] = (double)(clock_ns() - start);
    }
    memset(memory, 0, size);
    for (int i = 0; i < repeats; i++) {
        uint64_t start = clock_ns();

        device->dtoh(memory, address, size);
        back[i] = (double)(clock_ns() - start);
    }
    pattern_check(memory, size / 8, seed, what);
    cell_metric((double)size / stats_median(there, (size_t)repeats) * 1e9, "%s_htod_%zu", what,
                size / MIB);
    cell_metric((double)size / stats_median(back, (size_t)repeats) * 1e9, "%s_dtoh_%zu", what,
                size / MIB);
}

static void *ordinary_new(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        cell_fail("mapping %zu bytes: %s", size, strerror(errno));
    return at;
}

void row_copies(void)
{
    static const size_t sizes[] = {MIB, 16 * MIB, 256 * MIB, 1024 * MIB};
    /* The software device copies as memcpy does: large sizes tell nothing more. */
    size_t count = plan.facts->soft || plan.quick ? 2 : ARRAY_SIZE(sizes);
    const struct device_ops *device = device_start();

    for (size_t i = 0; i < count; i++) {
        uint64_t address = device->alloc(sizes[i]);
        uint64_t start = clock_ns();
        void *direct = device->host_alloc(sizes[i]), *ordinary;

        cell_metric((double)(clock_ns() - start), "host_alloc_%zu", (size_t)(sizes[i] / MIB));
        copies_measure(device, address, direct, sizes[i], "pinned");
        device->host_free(direct);
        ordinary = ordinary_new(sizes[i]);
        copies_measure(device, address, ordinary, sizes[i], "ordinary");
        munmap(ordinary, sizes[i]);
        device->free(address);
    }
    device->close();
}
