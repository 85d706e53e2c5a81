/*
 * memory.h - what the session knows of its own memory, so that a bad address fails here, early and
 * with a name: live device allocations, module globals, host blocks. The server checks again.
 */
#ifndef GS_CLIENT_MEMORY_H
#define GS_CLIENT_MEMORY_H

#include "client/base/range_map.h"
#include "client/memory/host_block.h"
#include "client/memory/staging.h"
#include "client/session/session.h"

/* A session's part in this room. */
struct memory {
    pthread_rwlock_t lock;   /* of both maps */
    struct range_map device; /* value: MEMORY_ALLOCATION, an import or a module's handle */
    struct range_map host;   /* value: the server's host block */
    struct staging staging_small, staging_large;
};

struct memory *memory_new(void); /* NULL: no memory */
/* The staging areas' blocks are unmapped with the session. NULL does nothing. */
void memory_free(struct memory *memory);

/* What a device range is, in its value: an allocation, an import (its number follows), or the
 * handle of the module whose global it is, which is greater. */
#define MEMORY_ALLOCATION 0u
#define MEMORY_IMPORT     1u
#define MEMORY_MODULES    (MEMORY_IMPORT + SEG_IMPORTS)

/* Is [address, address + size) inside one live range? what: "destination", "source". Under the
 * lock of the stream that will use it, until the record is committed.
 * GS_ERR_INVALID_POINTER. */
gs_status memory_check(struct session *session, uint64_t address, uint64_t size, const char *what);

/* GS_ERR_NO_MEMORY; GS_ERR_PROTOCOL: it overlaps another. A range that is there already with the
 * same value is fine. */
gs_status memory_add(struct session *session, uint64_t base, uint64_t size, uint64_t value);
/* Takes the allocation or import that begins at base out. GS_ERR_INVALID_POINTER. */
gs_status memory_take(struct session *session, uint64_t base, uint64_t *size);
/* Forgets the globals of a module. */
void memory_forget_module(struct session *session, uint64_t module);

enum host_place { HOST_ORDINARY, HOST_IN_BLOCK };
/* Where host memory lies: wholly in a block of gs_host_alloc (*id and *offset are set), or clear of
 * all. GS_ERR_INVALID_POINTER: it runs over an end of a block, which is never meant. */
gs_status memory_host_find(struct session *session, const void *address, uint64_t size,
                           enum host_place *place, uint32_t *id, uint64_t *offset);
gs_status memory_host_add(struct session *session, const struct host_block *block);
/* GS_ERR_INVALID_POINTER: no block begins there. */
gs_status memory_host_take(struct session *session, void *address, struct host_block *block);

#endif
