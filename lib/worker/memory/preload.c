/* preload.c - see preload.h. */
#include "worker/memory/preload.h"

#include <stdlib.h>
#include <sys/shm.h>
#include <unistd.h>

#include "common/util.h"
#include "worker/journal/journal.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/device_memory.h"
#include "worker/memory/host_block.h"
#include "worker/memory/host_place.h"
#include "worker/memory/segment_mapping.h"
#include "worker/memory/window.h"

/* The preload of each slot; the control thread's. */
static struct preload *preloads[LINK_SLOTS_MAX];
static uint32_t preload_count;

/* Returns whether a driver call has succeeded. A lost context ends the standby. */
static bool done(CUresult result)
{
    lost_check(result);
    return result == CUDA_SUCCESS;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

void preload_piece_deinit(struct preload_piece *piece)
{
    if (piece->mapped)
        DRV_MUST(cuMemUnmap, piece->address, piece->size);
    if (piece->held)
        DRV_MUST(cuMemRelease, piece->handle);
    piece->mapped = piece->held = false;
}

void preload_pieces_deinit(struct preload *preload)
{
    for (uint32_t i = 0; preload && i < preload->count; i++)
        preload_piece_deinit(&preload->pieces[i]);
    if (preload)
        preload->count = 0;
}

struct preload_piece *preload_piece_at(const struct preload *preload, uint64_t address)
{
    uint32_t low = 0, high = preload ? preload->count : 0;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (preload->pieces[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return preload && low < preload->count && preload->pieces[low].address == address
               ? &preload->pieces[low]
               : NULL;
}

/* Returns whether the piece lies in the window, behind all pieces that were added before. */
static bool piece_fits(const struct preload *preload, const struct link_vault *piece)
{
    const struct preload_piece *last = preload->count ? &preload->pieces[preload->count - 1] : NULL;
    const uint64_t begin = last ? last->address + last->size : preload->window_base;

    return piece->size > 0 && piece->address >= begin &&
           piece->address - preload->window_base < preload->window_size &&
           piece->size <= preload->window_size - (piece->address - preload->window_base);
}

static bool piece_make(struct preload_piece *piece, int descriptor)
{
    piece->held = done(DRV(cuMemImportFromShareableHandle, &piece->handle,
                           (void *)(intptr_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    piece->mapped = piece->held && done(device_map(piece->address, piece->size, piece->handle));
    if (!piece->mapped)
        preload_piece_deinit(piece);
    return piece->mapped;
}

static bool piece_room(struct preload *preload)
{
    const uint32_t capacity = preload->capacity ? 2 * preload->capacity : 16;
    struct preload_piece *pieces;

    if (preload->count < preload->capacity)
        return true;
    pieces = reallocarray(preload->pieces, capacity, sizeof(*pieces));
    if (!pieces)
        return false;
    preload->pieces = pieces;
    preload->capacity = capacity;
    return true;
}

void preload_add(uint32_t slot, const struct link_vault *piece, int descriptor)
{
    struct preload *preload = preloads[slot];
    struct preload_piece made = {
        .address = piece->address, .size = piece->size, .number = piece->number};

    if (descriptor < 0)
        return;
    if (preload && preload->window && piece_fits(preload, piece) && piece_room(preload) &&
        piece_make(&made, descriptor))
        preload->pieces[preload->count++] = made;
    close(descriptor);
}

/* ---- Host blocks ----------------------------------------------------------------------------- */

/* Returns whether [address, address + size) can be a place in the window, and the window is
 * reserved. */
static bool is_place(const struct preload *preload, uint64_t address, uint64_t size)
{
    return preload->window && address >= preload->window_base &&
           address % worker->granularity == 0 &&
           address - preload->window_base < preload->window_size &&
           size <= preload->window_size - (address - preload->window_base);
}

/* Attaches the block at `address`; 0: anywhere. A joined block may lie in a peer window, whose
 * addresses are not reserved yet; it is not attached before the session is taken up. */
static bool host_attach(const struct preload *preload, struct preload_host *host, uint64_t address)
{
    const uint64_t room = host_place_room(host->size);

    if (address) {
        if (!is_place(preload, address, room) || room % host->size ||
            !host_place_attach(host->id, host->size, address))
            return false;
        host->memory = (void *)(uintptr_t)address; // NOLINT: an address of the window
        host->room = room;
        return true;
    }
    host->memory = shmat(host->id, NULL, 0);
    return host->memory != (void *)-1;
}

/* Attaches and registers a host block. address: where kernels reach it; 0: anywhere. */
static void host_make(struct preload *preload, int id, uint32_t uid, bool mapped, uint64_t address)
{
    struct preload_host host = {.id = id, .size = host_segment_bytes(id, uid), .mapped = mapped};
    const uint32_t capacity = preload->host_capacity ? 2 * preload->host_capacity : 4;
    struct preload_host *hosts;

    if (host.size == 0)
        return;
    if (preload->host_count == preload->host_capacity) {
        hosts = reallocarray(preload->hosts, capacity, sizeof(*hosts));
        if (!hosts)
            return;
        preload->hosts = hosts;
        preload->host_capacity = capacity;
    }
    if (!host_attach(preload, &host, address))
        return;
    if (done(DRV(cuMemHostRegister_v2, host.memory, host.room ? host.room : host.size,
                 mapped ? CU_MEMHOSTREGISTER_DEVICEMAP : 0)))
        preload->hosts[preload->host_count++] = host;
    else if (host.room)
        host_place_detach(host.memory, host.room);
    else
        shmdt(host.memory);
}

struct hosts_of {
    struct preload *preload;
    uint32_t uid;
};

/* The worker still writes the journal, so an entry may be nonsense: host_make asks the kernel
 * whether it names a segment of the user's. */
static void entry_look(const struct journal_entry *entry, void *argument)
{
    const struct hosts_of *of = argument;
    enum host_use use = HOST_PLAIN;
    uint64_t address = 0;

    if (entry->kind == JOURNAL_HOST)
        use = host_noted(entry, &address);
    else if (entry->kind == JOURNAL_PRINT)
        use = HOST_MAPPED;
    if (use != HOST_PLAIN)
        host_make(of->preload, (int)entry->value[0], of->uid, use != HOST_COPIED, address);
}

void *preload_host_take(struct preload *preload, int id, uint64_t size, bool mapped,
                        uint64_t address)
{
    for (uint32_t i = 0; preload && i < preload->host_count; i++) {
        struct preload_host *host = &preload->hosts[i];
        void *memory = host->memory;

        if (!memory || host->id != id || host->size != size || host->mapped != mapped ||
            (address && address != (uintptr_t)memory))
            continue;
        host->memory = NULL;
        return memory;
    }
    return NULL;
}

/* Marks the preloaded host block that the entry names, if there is one. */
static void host_confirm(const struct preload *preload, const struct journal_entry *entry,
                         bool *confirmed)
{
    uint64_t address;

    if (entry->kind != JOURNAL_HOST || host_noted(entry, &address) != HOST_REACHED)
        return;
    for (uint32_t i = 0; i < preload->host_count; i++) {
        const struct preload_host *host = &preload->hosts[i];
        confirmed[i] |= (int)entry->value[0] == host->id && address == (uintptr_t)host->memory;
    }
}

/* The journal may have millions of entries, so it is read once. Without memory for the marks, all
 * blocks at places are freed, and made again later. */
void preload_hosts_settle(struct preload *preload, const struct journal *journal)
{
    CLEANUP_FREE bool *confirmed = preload ? calloc(preload->host_count + 1, sizeof(bool)) : NULL;

    for (const struct journal_entry *e = NULL; confirmed && (e = journal_next(journal, e));)
        host_confirm(preload, e, confirmed);
    for (uint32_t i = 0; preload && i < preload->host_count; i++) {
        struct preload_host *host = &preload->hosts[i];

        if (!host->room || (confirmed && confirmed[i]))
            continue;
        DRV_MUST(cuMemHostUnregister, host->memory);
        host_place_detach(host->memory, host->room);
        host->memory = NULL;
    }
}

/* ---- Sessions -------------------------------------------------------------------------------- */

void preload_free(struct preload *preload)
{
    bool places = false;

    if (!preload)
        return;
    preload_pieces_deinit(preload);
    for (uint32_t i = 0; i < preload->host_count; i++) {
        struct preload_host *host = &preload->hosts[i];

        places = places || host->room;
        if (host->memory && host->room)
            deferred_release_place(host->memory, host->room, host->size, (struct deferred_end){0});
        else if (host->memory)
            deferred_release_add(host->memory, host->memory, host->size, (struct deferred_end){0});
    }
    if (preload->window)
        window_unreserve(preload->window_base, preload->window_size, preload->fenced, places);
    free(preload->pieces);
    free(preload->hosts);
    free(preload);
}

/* Frees the slot's preload, and its segment's mapping unless a session has taken that. */
static void slot_clear(uint32_t slot)
{
    struct preload *preload = preloads[slot];

    if (!preload)
        return;
    preloads[slot] = NULL;
    preload_count--;
    if (preload->segment >= 0)
        segment_mapping_remove(preload->segment);
    preload_free(preload);
}

void preload_session(uint32_t slot, const struct link_preload *what, int journal)
{
    struct job job = {0};
    struct preload *preload;
    bool there = false;

    slot_clear(slot);
    preload = calloc(1, sizeof(*preload));
    if (preload) {
        *preload = (struct preload){.session_id = what->session_id,
                                    .window_base = what->window_base,
                                    .window_size = what->window_size,
                                    .fenced = what->fenced,
                                    .segment = -1};
        preloads[slot] = preload;
        preload_count++;
        preload->window =
            done(window_reserve_at(what->window_base, what->window_size, what->fenced, &there)) &&
            there;
        struct segment_mapping *mapping =
            what->segment_id < 0 ? NULL : segment_mapping_get(&job, what->segment_id);
        segment_mapping_keep(mapping);
        preload->segment = mapping ? what->segment_id : -1;
        journal_glance(journal, entry_look, &(struct hosts_of){preload, what->uid});
    }
    if (journal >= 0)
        close(journal);
}

void preload_remove(uint32_t slot, uint64_t number)
{
    struct preload *preload = slot == LINK_SLOT_NONE ? NULL : preloads[slot];

    if (slot == LINK_SLOT_NONE) {
        for (uint32_t i = 0; i < LINK_SLOTS_MAX && preload_count; i++)
            slot_clear(i);
    } else if (number == 0) {
        slot_clear(slot);
    }
    for (uint32_t i = 0; number && preload && i < preload->count; i++) {
        if (preload->pieces[i].number == number)
            preload_piece_deinit(&preload->pieces[i]);
    }
}

/* Returns whether the preload's window overlaps the window of the session that is to be opened. */
static bool in_the_way(const struct preload *preload, const struct link_open *open)
{
    const struct window_range here = window_range(preload->window_base, preload->window_size,
                                                  preload->fenced),
                              there =
                                  window_range(open->window_base, open->window_size, open->fenced);

    return preload->window && here.begin < there.begin + there.size &&
           there.begin < here.begin + here.size;
}

struct preload *preload_take(uint32_t slot, const struct link_open *open)
{
    struct preload *preload = preloads[slot];

    if (preload &&
        (preload->session_id != open->session_id || preload->window_base != open->window_base ||
         preload->window_size != open->window_size || preload->fenced != (open->fenced != 0)))
        slot_clear(slot);
    for (uint32_t i = 0; i < LINK_SLOTS_MAX && preload_count; i++) {
        if (i != slot && preloads[i] && in_the_way(preloads[i], open))
            slot_clear(i);
    }
    preload = preloads[slot];
    preloads[slot] = NULL;
    preload_count -= preload != NULL;
    return preload;
}
