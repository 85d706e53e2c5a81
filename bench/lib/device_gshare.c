/* device_gshare.c - the device through gshare. One process has one session. */
#include <stdio.h>

#include "gshare.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/gshare_call.h"

static gs_session session;
static gs_module module;
static gs_kernel kernel_handle[KERNEL_COUNT];
static gs_event events[EVENTS];

static void gshare_prepare(void) {} /* the library is linked */

static void gshare_open(void)
{
    GS(gs_attach, NULL, &session);
}

static bool fenced; /* the session */

static void gshare_open_as(const struct role *role)
{
    static const gs_class classes[] = {
        [ROLE_NORMAL] = GS_CLASS_NORMAL,
        [ROLE_LATENCY] = GS_CLASS_LATENCY,
        [ROLE_BEST_EFFORT] = GS_CLASS_BEST_EFFORT,
    };
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_qos qos = GS_QOS_INIT;

    qos.cls = classes[role->cls];
    qos.weight = role->weight;
    params.qos = &qos;
    if (role->replay)
        params.on_fault = GS_ON_FAULT_REPLAY;
    if (role->fenced)
        params.fence = GS_FENCE_ON;
    fenced = role->fenced;
    GS(gs_attach, &params, &session);
}

static void gshare_close(void)
{
    GS(gs_detach, session);
}

/* Only PTX can be fenced. */
static void gshare_load(const void *image, size_t size)
{
    if (fenced)
        GS(gs_module_load, session, kernels_ptx, 0, &module);
    else
        GS(gs_module_load, session, image, size, &module);
    for (int i = 0; i < KERNEL_COUNT; i++)
        GS(gs_kernel_get, module, kernel_names[i], &kernel_handle[i]);
}

static void gshare_module_cycle(const char *ptx)
{
    gs_module other;

    GS(gs_module_load, session, ptx, 0, &other);
    GS(gs_module_unload, other);
}

static void gshare_module_load(const char *ptx, const char *name)
{
    gs_module other;
    gs_kernel kernel;

    GS(gs_module_load, session, ptx, 0, &other);
    GS(gs_kernel_get, other, name, &kernel);
}

static void gshare_launch(enum kernel kernel, const struct kernel_args *args)
{
    static const gs_launch_config config = GS_LAUNCH_CONFIG_INIT;
    void *params[] = {(void *)&args->a, (void *)&args->b, (void *)&args->c, (void *)&args->d};

    GS(gs_launch, NULL, kernel_handle[kernel], &config, params);
}

static void gshare_launch_grid(enum kernel kernel, const struct kernel_args *args, unsigned blocks,
                               unsigned threads)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(blocks, threads);
    void *params[] = {(void *)&args->a, (void *)&args->b, (void *)&args->c, (void *)&args->d};

    GS(gs_launch, NULL, kernel_handle[kernel], &config, params);
}

static void gshare_event_record(unsigned event)
{
    if (events[event] == NULL)
        GS(gs_event_create, session, &events[event]);
    GS(gs_event_record, events[event], NULL);
}

static void gshare_event_wait(unsigned event)
{
    GS(gs_event_sync, events[event]);
}

static void gshare_sync(void)
{
    GS(gs_stream_sync, session, NULL);
}

static void gshare_stream_create(void)
{
    gs_stream more;

    GS(gs_stream_create, session, NULL, &more);
}

static uint64_t gshare_alloc(size_t size)
{
    gs_devptr address;

    GS(gs_malloc, session, size, &address);
    return address;
}

static void gshare_free(uint64_t address)
{
    GS(gs_free, session, address);
}

static void *gshare_host_alloc(size_t size)
{
    void *memory;

    GS(gs_host_alloc, session, size, &memory);
    return memory;
}

static void gshare_host_free(void *memory)
{
    GS(gs_host_free, session, memory);
}

static void gshare_htod(uint64_t dst, const void *src, size_t size)
{
    GS(gs_memcpy_htod, session, dst, src, size);
}

static void gshare_dtoh(void *dst, uint64_t src, size_t size)
{
    GS(gs_memcpy_dtoh, session, dst, src, size);
}

const struct device_ops device_gshare = {
    .prepare = gshare_prepare,
    .open = gshare_open,
    .open_as = gshare_open_as,
    .close = gshare_close,
    .load = gshare_load,
    .module_cycle = gshare_module_cycle,
    .module_load = gshare_module_load,
    .launch = gshare_launch,
    .launch_grid = gshare_launch_grid,
    .sync = gshare_sync,
    .event_record = gshare_event_record,
    .event_wait = gshare_event_wait,
    .stream_create = gshare_stream_create,
    .alloc = gshare_alloc,
    .free = gshare_free,
    .host_alloc = gshare_host_alloc,
    .host_free = gshare_host_free,
    .htod = gshare_htod,
    .dtoh = gshare_dtoh,
};
