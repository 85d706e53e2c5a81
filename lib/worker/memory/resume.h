/*
 * resume.h - how a session's memory is restored after a takeover, from what the supervisor hands
 * over (struct resume): the window at its former address, and in it the chunks, whose physical
 * memory the supervisor's vault has kept alive. Runs in the work of a job, on a service thread.
 */
#ifndef GS_WORKER_MEMORY_RESUME_H
#define GS_WORKER_MEMORY_RESUME_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "gshare.h"

struct job;
struct preload;
struct session;

/* A piece of the session's memory that the vault has kept. */
struct resume_piece {
    uint64_t address, size, number;
    int descriptor; /* -1: taken */
};

/* A kernel or a variable of the journal: its entry's kind and key. */
struct resume_name {
    uint32_t kind;
    uint64_t key;
};

struct resume {
    uint32_t slot;
    int journal; /* the journal's descriptor; -1: taken */
    struct resume_piece *pieces;
    uint32_t count, capacity;
    struct preload *preload; /* what the standby has preloaded for the session; NULL: nothing */
    /* All other sessions wait while this one is taken up, but not beyond this time for its modules
     * and host memory, and never for the compiler. A session that needs these is late: the others
     * go on without it (session/resume.c). A session whose memory takes longer, because it has very
     * many small pieces, is ended. */
    uint64_t prompt_until;
    bool late;
    /* For a late session: its modules and kernels are loaded a few at a time, so that nobody waits
     * for all of them. */
    uint32_t loaded; /* modules with lower numbers are loaded */
    struct resume_name *names;
    uint32_t name_count, named; /* names before index `named` are resolved */
    uint32_t tries; /* failed attempts to load, for lack of a quiet moment or of memory */
};

/* Makes an empty struct resume. NULL: no memory. */
struct resume *resume_new(uint32_t slot);
/* Adds a piece from the vault and takes its descriptor over. False: there is no memory, and the
 * descriptor is closed. */
bool resume_add(struct resume *resume, const struct link_vault *vault, int descriptor);
/* Frees it, and closes the descriptors that were not taken. NULL is fine. */
void resume_free(struct resume *resume);

/* Makes the chunks, allocations, imports and exports that the journal names. On failure the job has
 * failed, and window_deinit undoes what was done. */
gs_status memory_resume(struct job *job, struct resume *resume);
/* Frees chunks that nothing uses. Called once modules, heap and all else with memory in the window
 * have their places again. */
void memory_resume_end(struct session *session);
/* Tells the vault to drop the pieces that no chunk has taken. */
void resume_drop_rest(const struct job *job, const struct resume *resume);

#endif
