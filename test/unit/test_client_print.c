/* What kernels print, on the client's side: taking records out of the ring, and making text of
 * them. The device is played by this file; what it writes is print_ring.h's. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>

#include <cmocka.h>

#include "client/print/print.h"
#include "client/print/print_format.h"
#include "client/print/print_read.h"
#include "client/session/print_block.h"
#include "client/session/session.h"
#include "common/print_ring.h"
#include "common/util.h"

/* ---- A record in the making ---- */

struct maker {
    unsigned char bytes[PRINT_RECORD_MAX + 64];
    size_t size;
};

static void put_word(struct maker *m, uint64_t word)
{
    memcpy(m->bytes + m->size, &word, 8);
    m->size += 8;
}

static void put_text(struct maker *m, const char *text, size_t size)
{
    memset(m->bytes + m->size, 0, PRINT_PADDED(size));
    memcpy(m->bytes + m->size, text, size);
    m->size += PRINT_PADDED(size);
}

static void put_string(struct maker *m, const char *text)
{
    put_word(m, strlen(text));
    put_text(m, text, strlen(text));
}

static void put_real(struct maker *m, double value)
{
    uint64_t word;

    memcpy(&word, &value, 8);
    put_word(m, word);
}

static void begin(struct maker *m, unsigned kind, unsigned args, uint64_t detail)
{
    m->size = 0;
    put_word(m, 0);
    put_word(m, (uint64_t)kind << 32 | (uint64_t)args << 48);
    put_word(m, detail);
}

static void begin_format(struct maker *m, const char *format, unsigned args)
{
    begin(m, PRINT_FORMAT, args, strlen(format));
    put_text(m, format, strlen(format));
}

static void expect(const struct maker *m, const char *wanted)
{
    struct text text = {0};

    assert_int_equal(print_format(m->bytes, m->size, &text), PRINT_TO_OUTPUT);
    assert_int_equal(text.size, strlen(wanted));
    assert_memory_equal(text.bytes ? text.bytes : "", wanted, text.size);
    free(text.bytes);
}

static void expect_nothing(const struct maker *m)
{
    struct text text = {0};

    assert_int_equal(print_format(m->bytes, m->size, &text), PRINT_NOTHING);
    free(text.bytes);
}

static struct maker maker;

/* ---- Formatting ---- */

static void conversions_are_formatted_as_in_c(void **state)
{
    static const struct {
        const char *format;
        uint64_t word;
        const char *wanted;
    } table[] = {
        {"%d", 0xffffffff, "-1"},
        {"%u", 0xffffffff, "4294967295"},
        {"%hd", 0x18000, "-32768"},
        {"%hu", 0x18000, "32768"},
        {"%hhd", 0x1ff, "-1"},
        {"%hhu", 0x1ff, "255"},
        {"%ld", UINT64_MAX, "-1"},
        {"%lld", UINT64_MAX, "-1"},
        {"%zu", UINT64_MAX, "18446744073709551615"},
        {"%#x|", 255, "0xff|"},
        {"%-6o|", 8, "10    |"},
        {"%+05d", 7, "+0007"},
        {"% .3d", 7, " 007"},
        {"%c%%", 'x', "x%"},
        {"%3c|", 'x', "  x|"},
        {"%p", 0x1234, "0x1234"},
        {"%f", 0x3ff8000000000000, "1.500000"},
        {"%.1e", 0x3ff8000000000000, "1.5e+00"},
        {"%08.2f", 0xbff8000000000000, "-0001.50"},
        {"%a", 0x3ff8000000000000, "0x1.8p+0"},
        {"%F", 0x7ff0000000000000, "INF"},
        {"%-+#0 1.1lf|", 0x3ff8000000000000, "+1.5|"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        begin_format(&maker, table[i].format, 1);
        put_word(&maker, table[i].word);
        expect(&maker, table[i].wanted);
    }
}

static void what_is_no_conversion_is_printed_as_it_is(void **state)
{
    static const char *const formats[] = {
        "",     "plain", "%",    "%n", "%5y",       "%-", "%lll", "%.", "%*",        "%.*q after",
        "%$d$", "%\n",   "\x80", "%d", "two %s %d", "%h", "%'d",  "%S", "%C text %", "%I64d",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        begin_format(&maker, formats[i], 0);
        expect(&maker, formats[i]);
    }
}

static void widths_come_from_arguments_and_have_bounds(void **state)
{
    static const struct {
        const char *format;
        int width, precision;
        size_t length;
    } table[] = {
        {"%*.*f", 12, 2, 12},          {"%*.*f", -12, 2, 12},       {"%*.*f", 1 << 30, 2, 4096},
        {"%*.*f", INT32_MIN, 2, 4096}, {"%*.*f", 0, 1 << 30, 4098}, {"%*.*f", 0, -5, 8},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        struct text text = {0};

        begin_format(&maker, table[i].format, 3);
        put_word(&maker, (uint32_t)table[i].width);
        put_word(&maker, (uint32_t)table[i].precision);
        put_real(&maker, 2.5);
        assert_int_equal(print_format(maker.bytes, maker.size, &text), PRINT_TO_OUTPUT);
        assert_int_equal(text.size, table[i].length);
        free(text.bytes);
    }
    begin_format(&maker, "%99999999999999999999d", 1);
    put_word(&maker, 1);
    struct text text = {0};
    assert_int_equal(print_format(maker.bytes, maker.size, &text), PRINT_TO_OUTPUT);
    assert_int_equal(text.size, 4096);
    free(text.bytes);
}

static void strings_end_where_their_length_says(void **state)
{
    (void)state;
    begin_format(&maker, "<%s><%.2s><%6.9s><%-4s>", 4);
    put_string(&maker, "eight or more");
    put_string(&maker, "eightful");
    put_string(&maker, "four");
    put_string(&maker, "");
    expect(&maker, "<eight or more><ei><  four><    >");
    begin_format(&maker, "%s %d", 2);
    put_word(&maker, PRINT_NULL);
    put_word(&maker, 3);
    expect(&maker, "(null) 3");
    /* A NUL inside ends it, as it would in C. */
    begin_format(&maker, "%s|", 1);
    put_word(&maker, 8);
    put_text(&maker, "abc\0defg", 8);
    expect(&maker, "abc|");
}

static void conversions_beyond_the_arguments_stand_as_written(void **state)
{
    (void)state;
    begin_format(&maker, "%d %*d %d\n", 2);
    put_word(&maker, 1);
    put_word(&maker, 2);
    expect(&maker, "1 %*d 2\n");
}

static void a_record_that_lies_is_no_message(void **state)
{
    (void)state;
    begin_format(&maker, "%d", 33);
    expect_nothing(&maker);
    begin_format(&maker, "%d %d", 2); /* the second is not there */
    put_word(&maker, 1);
    expect_nothing(&maker);
    begin_format(&maker, "%s", 1); /* longer than the record */
    put_word(&maker, 9);
    put_text(&maker, "12345678", 8);
    expect_nothing(&maker);
    begin_format(&maker, "%s", 1);
    put_word(&maker, UINT64_MAX - 1);
    expect_nothing(&maker);
    begin(&maker, PRINT_FORMAT, 0, PRINT_TEXT_MAX + 1);
    put_text(&maker, (char[PRINT_TEXT_MAX + 1]){"x"}, PRINT_TEXT_MAX + 1);
    expect_nothing(&maker);
    begin(&maker, PRINT_FORMAT, 0, UINT64_MAX);
    expect_nothing(&maker);
    begin(&maker, 7, 0, 0);
    expect_nothing(&maker);
    begin(&maker, PRINT_ASSERT, 3, 1);
    expect_nothing(&maker);
    maker.size = 16;
    expect_nothing(&maker);
}

static void an_assertion_is_told_as_cuda_does(void **state)
{
    struct text text = {0};

    (void)state;
    begin(&maker, PRINT_ASSERT, 3, 4000000000u);
    put_word(&maker, UINT64_C(2) << 32 | 1);
    put_word(&maker, UINT64_C(4) << 32 | 3);
    put_word(&maker, UINT64_C(6) << 32 | 5);
    put_string(&maker, "a %s < b");
    put_string(&maker, "file.cu");
    put_string(&maker, "void k(int)");
    assert_int_equal(print_format(maker.bytes, maker.size, &text), PRINT_TO_ERROR);
    text.bytes[text.size] = '\0';
    assert_string_equal(text.bytes, "file.cu:4000000000: void k(int): block: [1,2,3], thread: "
                                    "[4,5,6] Assertion `a %s < b` failed.\n");
    free(text.bytes);
}

/* A stream of random numbers that is the same each time. */
static uint64_t chance(void)
{
    static uint64_t seed = 1;

    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

/* Runs under the sanitizers, which see a byte read outside the copy. */
static void any_bytes_are_survived(void **state)
{
    static const char letters[] = "%*.0123456789-+ #hlLjztdiouxXcsfeEgGaApnq \n";
    struct text text = {0};

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        size_t format = chance() % 64, size = PRINT_HEAD_BYTES + chance() % 600;
        unsigned char *exact = malloc(size);

        assert_non_null(exact);
        begin(&maker, chance() % 8 ? PRINT_FORMAT : PRINT_ASSERT, chance() % 34, format);
        for (size_t n = PRINT_HEAD_BYTES; n < size; n++)
            maker.bytes[n] = n < PRINT_HEAD_BYTES + format
                                 ? (unsigned char)letters[chance() % (sizeof(letters) - 1)]
                                 : (unsigned char)(chance() % 4 ? 0 : chance());
        memcpy(exact, maker.bytes, size);
        print_format(exact, size, &text);
        assert_true(text.size < 34 * 4600 + PRINT_TEXT_MAX * 34);
        free(exact);
    }
    free(text.bytes);
}

/* ---- The ring ---- */

struct ring {
    struct print_reader reader;
    uint64_t got[64]; /* the second word of each record's body */
    unsigned count;
};

static void ring_init(struct ring *ring)
{
    memset(ring, 0, sizeof(*ring));
    ring->reader.block = aligned_alloc(4096, (PRINT_BLOCK_BYTES + 4095) / 4096 * 4096);
    ring->reader.record = malloc(PRINT_RECORD_MAX);
    assert_true(ring->reader.block && ring->reader.record);
    memset(ring->reader.block, 0, PRINT_BLOCK_BYTES);
}

static void ring_deinit(struct ring *ring)
{
    free(ring->reader.block);
    free(ring->reader.record);
}

static _Atomic uint64_t *word_at(struct ring *ring, unsigned offset)
{
    return (_Atomic uint64_t *)(void *)(ring->reader.block + offset);
}

/* The device's half, in steps, as two threads may have taken them. */
static uint64_t device_reserve(struct ring *ring, uint64_t bytes)
{
    return atomic_fetch_add(word_at(ring, PRINT_AT_RESERVED), bytes);
}

static bool device_fits(struct ring *ring, uint64_t position, uint64_t bytes)
{
    return position + bytes - atomic_load(word_at(ring, PRINT_AT_TAKEN)) <= PRINT_RING_BYTES;
}

static void device_drop(struct ring *ring, uint64_t bytes)
{
    atomic_fetch_add(word_at(ring, PRINT_AT_DROPPED), bytes);
    atomic_fetch_add(word_at(ring, PRINT_AT_LOST), 1);
}

static void device_put(struct ring *ring, uint64_t position, uint64_t word)
{
    atomic_store(word_at(ring, PRINT_AT_RING + (unsigned)(position % PRINT_RING_BYTES)), word);
}

static void device_write(struct ring *ring, uint64_t position, uint64_t bytes, uint64_t number)
{
    device_put(ring, position + 8, bytes | (uint64_t)PRINT_FORMAT << 32);
    device_put(ring, position + 16, number);
    for (uint64_t at = 24; at < bytes; at += 8)
        device_put(ring, position + at, number);
    device_put(ring, position, position ^ PRINT_STAMP);
}

static void take_record(void *context, const unsigned char *record, size_t bytes)
{
    struct ring *ring = context;
    uint64_t number, same;

    assert_true(bytes >= PRINT_HEAD_BYTES && bytes <= PRINT_RECORD_MAX);
    memcpy(&number, record + 16, 8);
    memcpy(&same, record + bytes - 8, 8);
    assert_int_equal(number, same);
    assert_true(ring->count < ARRAY_SIZE(ring->got));
    ring->got[ring->count++] = number;
}

static void expect_taken(struct ring *ring, unsigned count, uint64_t first)
{
    ring->count = 0;
    print_read(&ring->reader, take_record, ring);
    assert_int_equal(ring->count, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(ring->got[i], first + i);
}

static void expect_clean(struct ring *ring)
{
    assert_true(print_ring_empty(ring->reader.block));
    for (unsigned at = 0; at < PRINT_RING_BYTES; at += 8)
        assert_int_equal(*word_at(ring, PRINT_AT_RING + at), 0);
}

static void records_come_once_in_order_over_the_ring_s_end(void **state)
{
    struct ring ring;
    uint64_t number = 0;

    (void)state;
    ring_init(&ring);
    expect_taken(&ring, 0, 0);
    for (unsigned round = 0; round < 300; round++) {
        unsigned count = 1 + round % 7;
        for (unsigned i = 0; i < count; i++) {
            uint64_t bytes = 32 + 8 * ((number * 7919) % 3000);
            device_write(&ring, device_reserve(&ring, bytes), bytes, number + i);
        }
        expect_taken(&ring, count, number);
        expect_taken(&ring, 0, 0);
        number += count;
    }
    assert_true(*word_at(&ring, PRINT_AT_TAKEN) > 3 * PRINT_RING_BYTES);
    expect_clean(&ring);
    ring_deinit(&ring);
}

static void one_that_is_still_written_holds_up_no_other(void **state)
{
    struct ring ring;

    (void)state;
    ring_init(&ring);
    uint64_t first = device_reserve(&ring, 64), second = device_reserve(&ring, 128),
             third = device_reserve(&ring, 64);
    device_write(&ring, first, 64, 1);
    device_write(&ring, third, 64, 2);
    expect_taken(&ring, 2, 1);
    expect_taken(&ring, 0, 0); /* once, though its room is not free yet */
    assert_int_equal(*word_at(&ring, PRINT_AT_TAKEN), second);
    assert_false(print_ring_empty(ring.reader.block));
    device_write(&ring, second, 128, 3);
    expect_taken(&ring, 1, 3);
    expect_clean(&ring);
    ring_deinit(&ring);
}

#define FILLER UINT64_C(32768)

/* As many records as fit; ring->count counts them. */
static void device_fill(struct ring *ring)
{
    while (device_fits(ring, *word_at(ring, PRINT_AT_RESERVED), FILLER))
        device_write(ring, device_reserve(ring, FILLER), FILLER, ring->count++);
}

static void what_was_dropped_is_passed_over(void **state)
{
    struct ring ring;

    (void)state;
    ring_init(&ring);
    device_fill(&ring);
    unsigned written = ring.count;
    /* Three find no room: partly inside the ring, and far beyond it. */
    for (unsigned i = 0; i < 3; i++) {
        uint64_t position = device_reserve(&ring, 500000);
        assert_false(device_fits(&ring, position, 500000));
        device_drop(&ring, 500000);
    }
    expect_taken(&ring, written, 0);
    assert_int_equal(print_ring_lost(ring.reader.block), 3);
    expect_clean(&ring);
    /* There is room again, wherever the positions have come to. */
    uint64_t position = device_reserve(&ring, 64);
    assert_true(device_fits(&ring, position, 64));
    device_write(&ring, position, 64, 9);
    expect_taken(&ring, 1, 9);
    expect_clean(&ring);
    ring_deinit(&ring);
}

static void a_gap_that_may_still_be_filled_is_not_passed_over(void **state)
{
    struct ring ring;

    (void)state;
    ring_init(&ring);
    uint64_t late = device_reserve(&ring, FILLER);
    device_fill(&ring);
    unsigned written = ring.count;
    uint64_t dropped = device_reserve(&ring, FILLER);
    assert_false(device_fits(&ring, dropped, FILLER));
    device_drop(&ring, FILLER); /* as many bytes as the late one's */
    expect_taken(&ring, written, 0);
    assert_int_equal(*word_at(&ring, PRINT_AT_TAKEN), late);
    device_write(&ring, late, FILLER, 77);
    expect_taken(&ring, 1, 77);
    expect_clean(&ring);
    /* One that has reserved and will drop, but has not said so. */
    device_fill(&ring);
    device_reserve(&ring, FILLER);
    ring.count = 0;
    print_read(&ring.reader, take_record, &ring);
    assert_false(print_ring_empty(ring.reader.block));
    device_drop(&ring, FILLER);
    expect_taken(&ring, 0, 0);
    expect_clean(&ring);
    ring_deinit(&ring);
}

static void take_any(void *context, const unsigned char *record, size_t bytes)
{
    struct text *text = context;

    assert_true(bytes >= PRINT_HEAD_BYTES && bytes <= PRINT_RECORD_MAX && bytes % 8 == 0);
    print_format(record, bytes, text);
}

static void any_bytes_in_the_block_are_survived(void **state)
{
    static const unsigned words[] = {PRINT_AT_RESERVED, PRINT_AT_DROPPED, PRINT_AT_LOST,
                                     PRINT_AT_TAKEN};
    struct text text = {0};
    struct ring ring;

    (void)state;
    ring_init(&ring);
    for (unsigned round = 0; round < 200; round++) {
        uint64_t taken = chance() % 3 ? chance() : chance() << 40;

        for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
            *word_at(&ring, words[i]) = chance() % 3 ? taken + chance() % 5000 : chance() << 33;
        *word_at(&ring, PRINT_AT_TAKEN) = taken;
        /* Stamps that fit, before sizes of all kinds. */
        for (unsigned i = 0; i < 2000; i++) {
            uint64_t at = (taken & ~UINT64_C(7)) + 8 * i;
            device_put(&ring, at,
                       chance() % 3 ? chance() % 700 | (uint64_t)(chance() % 3) << 32
                                    : at ^ (chance() % 4 ? PRINT_STAMP : PRINT_STAMP_TAKEN));
        }
        print_read(&ring.reader, take_any, &text);
    }
    free(text.bytes);
    ring_deinit(&ring);
}

/* ---- The block ---- */

static int segment_make(size_t size)
{
    int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);

    assert_true(id >= 0);
    return id;
}

static void only_a_block_of_the_right_size_is_taken(void **state)
{
    struct session *session = aligned_alloc(alignof(struct session), sizeof(*session));
    int small = segment_make(4096), right = segment_make(PRINT_BLOCK_BYTES);

    (void)state;
    assert_non_null(session);
    memset(session, 0, sizeof(*session));
    printing_init(&session->printing);
    assert_int_equal(print_adopt(session, right, 4096), GS_ERR_PROTOCOL);
    assert_int_equal(print_adopt(session, small, PRINT_BLOCK_BYTES), GS_ERR_PROTOCOL);
    assert_int_equal(print_adopt(session, UINT64_MAX, PRINT_BLOCK_BYTES), GS_ERR_PROTOCOL);
    assert_int_equal(print_adopt(session, INT32_MAX, PRINT_BLOCK_BYTES), GS_ERR_SYSTEM);
    assert_null(session->printing.block);
    print_deliver(&session->printing);
    assert_int_equal(print_adopt(session, right, PRINT_BLOCK_BYTES), GS_OK);
    assert_non_null(session->printing.block);
    /* Any further module of the session names the same. */
    assert_int_equal(print_adopt(session, right, PRINT_BLOCK_BYTES), GS_OK);
    print_farewell(&session->printing);
    session_unmap(session, MAPPED_PRINT, session->mapped[MAPPED_PRINT]);
    printing_deinit(&session->printing);
    shmctl(small, IPC_RMID, NULL);
    shmctl(right, IPC_RMID, NULL);
    free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_are_formatted_as_in_c),
        cmocka_unit_test(what_is_no_conversion_is_printed_as_it_is),
        cmocka_unit_test(widths_come_from_arguments_and_have_bounds),
        cmocka_unit_test(strings_end_where_their_length_says),
        cmocka_unit_test(conversions_beyond_the_arguments_stand_as_written),
        cmocka_unit_test(a_record_that_lies_is_no_message),
        cmocka_unit_test(an_assertion_is_told_as_cuda_does),
        cmocka_unit_test(any_bytes_are_survived),
        cmocka_unit_test(records_come_once_in_order_over_the_ring_s_end),
        cmocka_unit_test(one_that_is_still_written_holds_up_no_other),
        cmocka_unit_test(what_was_dropped_is_passed_over),
        cmocka_unit_test(a_gap_that_may_still_be_filled_is_not_passed_over),
        cmocka_unit_test(any_bytes_in_the_block_are_survived),
        cmocka_unit_test(only_a_block_of_the_right_size_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
