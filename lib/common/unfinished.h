/*
 * unfinished.h - counts the records in a session's rings that are not known to be complete. After a
 * fault these records have not run, or may have run. Supervisor and worker report the counts to the
 * session's owner and in the log.
 *
 * Trust: the tenant can write the segment, so each record is copied and then checked, and an
 * invalid record ends the walk. The contents of the records remain the tenant's own claim about its
 * work. Any thread.
 */
#ifndef GS_COMMON_UNFINISHED_H
#define GS_COMMON_UNFINISHED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire_record.h"

/* Adds to the fault's lost_ members the records of all streams between completion word and tail. */
void unfinished_tell(const unsigned char *segment, struct seg_fault *fault);

/* Returns the number of a stream's REC_LAUNCH records between two positions. */
uint64_t unfinished_launches(const unsigned char *segment, uint32_t stream, uint64_t from,
                             uint64_t to);

/* Moves *position to the first record before `to` that can fault, past copies, fills, events and
 * waits, and copies that record's head to *launch. Returns false if there is none, or if it is not
 * a REC_LAUNCH. */
bool unfinished_first_launch(const unsigned char *segment, uint32_t stream, uint64_t *position,
                             uint64_t to, struct rec_launch *launch);

#endif
