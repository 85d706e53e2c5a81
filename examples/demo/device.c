/* device.c - all of the demo that speaks to gshare. */
#include <stdio.h>
#include <string.h>

#include "resize.h"

/* The text of resize.ptx, inside the program. */
extern const char resize_ptx[];
__asm__(".section .rodata\n"
        "resize_ptx:\n"
        ".incbin \"" PTX_FILE "\"\n"
        ".byte 0\n"
        ".previous\n");

static bool good(gs_status status, const char *what)
{
    if (status != GS_OK)
        fprintf(stderr, "demo: %s: %s: %s\n", what, gs_status_name(status),
                gs_last_error_message());
    return status == GS_OK;
}

/* Whether a call is good; says which one was not. */
#define GOOD(call) good(call, #call)

bool resizer_open(struct resizer *r, const char *name, const struct tables *tables)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;

    params.name = name;
    return GOOD(gs_attach(&params, &r->session)) &&
           GOOD(gs_module_load(r->session, resize_ptx, 0, &r->module)) &&
           GOOD(gs_kernel_get(r->module, "resize", &r->kernel)) &&
           GOOD(gs_malloc(r->session, IN_BYTES, &r->in)) &&
           GOOD(gs_malloc(r->session, OUT_BYTES, &r->out)) &&
           GOOD(gs_malloc(r->session, sizeof(tables->linear), &r->linear)) &&
           GOOD(gs_malloc(r->session, sizeof(tables->encode), &r->encode)) &&
           GOOD(gs_host_alloc(r->session, IN_BYTES, (void **)&r->host_in)) &&
           GOOD(gs_host_alloc(r->session, OUT_BYTES, (void **)&r->host_out)) &&
           GOOD(gs_memcpy_htod(r->session, r->linear, tables->linear, sizeof(tables->linear))) &&
           GOOD(gs_memcpy_htod(r->session, r->encode, tables->encode, sizeof(tables->encode)));
}

bool resizer_run(struct resizer *r)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_INIT;
    uint32_t width = OUT_WIDTH, height = OUT_HEIGHT;
    void *args[] = {&r->in, &r->out, &r->linear, &r->encode, &width, &height};

    config.block = (gs_dim3){32, 8, 1};
    config.grid = (gs_dim3){OUT_WIDTH / 32, (OUT_HEIGHT + 7) / 8, 1};
    return GOOD(gs_memcpy_htod_async(r->session, r->in, r->host_in, IN_BYTES, NULL)) &&
           GOOD(gs_launch(NULL, r->kernel, &config, args)) &&
           GOOD(gs_memcpy_dtoh_async(r->session, r->host_out, r->out, OUT_BYTES, NULL)) &&
           GOOD(gs_stream_sync(r->session, NULL));
}

bool resizer_close(struct resizer *r)
{
    return GOOD(gs_detach(r->session));
}
