/* Unpacking what nvcc has packed into a fatbin, by the system's own libzstd and liblz4. They are
 * loaded when they are first needed: whoever builds gshare needs no headers of theirs, and no
 * build reads fewer fatbins than another. Any thread. */
#ifndef GS_PTX_UNPACK_H
#define GS_PTX_UNPACK_H

#include <stddef.h>

/* FROM_SIZE bytes at FROM, which may be anything, become at most *SIZE bytes at TO; *SIZE becomes
 * how many, 0 where the packed bytes are damaged. -ENOTSUP: the machine has not the library, and
 * ERR says which package to install. Else 0. */
int unpack_zstd(const void *from, size_t from_size, char *to, size_t *size, char err[256]);
int unpack_lz4(const void *from, size_t from_size, char *to, size_t *size, char err[256]);

#endif
