/*
 * unfinished.h - what a session's rings hold that is not known to be complete: what a fault drops,
 * or leaves in doubt whether it ran. Supervisor and worker tell the session's owner and the log.
 *
 * Trust: the segment is the tenant's, so each record is copied, then checked, and nonsense ends
 * the walk. What the records say is the tenant's own account of its work. Any thread.
 */
#ifndef GS_COMMON_UNFINISHED_H
#define GS_COMMON_UNFINISHED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire_record.h"

/* Sets what is lost: the records of all streams from their completion words to their tails. */
void unfinished_tell(const unsigned char *segment, struct seg_fault *fault);

/* The REC_LAUNCH records of a stream between two positions. */
uint64_t unfinished_launches(const unsigned char *segment, uint32_t stream, uint64_t from,
                             uint64_t to);

/* Moves the position on to the first record between it and `to` that can fault, past copies, fills,
 * events and waits, and copies its head. Returns false where that is no launch of one kernel. */
bool unfinished_first_launch(const unsigned char *segment, uint32_t stream, uint64_t *position,
                             uint64_t to, struct rec_launch *launch);

#endif
