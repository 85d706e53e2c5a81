/*
 * test_worker_journal.c - a journal read by another worker holds what was put into it and not
 * dropped, in order, however often it has been tidied; and a damaged one is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/journal/journal.h"

#define UID 1000u

static void put(struct journal *journal, enum journal_kind kind, uint64_t key, uint64_t value,
                const char *text)
{
    const uint64_t values[JOURNAL_VALUES] = {value};

    journal_put(journal, kind, key, values, text, text ? strlen(text) : 0);
}

/* The journal as the next worker finds it. */
static struct journal *reopened(const struct journal *journal)
{
    struct journal *next = journal_open(dup(journal_descriptor(journal)), 1, UID, UINT64_MAX);

    assert_non_null(next);
    return next;
}

static void what_was_put_is_found_in_order(void **state)
{
    struct journal *journal = journal_new(1, UID), *next;
    const struct journal_entry *e;

    (void)state;
    put(journal, JOURNAL_CHUNK, 0x1000, 5, NULL);
    put(journal, JOURNAL_MODULE, 3, 6, "text");
    put(journal, JOURNAL_CHUNK, 0x2000, 7, NULL);
    put(journal, JOURNAL_CHUNK, 0x1000, 8, NULL); /* in place of the first */
    journal_remove(journal, JOURNAL_CHUNK, 0x2000);
    journal_remove(journal, JOURNAL_CHUNK, 0x9999); /* there is none */
    next = reopened(journal);
    e = journal_next(next, NULL);
    assert_int_equal(e->kind, JOURNAL_MODULE);
    assert_int_equal(e->key, 3);
    assert_int_equal(e->value[0], 6);
    assert_int_equal(e->size, 4);
    assert_memory_equal(e->bytes, "text", 4);
    e = journal_next(next, e);
    assert_int_equal(e->key, 0x1000);
    assert_int_equal(e->value[0], 8);
    assert_null(journal_next(next, e));
    journal_free(next);
    journal_free(journal);
}

static void streams_answers_and_positions_are_kept(void **state)
{
    struct journal *journal = journal_new(1, UID), *next;
    const struct journal_stream stream = {1, 1, 2, -3};
    const struct journal_answer answer = {.serial = 9, .status = 4, .ret = {1, 2, 3, 4}};
    struct journal_stream stream_found;
    struct journal_answer answer_found;

    (void)state;
    journal_stream(journal, 7, &stream);
    journal_answer(journal, &answer);
    atomic_store(&journal_positions(journal)->consumed[62], 4711);
    next = reopened(journal);
    journal_stream_get(next, 7, &stream_found);
    assert_memory_equal(&stream_found, &stream, sizeof(stream));
    journal_answer_get(next, &answer_found);
    assert_memory_equal(&answer_found, &answer, sizeof(answer));
    assert_int_equal(atomic_load(&journal_positions(next)->consumed[62]), 4711);
    journal_free(next);
    journal_free(journal);
}

static uint32_t serial_found(const struct journal *journal)
{
    struct journal *next = reopened(journal);
    struct journal_answer answer;

    journal_answer_get(next, &answer);
    journal_free(next);
    return answer.serial;
}

static bool found(const struct journal *journal, enum journal_kind kind, uint64_t key)
{
    struct journal *next = reopened(journal);
    const bool is = journal_find(next, kind, key) != NULL;

    journal_free(next);
    return is;
}

/* The worker was lost after the answer was noted, and before the entry was dropped. */
static void what_is_answered_as_removed_is_gone(void **state)
{
    struct journal_answer answer = {
        .serial = 9, .change = JOURNAL_REMOVES, .kind = JOURNAL_ALLOCATION, .key = 0x1000};
    struct journal *journal = journal_new(1, UID);

    (void)state;
    put(journal, JOURNAL_CHUNK, 0x1000, 5, NULL);
    put(journal, JOURNAL_ALLOCATION, 0x1000, 6, NULL);
    put(journal, JOURNAL_ALLOCATION, 0x2000, 7, NULL);
    journal_answer(journal, &answer);
    assert_false(found(journal, JOURNAL_ALLOCATION, 0x1000));
    assert_true(found(journal, JOURNAL_CHUNK, 0x1000));
    assert_true(found(journal, JOURNAL_ALLOCATION, 0x2000));
    assert_int_equal(serial_found(journal), 9);
    /* Another has the address by now. */
    journal_remove(journal, JOURNAL_ALLOCATION, 0x1000);
    answer = (struct journal_answer){.serial = 10};
    journal_answer(journal, &answer);
    put(journal, JOURNAL_ALLOCATION, 0x1000, 8, NULL);
    assert_true(found(journal, JOURNAL_ALLOCATION, 0x1000));
    journal_free(journal);
}

/* The worker was lost after the answer was noted, and before the entry was. */
static void an_answer_counts_with_what_it_makes(void **state)
{
    const struct journal_answer answer = {
        .serial = 9, .change = JOURNAL_MAKES, .kind = JOURNAL_GRAPH, .key = 4};
    struct journal *journal = journal_new(1, UID);

    (void)state;
    put(journal, JOURNAL_GRAPH, 3, 1, "records");
    journal_answer(journal, &answer);
    assert_int_equal(serial_found(journal), 0);
    journal_answer(journal, &answer);
    put(journal, JOURNAL_GRAPH, 4, 1, "records");
    assert_int_equal(serial_found(journal), 9);
    journal_free(journal);
}

/* A request is done: neither its answer nor the entry hangs on the other any more. */
static void a_change_that_is_done_leaves_its_answer_alone(void **state)
{
    struct journal_answer answer = {.serial = 9, .ret = {7}, .kind = JOURNAL_MODULE, .key = 4};
    const struct journal_answer done = {.serial = 9, .ret = {7}}, failed = {.serial = 9};
    struct journal *journal = journal_new(1, UID);

    (void)state;
    answer.change = JOURNAL_MAKES;
    journal_answer(journal, &answer);
    put(journal, JOURNAL_MODULE, 4, 1, "image");
    journal_answer(journal, &done);
    journal_remove(journal, JOURNAL_MODULE, 4);
    assert_int_equal(serial_found(journal), 9);
    answer.change = JOURNAL_REMOVES;
    journal_answer(journal, &answer);
    journal_answer(journal, &done);
    put(journal, JOURNAL_MODULE, 4, 2, "another");
    assert_true(found(journal, JOURNAL_MODULE, 4));
    /* It has failed since: another answer. */
    answer.change = JOURNAL_MAKES;
    journal_answer(journal, &answer);
    journal_answer(journal, &failed);
    journal_answer_get(journal, &answer);
    assert_int_equal(answer.ret[0], 0);
    assert_int_equal(answer.change, JOURNAL_KEEPS);
    journal_free(journal);
}

static void streams_are_made_and_removed_with_their_answers(void **state)
{
    struct journal_answer answer = {
        .serial = 9, .change = JOURNAL_MAKES, .kind = JOURNAL_STREAM, .key = 7};
    const struct journal_stream stream = {1, 1, 2, -3};
    struct journal *journal = journal_new(1, UID), *next;
    struct journal_stream note;

    (void)state;
    journal_answer(journal, &answer);
    assert_int_equal(serial_found(journal), 0);
    journal_answer(journal, &answer);
    journal_stream(journal, 7, &stream);
    assert_int_equal(serial_found(journal), 9);
    answer.change = JOURNAL_REMOVES;
    journal_answer(journal, &answer);
    next = reopened(journal);
    journal_stream_get(next, 7, &note);
    assert_int_equal(note.open, 0);
    journal_free(next);
    answer.key = UINT64_MAX; /* nonsense is not followed */
    journal_answer(journal, &answer);
    assert_int_equal(serial_found(journal), 9);
    journal_free(journal);
}

static void an_entry_is_found_by_its_key(void **state)
{
    struct journal *journal = journal_new(1, UID);

    (void)state;
    assert_null(journal_find(journal, JOURNAL_CHUNK, 0x1000));
    put(journal, JOURNAL_CHUNK, 0x1000, 5, NULL);
    put(journal, JOURNAL_ALLOCATION, 0x1000, 6, NULL);
    put(journal, JOURNAL_CHUNK, 0x1000, 7, NULL);
    assert_int_equal(journal_find(journal, JOURNAL_CHUNK, 0x1000)->value[0], 7);
    assert_int_equal(journal_find(journal, JOURNAL_ALLOCATION, 0x1000)->value[0], 6);
    journal_remove(journal, JOURNAL_CHUNK, 0x1000);
    assert_null(journal_find(journal, JOURNAL_CHUNK, 0x1000));
    assert_null(journal_find(NULL, JOURNAL_CHUNK, 0x1000));
    journal_free(journal);
}

static uint64_t swept; /* how many entries were looked at */

/* A kernel of no module. */
static bool kernel_alone(const struct journal *journal, const struct journal_entry *entry)
{
    swept++;
    return entry->kind == JOURNAL_KERNEL && !journal_find(journal, JOURNAL_MODULE, entry->value[0]);
}

/* As a worker leaves it that was lost while it unloaded a large module: one look at each entry. */
static void a_sweep_removes_what_it_is_told_in_one_pass(void **state)
{
    enum { KERNELS = 65536 };
    struct journal *journal = journal_new(1, UID), *next;
    uint64_t key = 0;

    (void)state;
    put(journal, JOURNAL_MODULE, 1, 0, "text");
    for (unsigned i = 0; i < KERNELS; i++)
        put(journal, JOURNAL_KERNEL, i, i % 64 ? 2 : 1, "name");
    swept = 0;
    journal_sweep(journal, kernel_alone);
    assert_int_equal(swept, KERNELS + 1);
    assert_int_equal(journal_find(journal, JOURNAL_KERNEL, 64)->value[0], 1);
    assert_null(journal_find(journal, JOURNAL_KERNEL, 65));
    next = reopened(journal);
    assert_int_equal(journal_next(next, NULL)->kind, JOURNAL_MODULE);
    for (const struct journal_entry *e = NULL; (e = journal_next(next, e));) {
        if (e->kind == JOURNAL_MODULE)
            continue;
        assert_int_equal(e->key, key);
        key += 64;
    }
    assert_int_equal(key, KERNELS);
    journal_free(next);
    journal_sweep(NULL, kernel_alone);
    journal_set_incomplete(journal, "a test");
    swept = 0;
    journal_sweep(journal, kernel_alone);
    assert_int_equal(swept, 0);
    journal_free(journal);
}

/* The worker was lost after the new entry was valid, and before the former was dropped. */
static void of_two_entries_with_a_key_the_later_counts(void **state)
{
    struct journal *journal = journal_new(1, UID), *next;
    struct journal_entry *former;

    (void)state;
    put(journal, JOURNAL_CHUNK, 0x1000, 5, NULL);
    former = (struct journal_entry *)(uintptr_t)journal_next(journal, NULL);
    put(journal, JOURNAL_CHUNK, 0x1000, 7, NULL);
    assert_int_equal(former->kind, 0);
    former->kind = JOURNAL_CHUNK;
    next = reopened(journal);
    assert_int_equal(journal_next(next, NULL)->value[0], 7);
    assert_null(journal_next(next, journal_next(next, NULL)));
    assert_int_equal(journal_find(next, JOURNAL_CHUNK, 0x1000)->value[0], 7);
    journal_free(next);
    journal_free(journal);
}

static off_t file_bytes(const struct journal *journal)
{
    struct stat status;

    assert_int_equal(fstat(journal_descriptor(journal), &status), 0);
    return status.st_size;
}

/* As for a variable whose address is asked for again and again. */
static void what_is_put_again_and_again_takes_no_more_room(void **state)
{
    struct journal *journal = journal_new(1, UID), *next;

    (void)state;
    put(journal, JOURNAL_CHUNK, 0x1000, 5, NULL);
    for (uint32_t i = 0; i < 100000; i++)
        put(journal, JOURNAL_VARIABLE, 0x2000 + i % 2, i, NULL);
    assert_true(file_bytes(journal) < 1 << 20);
    next = reopened(journal);
    assert_int_equal(journal_find(next, JOURNAL_VARIABLE, 0x2000)->value[0], 99998);
    assert_int_equal(journal_find(next, JOURNAL_VARIABLE, 0x2001)->value[0], 99999);
    assert_int_equal(journal_find(next, JOURNAL_CHUNK, 0x1000)->value[0], 5);
    journal_free(next);
    journal_free(journal);
}

static uint64_t memory_of(const struct journal *journal)
{
    struct stat status;

    assert_int_equal(fstat(journal_descriptor(journal), &status), 0);
    return (uint64_t)status.st_blocks * 512;
}

/* A session is charged for its modules' images, whatever the order in which it loads and unloads
 * them. */
static void a_journal_takes_little_more_memory_than_what_is_in_it(void **state)
{
    enum { IMAGES = 8, IMAGE = 1 << 20 };
    struct journal *journal = journal_new(1, UID), *next;
    const uint64_t none[JOURNAL_VALUES] = {0};
    char *image = malloc(IMAGE);

    (void)state;
    assert_non_null(image);
    for (uint32_t i = 0; i < 500; i++) {
        memset(image, (int)i, IMAGE);
        journal_put(journal, JOURNAL_MODULE, i * 7 % IMAGES, none, image, IMAGE);
        assert_true(memory_of(journal) < 5 * IMAGES * (uint64_t)IMAGE / 2);
    }
    for (uint32_t i = 500; i < 600; i++) { /* it grows again where it was cut */
        memset(image, (int)i, IMAGE);
        journal_put(journal, JOURNAL_MODULE, i % 50, none, image, IMAGE);
    }
    next = reopened(journal);
    for (uint32_t i = 550; i < 600; i++) {
        memset(image, (int)i, IMAGE);
        assert_memory_equal(journal_find(next, JOURNAL_MODULE, i % 50)->bytes, image, IMAGE);
    }
    for (uint32_t i = 0; i < 50; i++)
        journal_remove(next, JOURNAL_MODULE, i);
    assert_true(memory_of(next) < IMAGE);
    free(image);
    journal_free(next);
    journal_free(journal);
}

static void what_was_taken_back_is_kept(void **state)
{
    struct journal *journal = journal_new(1, UID), *next;

    (void)state;
    journal_revoked_set(journal, 0, true);
    journal_revoked_set(journal, 63, true);
    journal_revoked_set(journal, SEG_IMPORTS - 1, true);
    journal_revoked_set(journal, 63, false);
    next = reopened(journal);
    for (uint32_t i = 0; i < SEG_IMPORTS; i++)
        assert_int_equal(journal_revoked(next, i), i == 0 || i == SEG_IMPORTS - 1);
    assert_false(journal_revoked(NULL, 0));
    journal_free(next);
    journal_free(journal);
}

#define KEYS 3000u

/* A model beside it: which keys are there, and with which value. */
static void any_sequence_leaves_what_a_model_has(void **state)
{
    struct journal *journal = journal_new(1, UID);
    uint64_t *model = calloc(KEYS, sizeof(*model)), x = 88172645463325252u;

    (void)state;
    for (unsigned step = 0; step < 200000; step++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        const uint64_t key = x % KEYS;
        if (x >> 40 & 1) {
            char text[200];
            memset(text, 'x', sizeof(text));
            text[x >> 20 & 127] = '\0';
            model[key] = step + 1;
            put(journal, JOURNAL_ALLOCATION, key, step + 1, text);
        } else {
            model[key] = 0;
            journal_remove(journal, JOURNAL_ALLOCATION, key);
        }
        if (step % 50000 == 49999) { /* another worker goes on with it */
            struct journal *next = reopened(journal);
            journal_free(journal);
            journal = next;
        }
    }
    assert_null(journal_incomplete(journal));
    for (const struct journal_entry *e = NULL; (e = journal_next(journal, e));) {
        assert_int_equal(model[e->key], e->value[0]);
        model[e->key] = 0;
    }
    for (unsigned i = 0; i < KEYS; i++)
        assert_int_equal(model[i], 0);
    /* It does not grow with what has been dropped. */
    assert_true(lseek(journal_descriptor(journal), 0, SEEK_END) < 8 << 20);
    free(model);
    journal_free(journal);
}

static void an_incomplete_journal_says_why(void **state)
{
    struct journal *journal = journal_new(1, UID), *next;

    (void)state;
    assert_null(journal_incomplete(journal));
    journal_set_incomplete(journal, "first");
    journal_set_incomplete(journal, "second");
    put(journal, JOURNAL_CHUNK, 1, 1, NULL);
    next = reopened(journal);
    assert_string_equal(journal_incomplete(next), "first");
    journal_free(next);
    journal_free(journal);
    assert_non_null(journal_incomplete(NULL));
}

static void allocations_put(struct journal *journal, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        put(journal, JOURNAL_ALLOCATION, 0x1000 + 256 * i, 256, NULL);
}

/* So many that others would wait for them. */
static void many_entries_are_given_up_when_their_time_is_over(void **state)
{
    struct journal *journal = journal_new(1, UID), *next;

    (void)state;
    allocations_put(journal, 0, 1000);
    next = journal_open(dup(journal_descriptor(journal)), 1, UID, 0);
    assert_null(journal_incomplete(next));
    assert_false(journal_late(next, 0));
    journal_free(next);
    allocations_put(journal, 1000, 20000);
    next = journal_open(dup(journal_descriptor(journal)), 1, UID, UINT64_MAX);
    assert_null(journal_incomplete(next));
    assert_non_null(journal_find(next, JOURNAL_ALLOCATION, 0x1000 + 256 * 20999));
    assert_false(journal_late(next, UINT64_MAX));
    assert_true(journal_late(next, 0));
    journal_free(next);
    next = journal_open(dup(journal_descriptor(journal)), 1, UID, 0);
    assert_string_equal(journal_incomplete(next), JOURNAL_LATE);
    journal_free(next);
    journal_free(journal);
}

static void more_than_millions_of_entries_are_not_kept(void **state)
{
    struct journal *journal = journal_new(1, UID);

    (void)state;
    allocations_put(journal, 0, 2000000);
    assert_null(journal_incomplete(journal));
    allocations_put(journal, 2000000, 200000);
    assert_string_equal(journal_incomplete(journal), "its journal is full");
    journal_free(journal);
}

/* What has been dropped leaves a larger index behind, and no room for more entries. */
static void dropped_entries_make_room_for_no_more_than_millions(void **state)
{
    struct journal *journal = journal_new(1, UID), *next;

    (void)state;
    allocations_put(journal, 0, 1700000);
    for (uint64_t i = 0; i < 600000; i++)
        journal_remove(journal, JOURNAL_ALLOCATION, 0x1000 + 256 * i);
    allocations_put(journal, 1700000, 900000);
    next = reopened(journal);
    assert_null(journal_incomplete(next));
    journal_free(next);
    allocations_put(journal, 2600000, 200000);
    assert_string_equal(journal_incomplete(journal), "its journal is full");
    journal_free(journal);
}

static void damaged_files_are_refused(void **state)
{
    struct journal *journal = journal_new(1, UID);
    unsigned char original[12288], bytes[12288];
    int empty = memfd_create("empty", 0);

    (void)state;
    assert_null(journal_open(-1, 1, UID, UINT64_MAX));
    assert_null(journal_open(empty, 1, UID, UINT64_MAX));
    put(journal, JOURNAL_MODULE, 3, 6, "text");
    put(journal, JOURNAL_KERNEL, 4, 6, "name");
    assert_int_equal(pread(journal_descriptor(journal), original, sizeof(original), 0),
                     sizeof(original));
    /* Whatever byte changes, it is refused or read, and nothing beyond the file is touched. */
    for (unsigned at = 0; at < 4096 + 256; at++) {
        int file = memfd_create("damaged", 0);
        struct journal *next;

        memcpy(bytes, original, sizeof(bytes));
        bytes[at] ^= 0xff;
        assert_int_equal(ftruncate(file, 16384), 0);
        assert_int_equal(pwrite(file, bytes, sizeof(bytes), 0), sizeof(bytes));
        next = journal_open(file, 1, UID, UINT64_MAX);
        for (const struct journal_entry *e = NULL; (e = journal_next(next, e));)
            assert_true(e->size <= 256);
        journal_free(next);
    }
    journal_free(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found_in_order),
        cmocka_unit_test(streams_answers_and_positions_are_kept),
        cmocka_unit_test(what_is_answered_as_removed_is_gone),
        cmocka_unit_test(an_answer_counts_with_what_it_makes),
        cmocka_unit_test(a_change_that_is_done_leaves_its_answer_alone),
        cmocka_unit_test(streams_are_made_and_removed_with_their_answers),
        cmocka_unit_test(an_entry_is_found_by_its_key),
        cmocka_unit_test(a_sweep_removes_what_it_is_told_in_one_pass),
        cmocka_unit_test(of_two_entries_with_a_key_the_later_counts),
        cmocka_unit_test(what_is_put_again_and_again_takes_no_more_room),
        cmocka_unit_test(a_journal_takes_little_more_memory_than_what_is_in_it),
        cmocka_unit_test(what_was_taken_back_is_kept),
        cmocka_unit_test(any_sequence_leaves_what_a_model_has),
        cmocka_unit_test(an_incomplete_journal_says_why),
        cmocka_unit_test(many_entries_are_given_up_when_their_time_is_over),
        cmocka_unit_test(more_than_millions_of_entries_are_not_kept),
        cmocka_unit_test(dropped_entries_make_room_for_no_more_than_millions),
        cmocka_unit_test(damaged_files_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
