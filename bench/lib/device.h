/*
 * device.h - the GPU as one process reaches it: through the CUDA driver (native, time slicing, MPS)
 * or through gshare. What is measured is written once, against this table.
 *
 * A process has one device, opened after its fork. A call that fails ends the process by cell_fail
 * with the call's name and error. Main thread only.
 */
#ifndef GS_BENCH_DEVICE_H
#define GS_BENCH_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kernel {
    KERNEL_NOP,    /* nothing */
    KERNEL_ADD,    /* the 64-bit word at a += d */
    KERNEL_CHAINS, /* d rounds of 4 floating-point chains, their sum to a */
    KERNEL_COUNT
};

/* Every kernel takes these: 4 parameters, 28 bytes. */
struct kernel_args {
    uint64_t a, b, c;
    uint32_t d;
};

/* What a tenant asks of those that share, in each side's own words. Native and time slicing know
 * nothing but the priority of streams. */
enum role_class {
    ROLE_NORMAL,
    ROLE_LATENCY,    /* CUDA: a stream of the highest priority; gshare: the class */
    ROLE_BEST_EFFORT /* CUDA: of the lowest, and an MPS client of low priority; gshare: the class */
};
struct role {
    enum role_class cls;
    unsigned weight;      /* gshare; 0: the default */
    unsigned mps_percent; /* CUDA_MPS_ACTIVE_THREAD_PERCENTAGE; 0: not set */
    bool replay;          /* gshare: GS_ON_FAULT_REPLAY; its kernels come as PTX, since of a session
                           * with machine code nothing is kept beyond its worker */
    bool fenced;          /* gshare: GS_FENCE_ON */
};

#define EVENTS 8

struct device_ops {
    void (*prepare)(void); /* what a program's start does: the library is loaded */
    void (*open)(void);    /* from nothing to a device that takes work */
    void (*open_as)(const struct role *role); /* the same */
    void (*close)(void);
    void (*load)(const void *image, size_t size); /* the kernels of plan.facts */
    void (*module_cycle)(const char *ptx);        /* loads another module, and unloads it */
    /* Loads another module, until that kernel of it can be launched; it stays. */
    void (*module_load)(const char *ptx, const char *kernel);
    void (*launch)(enum kernel kernel, const struct kernel_args *args); /* one thread */
    void (*launch_grid)(enum kernel kernel, const struct kernel_args *args, unsigned blocks,
                        unsigned threads);
    void (*sync)(void);
    /* An event of 0 to EVENTS - 1 is recorded; its wait returns when all before it has ended. */
    void (*event_record)(unsigned event);
    void (*event_wait)(unsigned event);
    void (*stream_create)(void); /* one more */
    uint64_t (*alloc)(size_t size);
    void (*free)(uint64_t address);
    void *(*host_alloc)(size_t size); /* host memory that the device reaches directly */
    void (*host_free)(void *memory);
    void (*htod)(uint64_t dst, const void *src, size_t size); /* return when done */
    void (*dtoh)(void *dst, uint64_t src, size_t size);
};

extern const struct device_ops device_cuda, device_gshare;

/* The device of plan.side. */
const struct device_ops *device_of_side(void);

/* Prepares and opens the device of plan.side, and loads the kernels. */
const struct device_ops *device_start(void);
/* The same with open_as. */
const struct device_ops *device_start_as(const struct role *role);

/* Bytes in use on the whole device, of all processes. CUDA only; the device is open. */
double device_memory_used(void);

/* Finds the driver, the device and the kernels' image for plan.facts. kind: auto, cuda or soft. */
void device_probe(const char *kind, const char *soft_library);

/* ---- Kernels (kernels.c) --------------------------------------------------------------------- */

extern const char kernels_ptx[];
extern const char *const kernel_names[KERNEL_COUNT];

/* A module of that many instructions, different for each seed, so that no cache of compiled code
 * serves it. To be freed; never NULL. */
char *kernels_large_ptx(unsigned instructions, unsigned seed);

#endif
