/*
 * arch.h - what a compute capability says of a device, from the table "Technical Specifications per
 * Compute Capability" of the CUDA C++ Programming Guide. The session's own description has the
 * rest.
 */
#ifndef GS_CUDART_ARCH_H
#define GS_CUDART_ARCH_H

struct arch {
    unsigned major, minor;
    unsigned threads;  /* resident on an SM */
    unsigned blocks;   /* resident on an SM */
    unsigned smem_sm;  /* KiB of shared memory on an SM */
    unsigned smem_own; /* bytes of a block's shared memory that the system keeps */
};

#define ARCH_WARP          32
#define ARCH_REGISTERS     65536 /* of an SM, and the most of a block */
#define ARCH_CONSTANT      65536
#define ARCH_SMEM_DEFAULT  49152 /* of a block that did not opt in */
#define ARCH_PITCH_MAX     2147483647
#define ARCH_TEXTURE_ALIGN 512
#define ARCH_PITCH_ALIGN   32

/* The device's row; of a later capability the last one. */
const struct arch *arch_find(unsigned major, unsigned minor);

#endif
