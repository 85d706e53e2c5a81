/*
 * segment.h - System V segments of the server: one call makes a segment, gives it to a user and
 * marks it for removal, so that the segment lives exactly as long as a process has it attached. Any
 * thread.
 */
#ifndef GS_COMMON_SEGMENT_H
#define GS_COMMON_SEGMENT_H

#include <stddef.h>
#include <sys/ipc.h>
#include <sys/types.h>

/* Makes a zeroed segment of `size` bytes that `uid` owns, and attaches it. Other processes can
 * attach it by its id, as `mode` allows, until no process has it attached. Returns 0 or -errno; on
 * success the caller detaches *memory by shmdt. */
int segment_make(size_t size, mode_t mode, uid_t uid, int *id, void **memory);

/* Makes a segment as segment_make does, but does not mark it for removal: the segment outlives the
 * last process until segment_mark. If the server is killed before that, the next server removes the
 * segment. */
int segment_begin(size_t size, mode_t mode, uid_t uid, int *id, void **memory);
/* Attaches a segment of `size` bytes in this process but not in processes that it forks: a forked
 * process would count as an attachment, and its pid would be recorded as the last to attach.
 * Returns NULL and sets errno on failure; EINVAL also means that the segment has another size,
 * which happens when the id has been reused. */
void *segment_attach(int id, size_t size);
/* Keeps an attached segment out of forked processes. Returns 0, or detaches the segment and returns
 * -errno. */
int segment_keep_from_forks(void *memory, size_t size);
/* Marks a segment for removal. Harmless if it is marked already. */
void segment_mark(int id);

/* Returns 1 if the system can make only few more System V segments, so that the rest should be left
 * to the operator; 0 if there are enough or the kernel does not tell. */
int segments_low(void);

/* Returns whether the key is one that segment_begin gives. A segment that has it after its maker's
 * end was never marked for removal. */
int segment_key_ours(key_t key);

#endif
