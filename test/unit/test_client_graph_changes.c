/* test_client_graph_changes.c - what a launch of a graph carries of its changed calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/submit/graph_changes.h"
#include "common/wire.h"

#define LINE 64u

/* Adds a record of `size` bytes with this op, all of whose other bytes are `fill`. */
static unsigned char *record_add(struct recording *recording, uint16_t op, uint32_t size,
                                 unsigned char fill)
{
    struct rec_header *header;
    void *record;

    assert_int_equal(recording_reserve(recording, size, &record), GS_OK);
    header = record;
    *header = (struct rec_header){.op = op, .size = size};
    memset(header + 1, fill, size - sizeof(*header));
    recording_commit(recording, size);
    return record;
}

static struct recording *launches(unsigned count, uint32_t size, unsigned char fill)
{
    struct recording *recording = recording_new();

    assert_non_null(recording);
    for (unsigned i = 0; i < count; i++)
        record_add(recording, REC_LAUNCH, size, fill);
    return recording;
}

static struct graph_changes *changes_of(struct recording *recording)
{
    struct graph_changes *changes = graph_changes_new(recording);

    assert_non_null(changes);
    recording_free(recording);
    return changes;
}

static gs_status put(struct graph_changes *changes, struct recording *recording,
                     const unsigned *steps, unsigned count)
{
    const gs_status status = graph_changes_put(changes, recording, steps, count);

    recording_free(recording);
    return status;
}

/* The difference as it goes to the server. */
static uint32_t difference(struct graph_changes *changes, uint32_t section, unsigned char *to,
                           uint32_t room)
{
    const uint32_t size = graph_difference_size(changes, section);

    assert_true(size <= room);
    assert_false(graph_difference_copy(changes, section, to, size + 8));
    assert_true(graph_difference_copy(changes, section, to, size));
    return size;
}

static void check_change(const unsigned char *at, uint32_t step, uint16_t from, uint16_t bytes)
{
    struct rec_change change;

    memcpy(&change, at, sizeof(change));
    assert_int_equal(change.step, step);
    assert_int_equal(change.at, from);
    assert_int_equal(change.bytes, bytes);
}

static void the_words_that_differ_are_told(void **state)
{
    const unsigned steps[] = {2, 0};
    struct graph_changes *changes = changes_of(launches(3, 2 * LINE, 1));
    struct recording *others = recording_new();
    unsigned char *record, bytes[256];

    (void)state;
    assert_int_equal(difference(changes, 0, bytes, sizeof(bytes)), 0);
    record = record_add(others, REC_LAUNCH, 2 * LINE, 1);
    record[17] = 9; /* in word 2 */
    record[24] = 9; /* and 3 */
    record[127] = 9;
    record_add(others, REC_AFTER, LINE, 0); /* says nothing here */
    record = record_add(others, REC_LAUNCH, 2 * LINE, 1);
    record[8] = 5;
    assert_int_equal(put(changes, others, steps, 2), GS_OK);
    assert_int_equal(difference(changes, 0, bytes, sizeof(bytes)), 16 + 24 + 16);
    check_change(bytes, 0, 8, 8);
    assert_int_equal(bytes[8], 5);
    assert_int_equal(bytes[9], 1);
    check_change(bytes + 16, 2, 16, 16);
    assert_int_equal(bytes[25], 9);
    assert_int_equal(bytes[32], 9);
    check_change(bytes + 40, 2, 120, 8);
    assert_int_equal(bytes[55], 9);
    /* A call as it was recorded may name another kernel by the same number. */
    assert_int_equal(put(changes, launches(1, 2 * LINE, 1), steps, 1), GS_OK);
    assert_int_equal(difference(changes, 0, bytes, sizeof(bytes)), 16 + 16);
    check_change(bytes + 16, 2, 8, 8);
    assert_int_equal(bytes[24], 1);
    /* Nor does what is different in a call that is left out. */
    assert_int_equal(graph_changes_enable(changes, &steps[1], 1, false), GS_OK);
    assert_int_equal(difference(changes, 0, bytes, sizeof(bytes)), 8 + 16);
    check_change(bytes, 0, 0, 0);
    assert_int_equal(graph_changes_enable(changes, &steps[1], 1, true), GS_OK);
    assert_int_equal(difference(changes, 0, bytes, sizeof(bytes)), 16 + 16);
    graph_changes_free(changes);
}

static void calls_of_other_kinds_are_refused(void **state)
{
    static const struct {
        uint16_t op;
        uint32_t size, kind;
    } others[] = {{REC_MEMSET, LINE, 1}, {REC_COPY, 2 * LINE, 1}, {REC_COPY, LINE, 2}};
    struct recording *recording = recording_new();
    struct graph_changes *changes;
    unsigned char bytes[64];
    const unsigned beyond = 1;

    (void)state;
    ((struct rec_copy *)(void *)record_add(recording, REC_COPY, LINE, 0))->kind = 1;
    changes = changes_of(recording);
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        recording = recording_new();
        ((struct rec_copy *)(void *)record_add(recording, others[i].op, others[i].size, 7))->kind =
            others[i].kind;
        assert_int_equal(put(changes, recording, NULL, 1), GS_ERR_NOT_SUPPORTED);
    }
    assert_int_equal(put(changes, launches(1, LINE, 1), &beyond, 1), GS_ERR_INVALID_VALUE);
    assert_int_equal(put(changes, launches(2, LINE, 1), NULL, 2), GS_ERR_INVALID_VALUE);
    assert_int_equal(put(changes, launches(1, LINE, 1), NULL, 0), GS_ERR_INVALID_VALUE);
    assert_int_equal(graph_changes_enable(changes, &beyond, 1, false), GS_ERR_INVALID_VALUE);
    assert_int_equal(difference(changes, 0, bytes, sizeof(bytes)), 0);
    graph_changes_free(changes);
}

/* The second naming of a step would hide what the step was, and so what a failure restores. */
static void a_step_is_named_once(void **state)
{
    const unsigned twice[] = {1, 0, 1}, once[] = {1};
    struct graph_changes *changes = changes_of(launches(2, LINE, 1));
    unsigned char bytes[128];

    (void)state;
    assert_int_equal(put(changes, launches(3, LINE, 2), twice, 3), GS_ERR_INVALID_VALUE);
    assert_int_equal(graph_changes_enable(changes, twice, 3, false), GS_ERR_INVALID_VALUE);
    assert_int_equal(difference(changes, 0, bytes, sizeof(bytes)), 0);
    assert_int_equal(put(changes, launches(1, LINE, 2), once, 1), GS_OK);
    assert_int_equal(put(changes, launches(2, LINE, 3), twice, 2), GS_OK);
    assert_int_equal(difference(changes, 0, bytes, sizeof(bytes)), 2 * LINE);
    graph_changes_free(changes);
}

/* A launch has so much room for changes; what does not fit changes nothing. */
static void what_does_not_fit_is_not_changed(void **state)
{
    enum { STEPS = 600, FITS = 500 };
    struct graph_changes *changes = changes_of(launches(STEPS, LINE, 1));
    static unsigned char before[REC_SIZE_MAX], after[REC_SIZE_MAX];
    unsigned steps[STEPS];
    uint32_t size;

    (void)state;
    for (unsigned i = 0; i < STEPS; i++)
        steps[i] = STEPS - 1 - i;
    assert_int_equal(put(changes, launches(FITS, LINE, 2), steps, FITS), GS_OK);
    size = difference(changes, 0, before, sizeof(before));
    assert_int_equal(size, FITS * LINE);
    assert_int_equal(put(changes, launches(STEPS, LINE, 3), steps, STEPS), GS_ERR_LIMIT);
    assert_int_equal(difference(changes, 0, after, sizeof(after)), size);
    assert_memory_equal(before, after, size);
    /* Nor does it take room from the changes that come later. */
    assert_int_equal(put(changes, launches(1, LINE, 5), steps, 1), GS_OK);
    assert_int_equal(difference(changes, 0, after, sizeof(after)), size);
    /* Calls that are left out need less; to take them in again may need more than there is. */
    assert_int_equal(graph_changes_enable(changes, steps, FITS, false), GS_OK);
    assert_int_equal(put(changes, launches(FITS, LINE, 4), NULL, FITS), GS_OK);
    size = difference(changes, 0, before, sizeof(before));
    assert_int_equal(graph_changes_enable(changes, steps, FITS, true), GS_ERR_LIMIT);
    assert_int_equal(difference(changes, 0, after, sizeof(after)), size);
    assert_memory_equal(before, after, size);
    graph_changes_free(changes);
}

/* The server's graphs have SEG_GRAPH_NODES steps each, which they count from 0. */
static void a_long_graphs_sections_have_their_own(void **state)
{
    const unsigned steps[] = {2 * SEG_GRAPH_NODES + 3, SEG_GRAPH_NODES - 1};
    struct graph_changes *changes = changes_of(launches(2 * SEG_GRAPH_NODES + 4, LINE, 1));
    unsigned char bytes[64];

    (void)state;
    assert_int_equal(put(changes, launches(2, LINE, 2), steps, 2), GS_OK);
    assert_int_equal(difference(changes, 0, bytes, sizeof(bytes)), LINE);
    check_change(bytes, SEG_GRAPH_NODES - 1, 8, LINE - 8);
    assert_int_equal(difference(changes, 1, bytes, sizeof(bytes)), 0);
    assert_int_equal(difference(changes, 2, bytes, sizeof(bytes)), LINE);
    check_change(bytes, 3, 8, LINE - 8);
    graph_changes_free(changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_words_that_differ_are_told),
        cmocka_unit_test(calls_of_other_kinds_are_refused),
        cmocka_unit_test(a_step_is_named_once),
        cmocka_unit_test(what_does_not_fit_is_not_changed),
        cmocka_unit_test(a_long_graphs_sections_have_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
