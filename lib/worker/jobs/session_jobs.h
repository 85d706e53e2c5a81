/* session_jobs.h - what is being done for a session apart from its records; see job.h. Main lane.
 */
#ifndef GS_WORKER_JOBS_SESSION_JOBS_H
#define GS_WORKER_JOBS_SESSION_JOBS_H

#include <stdbool.h>

struct job;

struct session_jobs {
    struct job *current; /* the request or close in progress */
    struct job *close;   /* LINK_CLOSE came while a job was in progress: what to do then */
    bool paused;         /* a job waits for the device to finish the session's work */
};

#endif
