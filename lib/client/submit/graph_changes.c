/* graph_changes.c - see graph_changes.h. */
#include "client/submit/graph_changes.h"

#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "common/wire.h"

/* Flags of a step. */
#define CHANGED      1u            /* its record may differ from the recorded one */
#define OFF          2u            /* launches leave it out */
#define FORMER(flag) ((flag) << 2) /* whether the step had the flag before the call in progress */
#define NAMED        16u           /* the call in progress names the step */

#define DIFFERENCE_MAX (REC_SIZE_MAX - (uint32_t)sizeof(struct rec_graph))

static const struct rec_header *header_of(const unsigned char *record)
{
    return (const void *)record;
}

static uint32_t copy_kind(const unsigned char *record)
{
    return header_of(record)->op == REC_COPY ? ((const struct rec_copy *)(const void *)record)->kind
                                             : 0;
}

static uint32_t sections_of(const struct graph_changes *changes)
{
    return (changes->steps + SEG_GRAPH_NODES - 1) / SEG_GRAPH_NODES;
}

static unsigned step_of(const unsigned *steps, unsigned i)
{
    return steps ? steps[i] : i;
}

/* An iterator over the calls of a recording, each of which replaces a step. */
struct calls {
    const struct recording *recording;
    const unsigned *steps; /* NULL: the first steps */
    size_t at;
    unsigned number;
};

/* Returns the record of the next call and sets *step; NULL at the end. Skips REC_AFTERs, which are
 * no calls. */
static unsigned char *call_next(struct calls *calls, unsigned *step)
{
    while (calls->at < calls->recording->size) {
        unsigned char *record = calls->recording->bytes + calls->at;

        calls->at += header_of(record)->size;
        if (header_of(record)->op != REC_AFTER) {
            *step = step_of(calls->steps, calls->number++);
            return record;
        }
    }
    return NULL;
}

/* ---- Making ---------------------------------------------------------------------------------- */

struct graph_changes *graph_changes_new(struct recording *recording)
{
    struct graph_changes *changes = calloc(1, sizeof(*changes));
    unsigned char *record, *fitting;
    unsigned step;

    if (changes)
        changes->offset = malloc((recording->steps + 1) * sizeof(*changes->offset));
    if (!changes || !changes->offset) {
        free(changes);
        error_set(GS_ERR_NO_MEMORY, "no memory for a graph of %u calls", recording->steps);
        return NULL;
    }
    pthread_mutex_init(&changes->lock, NULL);
    changes->bytes = recording->size;
    changes->steps = recording->steps;
    for (struct calls calls = {recording, NULL, 0, 0}; (record = call_next(&calls, &step));)
        changes->offset[step] = (uint32_t)(record - recording->bytes);
    fitting = recording->size ? realloc(recording->bytes, recording->size) : NULL;
    changes->recorded = fitting ? fitting : recording->bytes;
    recording->bytes = NULL;
    return changes;
}

void graph_changes_free(struct graph_changes *changes)
{
    if (!changes)
        return;
    for (uint32_t i = 0; changes->difference && i < sections_of(changes); i++)
        free(changes->difference[i].bytes);
    pthread_mutex_destroy(&changes->lock);
    free(changes->recorded);
    free(changes->offset);
    free(changes->now);
    free(changes->state);
    free(changes->difference);
    free(changes->draft);
    free(changes);
}

/* Allocates the members that only a changed graph needs. The lock is held. */
static gs_status begin(struct graph_changes *changes)
{
    if (changes->draft)
        return GS_OK;
    if (!changes->now && (changes->now = malloc(changes->bytes ? changes->bytes : 1)))
        memcpy(changes->now, changes->recorded, changes->bytes);
    if (!changes->state)
        changes->state = calloc(changes->steps + 1, 1);
    if (!changes->difference)
        changes->difference = calloc(sections_of(changes) + 1, sizeof(*changes->difference));
    if (changes->now && changes->state && changes->difference)
        changes->draft = malloc(DIFFERENCE_MAX);
    if (!changes->draft)
        return error_set(GS_ERR_NO_MEMORY, "no memory for changing a graph of %u calls",
                         changes->steps);
    atomic_store_explicit(&changes->ever, true, memory_order_relaxed);
    return GS_OK;
}

/* ---- Differences: the lock is held ----------------------------------------------------------- */

#define WORD sizeof(uint64_t)

/* Returns the offset of the record's first word from `at` on that differs (or, with `differs`
 * false, is equal); the record's size if there is none. */
static uint32_t word_find(const unsigned char *a, const unsigned char *b, uint32_t at,
                          uint32_t size, bool differs)
{
    while (at < size && (memcmp(a + at, b + at, WORD) != 0) != differs)
        at += WORD;
    return at;
}

static bool change_add(unsigned char *to, uint32_t *size, const struct rec_change *change,
                       const unsigned char *bytes)
{
    if (*size + rec_change_size(change->bytes) > DIFFERENCE_MAX)
        return false;
    memcpy(to + *size, change, sizeof(*change));
    memcpy(to + *size + sizeof(*change), bytes, change->bytes);
    *size += rec_change_size(change->bytes);
    return true;
}

/* Returns whether a call names a kernel or a host block. */
static bool names_object(const unsigned char *record)
{
    return header_of(record)->op == REC_LAUNCH ||
           (copy_kind(record) != 0 && copy_kind(record) != REC_DTOD);
}

/* Adds a step's changes to the difference; `number` is the step's number in its section. A call may
 * name a new object by the number of a former one. Its record is then sent even if no byte of it
 * differs. */
static bool step_add(const struct graph_changes *changes, uint32_t step, uint32_t number,
                     unsigned char *to, uint32_t *size)
{
    const unsigned char *was = changes->recorded + changes->offset[step],
                        *is = changes->now + changes->offset[step];
    const uint32_t bytes = header_of(was)->size, before = *size;
    const uint16_t first = sizeof(struct rec_header);

    if (changes->state[step] & OFF)
        return change_add(to, size, &(struct rec_change){.step = number}, is);
    for (uint32_t from = first, end;; from = end) {
        from = word_find(was, is, from, bytes, true);
        if (from == bytes)
            return *size > before || !(changes->state[step] & CHANGED) || !names_object(is) ||
                   change_add(to, size,
                              &(struct rec_change){.step = number, .at = first, .bytes = WORD},
                              is + first);
        end = word_find(was, is, from, bytes, false);
        const struct rec_change change = {
            .step = number, .at = (uint16_t)from, .bytes = (uint16_t)(end - from)};
        if (!change_add(to, size, &change, is + from))
            return false;
    }
}

static gs_status section_make(struct graph_changes *changes, uint32_t section)
{
    struct graph_difference *difference = &changes->difference[section];
    const uint32_t first = section * SEG_GRAPH_NODES;
    unsigned char *former = difference->bytes;
    uint32_t size = 0;

    for (uint32_t i = 0; i < SEG_GRAPH_NODES && first + i < changes->steps; i++) {
        if (changes->state[first + i] & (CHANGED | OFF) &&
            !step_add(changes, first + i, i, changes->draft, &size))
            return error_set(GS_ERR_LIMIT,
                             "more of a graph is changed than the %u bytes that its launch has for "
                             "changes",
                             DIFFERENCE_MAX);
    }
    if (!former && !(former = malloc(DIFFERENCE_MAX)))
        return error_set(GS_ERR_NO_MEMORY, "no memory for the changes of a graph");
    *difference = (struct graph_difference){.bytes = changes->draft, .size = size};
    changes->draft = former;
    return GS_OK;
}

/* Makes the differences of all sections that contain one of these steps. */
static gs_status sections_make(struct graph_changes *changes, const unsigned *steps, unsigned count)
{
    gs_status status = GS_OK;

    for (unsigned i = 0; i < count; i++)
        changes->difference[step_of(steps, i) / SEG_GRAPH_NODES].due = true;
    for (uint32_t section = 0; section < sections_of(changes) && status == GS_OK; section++) {
        if (changes->difference[section].due)
            status = section_make(changes, section);
    }
    return status;
}

/* ---- Changing -------------------------------------------------------------------------------- */

static gs_status steps_check(const struct graph_changes *changes, const unsigned *steps,
                             unsigned count)
{
    if (!steps && count > changes->steps)
        return error_set(GS_ERR_INVALID_VALUE, "%u calls for a graph of %u", count, changes->steps);
    for (unsigned i = 0; steps && i < count; i++)
        if (steps[i] >= changes->steps)
            return error_set(GS_ERR_INVALID_VALUE, "the graph has no step %u: there are %u",
                             steps[i], changes->steps);
    return GS_OK;
}

static gs_status alike(const unsigned char *is, const unsigned char *becomes, unsigned step)
{
    if (header_of(is)->op == header_of(becomes)->op &&
        header_of(is)->size == header_of(becomes)->size &&
        header_of(is)->flags == header_of(becomes)->flags && copy_kind(is) == copy_kind(becomes))
        return GS_OK;
    return error_set(GS_ERR_NOT_SUPPORTED,
                     "a call of another kind, or with parameters of another size, than step %u of "
                     "the graph",
                     step);
}

static void bytes_swap(unsigned char *a, unsigned char *b, uint32_t size)
{
    uint64_t word;

    for (uint32_t at = 0; at < size; at += WORD) {
        memcpy(&word, a + at, WORD);
        memcpy(a + at, b + at, WORD);
        memcpy(b + at, &word, WORD);
    }
}

/* Exchanges the records of the recording's calls with the steps' current records. A second exchange
 * undoes the first. */
static void calls_exchange(struct graph_changes *changes, struct calls calls)
{
    unsigned char *record;
    unsigned step;

    while ((record = call_next(&calls, &step)))
        bytes_swap(changes->now + changes->offset[step], record, header_of(record)->size);
}

static gs_status calls_check(const struct graph_changes *changes, struct calls calls)
{
    gs_status status = GS_OK;
    unsigned char *record;
    unsigned step;

    while (status == GS_OK && (record = call_next(&calls, &step)))
        status = alike(changes->recorded + changes->offset[step], record, step);
    return status;
}

/* Sets or clears the flag of the steps, and keeps each step's former value. */
static void flags_set(struct graph_changes *changes, const unsigned *steps, unsigned count,
                      unsigned flag, bool on)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned char *state = &changes->state[step_of(steps, i)];
        const unsigned others = *state & ~(flag | FORMER(flag));

        *state = (unsigned char)(others | (on ? flag : 0) | (*state & flag ? FORMER(flag) : 0));
    }
}

/* Undoes flags_set. */
static void flags_restore(struct graph_changes *changes, const unsigned *steps, unsigned count,
                          unsigned flag)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned char *state = &changes->state[step_of(steps, i)];

        *state = (unsigned char)((*state & ~flag) | (*state & FORMER(flag) ? flag : 0));
    }
}

/* Refuses a list that names a step twice, since the step's former value would be lost. */
static gs_status steps_distinct(struct graph_changes *changes, const unsigned *steps,
                                unsigned count)
{
    gs_status status = GS_OK;
    unsigned named = 0;

    for (; steps && named < count && status == GS_OK; named++) {
        if (changes->state[steps[named]] & NAMED)
            status = error_set(GS_ERR_INVALID_VALUE, "step %u is named twice", steps[named]);
        changes->state[steps[named]] |= NAMED;
    }
    for (unsigned i = 0; i < named; i++)
        changes->state[steps[i]] &= (unsigned char)~NAMED;
    return status;
}

/* Takes the lock for a change of these steps. On failure the lock is not held. */
static gs_status change_begin(struct graph_changes *changes, const unsigned *steps, unsigned count)
{
    gs_status status;

    pthread_mutex_lock(&changes->lock);
    status = begin(changes);
    if (status == GS_OK)
        status = steps_distinct(changes, steps, count);
    if (status != GS_OK)
        pthread_mutex_unlock(&changes->lock);
    return status;
}

gs_status graph_changes_put(struct graph_changes *changes, struct recording *recording,
                            const unsigned *steps, unsigned count)
{
    const struct calls calls = {recording, steps, 0, 0};
    gs_status status = steps_check(changes, steps, count);

    if (status == GS_OK && count != recording->steps)
        status = error_set(GS_ERR_INVALID_VALUE, "%u steps recorded for the places of %u",
                           recording->steps, count);
    if (status == GS_OK)
        status = calls_check(changes, calls);
    if (status == GS_OK)
        status = change_begin(changes, steps, count);
    if (status != GS_OK)
        return status;
    calls_exchange(changes, calls);
    flags_set(changes, steps, count, CHANGED, true);
    status = sections_make(changes, steps, count);
    if (status != GS_OK) {
        calls_exchange(changes, calls);
        flags_restore(changes, steps, count, CHANGED);
        sections_make(changes, steps, count);
    }
    pthread_mutex_unlock(&changes->lock);
    return status;
}

gs_status graph_changes_enable(struct graph_changes *changes, const unsigned *steps, unsigned count,
                               bool enabled)
{
    gs_status status = steps_check(changes, steps, count);

    if (status == GS_OK)
        status = change_begin(changes, steps, count);
    if (status != GS_OK)
        return status;
    flags_set(changes, steps, count, OFF, !enabled);
    status = sections_make(changes, steps, count);
    if (status != GS_OK) {
        flags_restore(changes, steps, count, OFF);
        sections_make(changes, steps, count);
    }
    pthread_mutex_unlock(&changes->lock);
    return status;
}

/* ---- Launching ------------------------------------------------------------------------------- */

uint32_t graph_difference_size(struct graph_changes *changes, uint32_t section)
{
    uint32_t size;

    /* relaxed: the launch is concurrent with the change, so either order is right */
    if (!atomic_load_explicit(&changes->ever, memory_order_relaxed))
        return 0;
    pthread_mutex_lock(&changes->lock);
    size = changes->difference[section].size;
    pthread_mutex_unlock(&changes->lock);
    return size;
}

bool graph_difference_copy(struct graph_changes *changes, uint32_t section, void *to, uint32_t size)
{
    bool same;

    if (!atomic_load_explicit(&changes->ever, memory_order_relaxed))
        return size == 0;
    pthread_mutex_lock(&changes->lock);
    same = changes->difference[section].size == size;
    if (same && size)
        memcpy(to, changes->difference[section].bytes, size);
    pthread_mutex_unlock(&changes->lock);
    return same;
}
