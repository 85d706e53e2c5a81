/*
 * tensor_map.c - tensor maps, by which kernels copy tensors in bulk (cp.async.bulk.tensor).
 *
 * A map is 128 bytes in a format of the driver's, with an address. Encoding one is only a
 * computation, but the driver does it only in a process with a context, which tenants do not have.
 *
 * No pass over a kernel can see which memory a map leads to. So in a fenced session a map is
 * encoded only if its whole tensor lies in the open part of the window, and the session remembers
 * the map. A launch lets no other map through (record.c), and passes maps in a place where the
 * kernel cannot change them (ptx/rewrite/fence_maps.c). A map is remembered by a hash with a secret
 * key, so that nobody can make up a map with the hash of another one.
 *
 * The hashes are in tables by generation. When the newest table is full, the next generation
 * begins: it takes over those hashes of the oldest table that a launch has used, up to TAKEN_ALONG,
 * and the oldest table is emptied. So a map is remembered as long as it is used now and then, or
 * else until the session has made MAPS - TAKEN_ALONG more. The session's job in progress writes the
 * tables; its lane looks hashes up at the same time.
 */
#include "worker/texture/tensor_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/siphash.h"
#include "cuda/tensor_element.h"
#include "worker/driver/driver.h"
#include "worker/jobs/job.h"
#include "worker/memory/server_memory.h"
#include "worker/memory/window.h"

static_assert(sizeof(CUtensorMap) == REQ_TENSOR_MAP_BYTES &&
                  REQ_TENSOR_RANK == CU_TENSOR_MAP_RANK_MAX,
              "tensor maps of the wire and of the driver");

/* The last values of the driver's enumerations (CUDA 13.0). */
enum { TYPE_LAST = 15, SWIZZLE_LAST = 6 };

/* The most maps of a generation, the slots of its table, and the most maps that the next generation
 * takes over. */
enum { MAPS = 4096, SLOTS = 2 * MAPS, TAKEN_ALONG = MAPS / 2 };
/* There are tables for the newest generation, for the one before it, and an empty one for the next.
 */
enum { TABLES = 3 };

struct tensor_maps {
    uint64_t key[2];
    _Atomic uint64_t generation; /* of the newest table */
    uint32_t count;              /* in the newest table */
    /* by generation: a hash table, in which each hash has USED set if a launch had its map; 0: free
     */
    _Atomic uint64_t slot[TABLES][SLOTS];
};

#define USED UINT64_C(1)

/* What a session that makes maps is charged for: the hashes, and an entry in the journal for each.
 */
#define SERVER_BYTES                                                                               \
    (sizeof(struct tensor_maps) + (2 * MAPS + TAKEN_ALONG) * sizeof(struct journal_entry))

/* ---- Those that are known -------------------------------------------------------------------- */

static uint64_t hash_of(const struct tensor_maps *maps, const unsigned char *map)
{
    const uint64_t hash = siphash(maps->key, map, REQ_TENSOR_MAP_BYTES) & ~USED;

    return hash ? hash : ~USED;
}

/* Returns the hash's slot in a table, or the free one where it would be. *there: the slot's
 * content. */
static _Atomic uint64_t *slot_of(_Atomic uint64_t table[SLOTS], uint64_t hash, uint64_t *there)
{
    uint64_t i = hash >> 1;

    for (unsigned n = 0; n < SLOTS; n++, i++) {
        /* acquire: pairs with the release of turn, which empties a table */
        *there = atomic_load_explicit(&table[i % SLOTS], memory_order_acquire);
        if (!*there || (*there & ~USED) == hash)
            break;
    }
    return &table[i % SLOTS];
}

static bool has(struct tensor_maps *maps, uint64_t hash)
{
    bool found = false;

    for (unsigned k = 0; k < TABLES; k++) {
        uint64_t there;
        _Atomic uint64_t *slot = slot_of(maps->slot[k], hash, &there);

        if (there && !(there & USED)) /* fails if the slot was emptied meanwhile */
            atomic_compare_exchange_strong_explicit(slot, &there, hash | USED, memory_order_relaxed,
                                                    memory_order_relaxed);
        found |= (there & ~USED) == hash;
    }
    return found;
}

bool tensor_map_known(const struct session *session, const unsigned char *map)
{
    /* acquire: pairs with maps_publish */
    struct tensor_maps *maps = atomic_load_explicit(&session->texture.maps, memory_order_acquire);
    uint64_t hash, generation;

    if (!maps)
        return false;
    hash = hash_of(maps, map);
    /* A hash that is not found may just have been taken over into the newest table: then the
     * generation has changed (acquire: pairs with turn). */
    do {
        generation = atomic_load_explicit(&maps->generation, memory_order_acquire);
        if (has(maps, hash))
            return true;
    } while (atomic_load_explicit(&maps->generation, memory_order_acquire) != generation);
    return false;
}

/* Adds a hash to the table of that generation. False: the table has it already. */
static bool add(struct session *session, struct tensor_maps *maps, uint64_t generation,
                uint64_t hash)
{
    const uint64_t value[JOURNAL_VALUES] = {generation};
    uint64_t there;
    _Atomic uint64_t *slot = slot_of(maps->slot[generation % TABLES], hash, &there);

    if (there)
        return false;
    journal_put(session->journal, JOURNAL_TENSOR_MAP, hash, value, NULL, 0);
    atomic_store_explicit(slot, hash, memory_order_relaxed);
    return true;
}

static void note(struct session *session, const struct tensor_maps *maps, uint64_t generation)
{
    const uint64_t value[JOURNAL_VALUES] = {maps->key[0], maps->key[1], generation};

    journal_put(session->journal, JOURNAL_TENSOR_MAPS, 0, value, NULL, 0);
}

static bool is_forgotten(const struct journal *journal, const struct journal_entry *entry)
{
    const struct journal_entry *maps = journal_find(journal, JOURNAL_TENSOR_MAPS, 0);

    return entry->kind == JOURNAL_TENSOR_MAP && maps && entry->value[0] + 1 < maps->value[2];
}

/* Begins the next generation. */
static void turn(struct session *session, struct tensor_maps *maps)
{
    const uint64_t next = atomic_load_explicit(&maps->generation, memory_order_relaxed) + 1;
    _Atomic uint64_t *oldest = maps->slot[(next + 1) % TABLES];
    uint32_t count = 0;

    for (unsigned i = 0; i < SLOTS && count < TAKEN_ALONG; i++) {
        const uint64_t there = atomic_load_explicit(&oldest[i], memory_order_relaxed);

        if (there & USED)
            count += add(session, maps, next, there & ~USED);
    }
    maps->count = count;
    note(session, maps, next);
    /* release, in both stores: a thread that finds the oldest table emptied also finds the hashes
     * that were taken over */
    atomic_store_explicit(&maps->generation, next, memory_order_release);
    for (unsigned i = 0; i < SLOTS; i++)
        atomic_store_explicit(&oldest[i], 0, memory_order_release);
    journal_sweep(session->journal, is_forgotten);
}

/* Remembers a map. Returns whether the next generation has begun for it, so that others may be
 * forgotten. */
static bool remember(struct session *session, const CUtensorMap *map)
{
    struct tensor_maps *maps = atomic_load_explicit(&session->texture.maps, memory_order_relaxed);
    const bool full = maps->count == MAPS;

    if (full)
        turn(session, maps);
    maps->count += add(session, maps, atomic_load_explicit(&maps->generation, memory_order_relaxed),
                       hash_of(maps, (const unsigned char *)map));
    return full;
}

static struct tensor_maps *maps_new(struct job *job)
{
    struct tensor_maps *maps = calloc(1, sizeof(*maps));

    if (!maps)
        job_fail(job, GS_ERR_NO_MEMORY, "no host memory for the session's tensor maps");
    return maps;
}

static void maps_publish(struct session *session, struct tensor_maps *maps)
{
    /* release: the key is there; pairs with tensor_map_known */
    atomic_store_explicit(&session->texture.maps, maps, memory_order_release);
}

/* Makes the session's tables, unless it has them. On failure the job has failed. */
static gs_status maps_open(struct job *job)
{
    struct session *session = job->session;
    struct tensor_maps *maps;

    if (atomic_load_explicit(&session->texture.maps, memory_order_relaxed))
        return GS_OK;
    if (server_memory_charge(job, SERVER_BYTES) != GS_OK)
        return job->status;
    maps = maps_new(job);
    if (maps && getrandom(maps->key, sizeof(maps->key), 0) != (ssize_t)sizeof(maps->key))
        job_fail(job, GS_ERR_SYSTEM, "getrandom: %s", strerror(errno));
    if (job->status != GS_OK) {
        free(maps);
        server_memory_discharge(session, SERVER_BYTES);
        return job->status;
    }
    note(session, maps, 0);
    maps_publish(session, maps);
    return GS_OK;
}

gs_status tensor_maps_resume(struct job *job)
{
    const struct journal *journal = job->session->journal;
    const struct journal_entry *made = journal_find(journal, JOURNAL_TENSOR_MAPS, 0);
    struct tensor_maps *maps;

    if (!made)
        return GS_OK;
    maps = maps_new(job);
    if (!maps)
        return job->status;
    server_memory_adopt(job->session, SERVER_BYTES);
    memcpy(maps->key, made->value, sizeof(maps->key));
    atomic_init(&maps->generation, made->value[2]);
    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        uint64_t there;

        if (e->kind != JOURNAL_TENSOR_MAP || is_forgotten(journal, e))
            continue;
        atomic_init(slot_of(maps->slot[e->value[0] % TABLES], e->key, &there), e->key);
        maps->count += e->value[0] == made->value[2];
    }
    maps_publish(job->session, maps);
    return GS_OK;
}

void tensor_maps_deinit(struct session *session)
{
    free(atomic_exchange(&session->texture.maps, NULL));
}

/* ---- Encoding -------------------------------------------------------------------------------- */

/* Returns whether the request has only documented values; the driver gets no others. */
static bool known(const struct req_tensor_map *map)
{
    return map->rank > 0 && map->rank <= REQ_TENSOR_RANK && map->type <= TYPE_LAST &&
           map->interleave <= CU_TENSOR_MAP_INTERLEAVE_32B && map->swizzle <= SWIZZLE_LAST &&
           map->promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
           map->fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
}

/* Returns whether all elements of the tensor lie in the open part of the window. */
static bool is_inside(const struct session *session, const struct req_tensor_map *map)
{
    const uint64_t first = session->memory.window_base;
    uint64_t end, part;

    if (__builtin_mul_overflow(map->dim[0], tensor_element_bytes(map->type), &end) ||
        __builtin_add_overflow(end, map->address, &end))
        return false;
    for (uint32_t i = 1; i < map->rank; i++)
        if (!map->dim[i] || __builtin_mul_overflow(map->dim[i] - 1, map->stride[i - 1], &part) ||
            __builtin_add_overflow(end, part, &end))
            return false;
    return map->address >= first && end <= first + window_open_size(session);
}

/* Refuses maps that a fenced session cannot have. On failure the job has failed. */
static gs_status check_fenced(struct job *job, const struct req_tensor_map *map)
{
    if (!tensor_element_bytes(map->type) || map->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
        return job_fail(job, GS_ERR_NOT_SUPPORTED,
                        "a fenced session has no tensor maps of packed or interleaved elements");
    if (!is_inside(job->session, map))
        return job_fail(job, GS_ERR_INVALID_VALUE,
                        "the tensor does not lie in the memory of the session, which is fenced");
    return maps_open(job);
}

static void tensor_map_work(struct job *job)
{
    const struct req_tensor_map map = job->tensor_map;
    CUtensorMap made;

    if (!known(&map)) {
        job_fail(job, GS_ERR_INVALID_VALUE, "a tensor map of a rank or kind that there is not");
        return;
    }
    if (job->session->fenced && check_fenced(job, &map) != GS_OK)
        return;
    CUresult result = DRV(cuTensorMapEncodeTiled, &made, (CUtensorMapDataType)map.type, map.rank,
                          (void *)(uintptr_t)map.address, map.dim, map.stride, map.box, map.step,
                          (CUtensorMapInterleave)map.interleave, (CUtensorMapSwizzle)map.swizzle,
                          (CUtensorMapL2promotion)map.promotion, (CUtensorMapFloatOOBfill)map.fill);
    if (result == CUDA_ERROR_INVALID_VALUE) {
        job_fail(job, GS_ERR_INVALID_VALUE, "the driver makes no tensor map of these values");
        return;
    }
    if (result) {
        job_fail_driver(job, result);
        return;
    }
    if (job->session->fenced)
        job->index = remember(job->session, &made);
    memcpy(job->payload, &made, sizeof(made));
    job->reply_bytes = sizeof(made);
}

/* Changing the generation makes recorded graphs check their maps again, so that maps of graphs that
 * are still launched count as used. */
static void tensor_map_install(struct job *job)
{
    job->session->memory.generation += job->index;
}

const struct job_kind job_tensor_map = {"tensor_map",    JOB_QUICK,          NULL,
                                        tensor_map_work, tensor_map_install, NULL};
