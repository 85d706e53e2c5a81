/*
 * resume.h - what the supervisor hands over of a session whose worker was lost, and how the
 * session's memory is made again from it: the window at its address, and in it the chunks, whose
 * physical memory the supervisor's vault has kept alive. A job's work, on a service thread.
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

/* Memory of the session that the vault has kept. */
struct resume_piece {
    uint64_t address, size, number;
    int descriptor; /* -1: taken */
};

/* A kernel or a variable that the journal names, by its entry. */
struct resume_name {
    uint32_t kind;
    uint64_t key;
};

struct resume {
    uint32_t slot;
    int journal; /* the journal's descriptor; -1: taken */
    struct resume_piece *pieces;
    uint32_t count, capacity;
    struct preload *preload; /* what the standby made of it beforehand; NULL: nothing */
    /* The others wait while the session is taken up, but not for its modules and host memory beyond
     * that time, nor for the compiler: then it is late, and they go on (session/resume.c). One with
     * much memory in small pieces, which takes longer, is given up. */
    uint64_t prompt_until;
    bool late;
    /* Of one that is late: modules and kernels are loaded a few at a time, so that nobody waits for
     * all. */
    uint32_t loaded; /* modules below that number are */
    struct resume_name *names;
    uint32_t name_count, named; /* those before `named` are there */
    uint32_t tries; /* of the load, which no quiet moment or too little memory has kept from it */
};

/* NULL: no memory. */
struct resume *resume_new(uint32_t slot);
/* Adds a vault entry and takes its descriptor over. False: there is no memory, and the descriptor
 * is closed. */
bool resume_add(struct resume *resume, const struct link_vault *vault, int descriptor);
/* Closes what nobody took. NULL is fine. */
void resume_free(struct resume *resume);

/* Makes chunks, allocations, imports and exports as the journal says. On failure the job has
 * failed, and window_deinit undoes what was done. */
gs_status memory_resume(struct job *job, struct resume *resume);
/* Once all that has memory has its place again: frees what nothing has. */
void memory_resume_end(struct session *session);
/* Tells the vault to drop the entries that no chunk has taken. */
void resume_drop_rest(const struct job *job, const struct resume *resume);

#endif
