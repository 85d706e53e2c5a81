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

/* The same without the mark: the segment outlives its last process until segment_mark, and the next
 * server removes it if that never comes. */
int segment_begin(size_t size, mode_t mode, uid_t uid, int *id, void **memory);
/* Attaches a segment of that size for this process, and for none that it forks: a fork would count
 * as an attachment and leave its pid as the last one's. NULL, and errno: it cannot be; EINVAL also:
 * it is of another size, since the id may have become another's. */
void *segment_attach(int id, size_t size);
/* Has a fork leave out a segment that is attached, which it detaches if it fails. 0 or -errno. */
int segment_keep_from_forks(void *memory, size_t size);
/* Marks a segment for removal. Harmless on one that is. */
void segment_mark(int id);

/* True where so few System V segments can still be made that those of the operator's own matter. */
int segments_low(void);

/* True for the key of a segment whose maker was killed before it marked the segment for removal. */
int segment_key_ours(key_t key);

#endif
