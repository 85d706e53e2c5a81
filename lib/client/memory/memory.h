/*
 * memory.h - a session's map of its own memory: live device allocations, module globals, host
 * blocks. The client checks addresses against it, so that a bad address fails early, with a message
 * that names it; the server checks again. Any thread.
 */
#ifndef GS_CLIENT_MEMORY_H
#define GS_CLIENT_MEMORY_H

#include "client/base/range_map.h"
#include "client/memory/freed.h"
#include "client/memory/host_block.h"
#include "client/memory/staging.h"
#include "client/memory/stream_memory.h"
#include "client/session/session.h"

/* The part of a session that this folder owns. */
struct memory {
    pthread_rwlock_t lock;           /* guards both maps */
    struct range_map device;         /* value: an allocation, an import or a module, see below */
    struct range_map host;           /* value: the server's host block */
    uint64_t host_device[SEG_HOSTS]; /* each block's address for kernels; 0: none */
    int host_segment[SEG_HOSTS];     /* System V's id, or HOST_BLOCK_JOINED */
    /* Held while a block is requested and mapped, and while it is freed and unmapped, because the
     * server may give a freed block's address to another thread's block. */
    pthread_mutex_t host_lock;
    struct staging staging_small, staging_large;
    struct freed_list freed;
    struct stream_memory of_streams;
};

struct memory *memory_new(void); /* NULL: no memory */
/* Frees the struct; session_free unmaps the staging areas' blocks. NULL does nothing. */
void memory_free(struct memory *memory);

/* The value of a device range: MEMORY_ALLOCATION; MEMORY_IMPORT plus the import's number; for a
 * global variable, its module's handle, which is at least MEMORY_MODULES; MEMORY_HOST_BLOCK, which
 * is no handle's value, for a host block that kernels reach. */
#define MEMORY_ALLOCATION 0u
#define MEMORY_IMPORT     1u
#define MEMORY_MODULES    (MEMORY_IMPORT + SEG_IMPORTS)
#define MEMORY_HOST_BLOCK UINT64_MAX

/* Checks that [address, address + size) is inside one live range. what: "destination" or "source",
 * for the message. The caller holds the lock of the stream that uses the range until the record is
 * committed. GS_ERR_INVALID_POINTER. */
gs_status memory_check(struct session *session, uint64_t address, uint64_t size, const char *what);

/* Adds a range; adding the same range with the same value again does nothing. GS_ERR_NO_MEMORY.
 * GS_ERR_PROTOCOL: it overlaps another range. */
gs_status memory_add(struct session *session, uint64_t base, uint64_t size, uint64_t value);
/* Removes the allocation or import that begins at base. Sets *own to whether it is an allocation.
 * GS_ERR_INVALID_POINTER. */
gs_status memory_take(struct session *session, uint64_t base, uint64_t *size, bool *own);
/* Removes the global variables of a module. */
void memory_forget_module(struct session *session, uint64_t module);

enum host_kind { HOST_ORDINARY, HOST_IN_BLOCK };
/* Sets *kind to whether host memory is inside a block of gs_host_alloc (then also *id and *offset)
 * or outside all blocks. GS_ERR_INVALID_POINTER: it crosses an end of a block, which is always a
 * mistake. */
gs_status memory_host_find(struct session *session, const void *address, uint64_t size,
                           enum host_kind *kind, uint32_t *id, uint64_t *offset);
/* Sets *device to the address by which kernels reach an address in a block. GS_ERR_INVALID_POINTER:
 * the address is in no block. GS_ERR_NOT_SUPPORTED: kernels do not reach the block. */
gs_status memory_host_device(struct session *session, const void *address, uint64_t *device);
gs_status memory_host_add(struct session *session, const struct host_block *block);
/* Describes the block at address, which the session has made. GS_ERR_INVALID_POINTER: none begins
 * there. */
gs_status memory_host_own(struct session *session, void *address, struct host_block *block);
/* Removes a block. GS_ERR_INVALID_POINTER: no block begins at address. */
gs_status memory_host_take(struct session *session, void *address, struct host_block *block);

#endif
