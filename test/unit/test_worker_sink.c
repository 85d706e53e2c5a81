/*
 * test_worker_sink.c - a covered window has no hole and nothing mapped twice, whatever is put into
 * it and taken out again, and mappings are the memory's whole size.
 *
 * The driver is a map of granules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_driver.h"
#include "worker/memory/memory.h"
#include "worker/memory/sink.h"
#include "worker/memory/user.h"

#define GRANULE  (UINT64_C(2) << 20)
#define BASE     (UINT64_C(0x7000) << 32)
#define GRANULES 2049u               /* a window of 4 GiB, and the granule behind it */
#define ALL      (GRANULES + 12288u) /* and 24 GiB that indices reach behind it */
#define CHUNK    0xffffu

/* The number of the mapping that each granule belongs to; 0: none; CHUNK: a chunk. */
static uint32_t map[ALL];
static uint32_t mappings, maps_made, created, fail_from = UINT32_MAX;
static uint64_t handle_size[64], largest_creatable, cleared;
static struct session session;

static CUresult create(CUmemGenericAllocationHandle *handle, size_t size,
                       const CUmemAllocationProp *prop, unsigned long long flags)
{
    (void)prop;
    (void)flags;
    if (size > largest_creatable)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = ++created;
    handle_size[created] = size;
    return CUDA_SUCCESS;
}

static CUresult release(CUmemGenericAllocationHandle handle)
{
    assert_true(handle_size[handle] > 0);
    handle_size[handle] = 0;
    return CUDA_SUCCESS;
}

static CUresult map_piece(CUdeviceptr address, size_t size, size_t offset,
                          CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    (void)flags;
    assert_int_equal(offset, 0);
    assert_int_equal(size, handle_size[handle]);
    assert_true(address >= BASE && address + size <= BASE + ALL * GRANULE);
    if (maps_made++ >= fail_from)
        return CUDA_ERROR_UNKNOWN;
    mappings++;
    for (uint64_t i = (address - BASE) / GRANULE; i < (address + size - BASE) / GRANULE; i++) {
        assert_int_equal(map[i], 0);
        map[i] = mappings;
    }
    return CUDA_SUCCESS;
}

static CUresult set_access(CUdeviceptr address, size_t size, const CUmemAccessDesc *access,
                           size_t count)
{
    (void)address;
    (void)size;
    (void)access;
    (void)count;
    return CUDA_SUCCESS;
}

/* Only whole mappings are unmapped. */
static CUresult unmap_pieces(CUdeviceptr address, size_t size)
{
    const uint64_t first = (address - BASE) / GRANULE, end = first + size / GRANULE;

    assert_true(first == 0 || map[first] != map[first - 1]);
    assert_true(end == ALL || map[end - 1] != map[end]);
    for (uint64_t i = first; i < end; i++) {
        assert_true(map[i] != 0 && map[i] != CHUNK);
        map[i] = 0;
    }
    return CUDA_SUCCESS;
}

static CUresult clear(CUdeviceptr address, unsigned char value, size_t count, CUstream stream)
{
    (void)address;
    (void)value;
    (void)stream;
    cleared += count;
    return CUDA_SUCCESS;
}

static CUresult synchronize(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static int set(void **state)
{
    (void)state;
    fake_cu.cuMemCreate = create;
    fake_cu.cuMemRelease = release;
    fake_cu.cuMemMap = map_piece;
    fake_cu.cuMemSetAccess = set_access;
    fake_cu.cuMemUnmap = unmap_pieces;
    fake_cu.cuMemsetD8Async = clear;
    fake_cu.cuStreamSynchronize = synchronize;
    worker_begin()->granularity = GRANULE;
    return 0;
}

static int session_begin(void **state)
{
    (void)state;
    memset(map, 0, sizeof(map));
    memset(&session, 0, sizeof(session));
    mappings = maps_made = 0;
    cleared = 0;
    fail_from = UINT32_MAX;
    largest_creatable = UINT64_MAX;
    worker_begin()->info.memory_total = UINT64_C(140) << 30;
    session.memory.window_base = BASE;
    session.memory.window_size = (GRANULES - 1) * GRANULE;
    session.memory.covered_end = BASE + GRANULES * GRANULE;
    space_init(&session.memory.window, BASE + GRANULE, (GRANULES - 2) * GRANULE);
    sinks_init(&session, (struct window_range){BASE, ALL * GRANULE});
    session.memory.user = user_hold(1000);
    return 0;
}

static int session_end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < GRANULES; i++)
        map[i] = map[i] == CHUNK ? 0 : map[i];
    sinks_deinit(&session);
    space_deinit(&session.memory.window);
    user_release(session.memory.user);
    for (uint32_t i = 0; i < ALL; i++)
        assert_int_equal(map[i], 0);
    for (uint32_t i = 1; i <= created; i++)
        assert_int_equal(handle_size[i], 0);
    created = 0;
    return 0;
}

static void expect_covered(void)
{
    for (uint32_t i = 0; i < GRANULES; i++)
        assert_true(map[i] != 0);
}

static void a_window_takes_few_mappings(void **state)
{
    (void)state;
    assert_int_equal(sinks_cover(&session, BASE, GRANULES * GRANULE), CUDA_SUCCESS);
    expect_covered();
    assert_int_equal(mappings, 33);
    assert_int_equal(cleared, 65 * GRANULE); /* each memory once, whatever maps it */
}

/* What kernels reach beyond a window is covered by larger pieces, where a device has the memory for
 * one. */
static void a_wide_range_takes_few_mappings(void **state)
{
    (void)state;
    assert_int_equal(sinks_cover(&session, BASE, ALL * GRANULE), CUDA_SUCCESS);
    for (uint32_t i = 0; i < ALL; i++)
        assert_true(map[i] != 0);
    assert_int_equal(mappings, 28 * 2 + 1);
}

/* Covers all on a device of so many GiB. */
static void cover_on_a_device_of(uint64_t gib)
{
    worker_begin()->info.memory_total = gib << 30;
    assert_int_equal(sinks_cover(&session, BASE, ALL * GRANULE), CUDA_SUCCESS);
}

static void a_smaller_device_has_smaller_sinks(void **state)
{
    (void)state;
    cover_on_a_device_of(80);
    assert_int_equal(mappings, 28 * 4 + 1);
    assert_int_equal(cleared, 129 * GRANULE);
}

static void a_small_device_keeps_its_memory(void **state)
{
    (void)state;
    cover_on_a_device_of(24);
    assert_int_equal(mappings, 28 * 8 + 1);
    assert_int_equal(cleared, 65 * GRANULE);
}

/* As chunk.c does: the place is opened before the chunk is mapped there, and closed after it is
 * unmapped. */
static bool chunk_put(uint64_t at, uint64_t count)
{
    if (!space_put(&session.memory.window, BASE + at * GRANULE, count * GRANULE, NULL))
        return false;
    assert_int_equal(sinks_uncover(&session, BASE + at * GRANULE, count * GRANULE), CUDA_SUCCESS);
    for (uint64_t i = at; i < at + count; i++) {
        assert_int_equal(map[i], 0);
        map[i] = CHUNK;
    }
    return true;
}

static void chunk_drop(struct place *place)
{
    const uint64_t at = (place->address - BASE) / GRANULE;

    for (uint64_t i = at; i < at + place->size / GRANULE; i++)
        map[i] = 0;
    assert_int_equal(sinks_cover_place(&session, place->address, place->size), CUDA_SUCCESS);
    space_remove(&session.memory.window, place);
}

/* A large import that is taken back is covered as the whole window is, not piece by piece: its
 * session's launches wait for each mapping. */
static void what_is_taken_back_takes_few_mappings(void **state)
{
    const uint64_t at = 1001, count = 900; /* 1.8 GiB */

    (void)state;
    assert_int_equal(sinks_cover(&session, BASE, GRANULES * GRANULE), CUDA_SUCCESS);
    assert_true(chunk_put(at, count));
    maps_made = 0;
    chunk_drop(space_at(&session.memory.window, BASE + at * GRANULE));
    expect_covered();
    assert_in_range(maps_made, 1, 16);
    assert_int_equal(session.memory.sinks.count, 33);
}

/* Chunks come and go at random places. */
static void what_is_no_chunk_is_a_sink(void **state)
{
    struct space *window = &session.memory.window;
    uint64_t x = 88172645463325252u;

    (void)state;
    assert_int_equal(sinks_cover(&session, BASE, GRANULES * GRANULE), CUDA_SUCCESS);
    for (unsigned round = 0; round < 20000; round++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        if (x % 5 < 2 && window->count > 0)
            chunk_drop(&window->places[(x >> 30) % window->count]);
        else
            chunk_put(1 + (x >> 10) % (GRANULES - 2), 1 + (x >> 40) % (round % 50 ? 5 : 300));
        expect_covered();
    }
    assert_true(session.memory.sinks.count > 100);
    while (window->count > 0)
        chunk_drop(&window->places[x++ % window->count]);
    expect_covered();
    assert_int_equal(session.memory.sinks.count, 33); /* they are as large as at first */
}

static void a_device_that_is_nearly_full_gives_smaller_sinks(void **state)
{
    (void)state;
    largest_creatable = 16 << 20;
    assert_int_equal(sinks_cover(&session, BASE, GRANULES * GRANULE), CUDA_SUCCESS);
    expect_covered();
    assert_int_equal(mappings, 4096 / 16 + 1);
}

static void a_sink_that_cannot_be_mapped_is_a_hole(void **state)
{
    (void)state;
    assert_int_equal(sinks_cover(&session, BASE, GRANULES * GRANULE), CUDA_SUCCESS);
    assert_false(session.memory.hole);
    fail_from = maps_made + 3;
    assert_int_equal(sinks_uncover(&session, BASE + 5 * GRANULE, GRANULE), CUDA_ERROR_UNKNOWN);
    assert_true(session.memory.hole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_window_takes_few_mappings, session_begin, session_end),
        cmocka_unit_test_setup_teardown(a_wide_range_takes_few_mappings, session_begin,
                                        session_end),
        cmocka_unit_test_setup_teardown(a_smaller_device_has_smaller_sinks, session_begin,
                                        session_end),
        cmocka_unit_test_setup_teardown(a_small_device_keeps_its_memory, session_begin,
                                        session_end),
        cmocka_unit_test_setup_teardown(what_is_taken_back_takes_few_mappings, session_begin,
                                        session_end),
        cmocka_unit_test_setup_teardown(what_is_no_chunk_is_a_sink, session_begin, session_end),
        cmocka_unit_test_setup_teardown(a_device_that_is_nearly_full_gives_smaller_sinks,
                                        session_begin, session_end),
        cmocka_unit_test_setup_teardown(a_sink_that_cannot_be_mapped_is_a_hole, session_begin,
                                        session_end),
    };

    return cmocka_run_group_tests(tests, set, NULL);
}
