/* resize.h - what the demo computes, on the device (device.c, resize.cu) and again on the CPU
 * (reference.c): a photograph to a quarter of its width and height, averaged in linear light. */
#ifndef DEMO_RESIZE_H
#define DEMO_RESIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "gshare.h"

#define IN_WIDTH   1920u
#define IN_HEIGHT  1080u
#define OUT_WIDTH  480u
#define OUT_HEIGHT 270u
#define IN_BYTES   (IN_WIDTH * IN_HEIGHT * 3)
#define OUT_BYTES  (OUT_WIDTH * OUT_HEIGHT * 3)

/* Between bytes, which are coded for the eye (sRGB), and light, which can be averaged. */
struct tables {
    uint16_t linear[256];
    uint8_t encode[4096];
};
void tables_init(struct tables *tables);

/* The same arithmetic as resize.cu, pixel by pixel. */
void reference_resize(const struct tables *tables, const uint8_t *in, uint8_t *out);

/* A session with the kernel loaded and its memory allocated. */
struct resizer {
    gs_session session;
    gs_module module;
    gs_kernel kernel;
    gs_devptr in, out, linear, encode;
    uint8_t *host_in, *host_out; /* from gs_host_alloc: IN_BYTES to fill, OUT_BYTES to read */
};
/* These print what failed to stderr and return false. */
bool resizer_open(struct resizer *resizer, const char *name, const struct tables *tables);
/* host_in to host_out: copy to the device, kernel, copy back. */
bool resizer_run(struct resizer *resizer);
bool resizer_close(struct resizer *resizer);

#endif
