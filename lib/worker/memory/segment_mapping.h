/*
 * segment_mapping.h - the worker's mappings of sessions' segments, in each of which the completion
 * page is registered with the driver.
 *
 * A closed session's mapping is kept until the supervisor says that no further session will use the
 * segment (LINK_SEGMENT_DROP): registering a page stalls every other thread's launches, in whatever
 * context, for 57 us, and unregistering it for 47 (H200).
 */
#ifndef GS_WORKER_MEMORY_SEGMENT_MAPPING_H
#define GS_WORKER_MEMORY_SEGMENT_MAPPING_H

#include "worker/jobs/job.h"

struct segment_mapping {
    struct segment_mapping *next; /* the next kept mapping */
    int id;                       /* System V's */
    unsigned char *memory;
    CUdeviceptr complete; /* seg_complete, as the device sees it */
};

/* Returns the segment's kept mapping, or makes one. NULL: the job has failed. Service threads. */
struct segment_mapping *segment_mapping_get(struct job *job, int id);
/* Keeps a mapping that neither a session nor the device uses any more. NULL does nothing. Service
 * threads. */
void segment_mapping_keep(struct segment_mapping *mapping);
/* Removes a kept mapping at a quiet moment. Does nothing for a segment without one, whose session
 * could not be opened. Control thread. */
void segment_mapping_remove(int id);

#endif
