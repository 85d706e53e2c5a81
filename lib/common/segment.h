/*
 * segment.h - System V segments that are the server's: made, given to a user and marked for removal
 * in one go, so that they live exactly as long as somebody has them attached. Any thread.
 */
#ifndef GS_COMMON_SEGMENT_H
#define GS_COMMON_SEGMENT_H

#include <stddef.h>
#include <sys/ipc.h>
#include <sys/types.h>

/* Makes a zeroed segment of `size` bytes that `uid` owns, and attaches it. Others can attach it by
 * its id, as far as `mode` lets them, until nobody has it attached. 0 or -errno; on success the
 * caller detaches *memory by shmdt. */
int segment_make(size_t size, mode_t mode, uid_t uid, int *id, void **memory);

/* Is this the key of a segment that a process was killed over before it was marked for removal? */
int segment_key_ours(key_t key);

#endif
