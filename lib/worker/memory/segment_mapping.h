/*
 * segment_mapping.h - sessions' segments as the worker has them: mapped, with the completion page
 * registered with the driver.
 *
 * A closed session's mapping is kept until the supervisor says that no session will come into that
 * segment (LINK_SEGMENT_DROP): registering a page stalls every other thread's launches, whatever
 * context they are of, for 57 us, and unregistering it for 47 (H200).
 */
#ifndef GS_WORKER_MEMORY_SEGMENT_MAPPING_H
#define GS_WORKER_MEMORY_SEGMENT_MAPPING_H

#include "worker/jobs/job.h"

struct segment_mapping {
    struct segment_mapping *next; /* the next mapping that is kept */
    int id;                       /* System V's */
    unsigned char *memory;
    CUdeviceptr complete; /* seg_complete, as the device sees it */
};

/* The segment's mapping: the one that is kept, or a new one. NULL: the job has failed. Service
 * threads. */
struct segment_mapping *segment_mapping_get(struct job *job, int id);
/* Called when neither a session nor the device uses the mapping any more: keeps the mapping. NULL
 * does nothing. Service threads. */
void segment_mapping_keep(struct segment_mapping *mapping);
/* Ends the mapping at a quiet moment. A segment that is not kept, because its session could not be
 * opened, needs nothing. Control thread. */
void segment_mapping_remove(int id);

#endif
