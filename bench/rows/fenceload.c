/*
 * fenceload.c - how long a module's load takes until a kernel of it can be launched: of PTX that
 * nobody has loaded before, and by another tenant afterwards; in fenced sessions and in others.
 * Native is the driver's compiler alone, without its cache on disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/tenants.h"
#include "rows/rows.h"

__asm__(".section .rodata\n"
        "fenceload_ordinary:\n"
        ".incbin \"" PTX_FOLDER "/ordinary.ptx\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char fenceload_ordinary[];

#define LOADS_MAX    9
#define LOADS_QUICK  3
#define INSTRUCTIONS 4000

enum text { TEXT_ORDINARY, TEXT_LARGE, TEXTS };
static const char *const text_names[] = {"ordinary", "large"};
static const char *const text_kernels[] = {"axpy", "large"};

/* The tenant that loads a text first, and the one that loads it after that. */
enum { FIRST, AGAIN, LOADERS };

static struct page {
    enum text text;
    bool fenced;
    unsigned seed, loads;
    double samples[LOADERS][LOADS_MAX];
} * page;

/* A text that differs for each seed, so that no cache has it. */
static char *text_make(enum text text, unsigned seed)
{
    static const char more[] = ".visible .entry unique_%u() { ret; }\n";
    char *made;

    if (text == TEXT_LARGE)
        return kernels_large_ptx(INSTRUCTIONS, seed);
    made = malloc(strlen(fenceload_ordinary) + sizeof(more) + 16);
    if (made == NULL)
        cell_fail("no memory for a module");
    sprintf(stpcpy(made, fenceload_ordinary), more, seed);
    return made;
}

static void loader_body(struct tenant *tenant)
{
    const struct device_ops *device;

    setenv("CUDA_CACHE_DISABLE", "1", 1);
    device = device_start_as(&(struct role){.fenced = page->fenced});
    for (uint32_t step = 0; step < LOADERS * page->loads; step++) {
        const unsigned load = step / LOADERS;
        char *text = text_make(page->text, page->seed + load);
        uint64_t start;

        tenant_arrive(tenant, step + 1);
        start = clock_ns();
        if (step % LOADERS == tenant->index) {
            device->module_load(text, text_kernels[page->text]);
            page->samples[tenant->index][load] = (double)(clock_ns() - start);
        }
        free(text);
    }
}

static void text_measure(enum text text, bool fenced, unsigned loaders)
{
    /* The table compares what has the same name: native and fenced. */
    const char *const how = plan.side == SIDE_GSHARE && !fenced ? "plain_" : "";
    char name[METRIC_NAME_MAX];
    struct tenants *group;

    page->text = text;
    page->fenced = fenced;
    page->seed = (unsigned)(clock_ns() >> 20);
    page->loads = plan.quick ? LOADS_QUICK : LOADS_MAX;
    group = tenants_start(loaders, loader_body, NULL);
    for (uint32_t step = 1; step <= LOADERS * page->loads; step++) {
        tenants_await(group, step);
        tenants_go(group, step);
    }
    tenants_join(group);
    snprintf(name, sizeof(name), "%sfirst_%s", how, text_names[text]);
    cell_summary(page->samples[FIRST], page->loads, name);
    snprintf(name, sizeof(name), "%sagain_%s", how, text_names[text]);
    if (loaders > AGAIN)
        cell_summary(page->samples[AGAIN], page->loads, name);
}

void row_fenceload(void)
{
    page = cell_shared(sizeof(*page));
    for (enum text text = 0; text < TEXTS; text++) {
        if (plan.side == SIDE_GSHARE) {
            text_measure(text, true, LOADERS);
            text_measure(text, false, LOADERS);
        } else {
            text_measure(text, false, 1);
        }
    }
}
