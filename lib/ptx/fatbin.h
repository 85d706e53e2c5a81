/* NVIDIA's container of device code, as nvcc and fatbinary write it: finding the PTX or the
 * machine code in it. Any thread; no state. The image may come from anyone: every size in it is
 * checked before use. */
#ifndef GS_PTX_FATBIN_H
#define GS_PTX_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if SIZE bytes at IMAGE begin like a fatbin. */
bool fatbin_is_fatbin(const void *image, size_t size);

/* Unpacks the PTX written for the newest architecture not above SM (90 for an H200). The text is
 * the caller's to free(), ends with NUL, and *LEN does not count that. Returns 0, -EINVAL: the
 * container is damaged, -ENOENT: no PTX in it that SM can run, -ENOTSUP: packed in an unknown way
 * or by a library that this machine has not, -E2BIG: larger than PTX_MAX_TEXT, -ENOMEM. ERR says
 * more. */
int fatbin_find_ptx(const void *image, size_t size, unsigned sm, char **ptx, size_t *len,
                    char err[256]);

/* The same for a device that reads PTX itself and takes a text whatever its .target is: where there
 * is no PTX that SM can run, that for the oldest of the newer architectures. An instruction that
 * the device does not have is refused when the text is read. */
int fatbin_find_readable(const void *image, size_t size, unsigned sm, char **ptx, size_t *len,
                         char err[256]);

/* The bytes that fatbin_find_readable takes for the text, with what is behind its end; 0: there is
 * none. Unpacks nothing. */
uint64_t fatbin_readable_size(const void *image, size_t size, unsigned sm);

/* As fatbin_find_ptx for machine code, which a driver would choose; a copy, with a NUL behind it
 * that *LEN does not count. */
int fatbin_find_code(const void *image, size_t size, unsigned sm, char **code, size_t *len,
                     char err[256]);

/* Drops all entries but the machine code for the newest architecture that SM runs, so that nothing
 * is left in the image that a driver would have to compile; *SIZE becomes the new, smaller size.
 * Returns 0, -EINVAL: the container is damaged, -ENOENT: no machine code in it that SM can run,
 * -E2BIG: the code unpacks to more than FATBIN_CODE_MAX. Else ERR says why, and the image is as it
 * was. */
#define FATBIN_CODE_MAX (512u << 20)
int fatbin_keep_code(void *image, size_t *size, unsigned sm, char err[256]);

/* For the process that the image was linked into, where pointers can be followed and sizes
 * believed: */

/* What a __fatBinC_Wrapper points to, or IMAGE itself if it is none. */
const void *fatbin_unwrap(const void *image);
/* All bytes of the fatbin at IMAGE by its own header; 0 if it is no fatbin. */
size_t fatbin_total_size(const void *image);

#endif
