/* test_client_parts.c - the parts of libgshare that know no server: handles, ranges, parameter
 * structs across versions, environment variables, images, sizes of slices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/base/env.h"
#include "client/base/handle.h"
#include "client/base/image.h"
#include "client/base/params.h"
#include "client/base/range_map.h"
#include "client/memory/copy.h"
#include "client/memory/staging.h"
#include "common/util.h"

/* ---- Handles ---- */

static void a_handle_decodes_to_what_it_was_made_of(void **state)
{
    uint64_t v = handle_encode(HANDLE_KERNEL, HANDLE_SESSIONS - 1, 65535, 0xFFFFFFFFu);
    struct handle h = handle_decode((void *)(uintptr_t)v);

    (void)state;
    assert_int_equal(h.kind, HANDLE_KERNEL);
    assert_int_equal(h.session, HANDLE_SESSIONS - 1);
    assert_int_equal(h.slot, 65535);
    assert_int_equal(h.generation, 0xFFFFFFFFu);
    /* Bits that no handle has make it name nothing. */
    h = handle_decode((void *)(uintptr_t)(v | UINT64_C(1) << 48));
    assert_int_equal(h.generation, 0);
}

static void a_slot_that_is_used_again_has_another_generation(void **state)
{
    struct handle_table table;
    uint32_t slot, generation, slot2, generation2;
    int a, b;

    (void)state;
    handle_table_init(&table, 300);
    assert_int_equal(handle_insert(&table, &a, &slot, &generation), HANDLE_INSERTED);
    assert_ptr_equal(handle_lookup(&table, slot, generation), &a);
    assert_null(handle_lookup(&table, slot, generation + 1));
    assert_null(handle_lookup(&table, slot, 0));
    assert_true(handle_retire(&table, slot, generation));
    assert_false(handle_retire(&table, slot, generation));
    assert_null(handle_lookup(&table, slot, generation));
    assert_ptr_equal(handle_at(&table, slot), &a); /* the owner still has it */
    /* Not released yet: the slot is not given to another. */
    assert_int_equal(handle_insert(&table, &b, &slot2, &generation2), HANDLE_INSERTED);
    assert_int_not_equal(slot, slot2);
    handle_release(&table, slot);
    assert_null(handle_at(&table, slot));
    assert_int_equal(handle_insert(&table, &b, &slot2, &generation2), HANDLE_INSERTED);
    assert_int_equal(slot, slot2);
    assert_int_not_equal(generation, generation2);
    assert_null(handle_lookup(&table, slot, generation));
    handle_table_deinit(&table);
}

static void a_table_is_full_at_its_capacity(void **state)
{
    struct handle_table table;
    uint32_t slot, generation;
    int object;

    (void)state;
    handle_table_init(&table, HANDLE_CHUNK + 1);
    for (uint32_t i = 0; i <= HANDLE_CHUNK; i++) {
        assert_int_equal(handle_insert(&table, &object, &slot, &generation), HANDLE_INSERTED);
        assert_int_equal(slot, i);
    }
    assert_int_equal(handle_insert(&table, &object, &slot, &generation), HANDLE_FULL);
    assert_null(handle_lookup(&table, HANDLE_CHUNK + 1, generation));
    assert_null(handle_lookup(&table, 65535, generation));
    handle_table_deinit(&table);
}

/* ---- Ranges ---- */

static void put(struct range_map *map, uint64_t base, uint64_t size, uint64_t value, bool fits)
{
    assert_true(range_map_reserve(map));
    assert_int_equal(range_map_insert(map, (struct range){base, size, value}), fits);
}

static void ranges_do_not_overlap(void **state)
{
    struct range_map map = {0};

    (void)state;
    put(&map, 1000, 100, 0, true);
    put(&map, 1000, 100, 0, false);
    put(&map, 999, 2, 0, false);
    put(&map, 1099, 1, 0, false);
    put(&map, 900, 300, 0, false);
    put(&map, 1050, 1, 0, false);
    put(&map, 1100, 1, 0, true); /* touching is not overlapping */
    put(&map, 999, 1, 0, true);
    put(&map, 5, 0, 0, false);
    put(&map, UINT64_MAX, 2, 0, false);
    put(&map, UINT64_MAX, 1, 0, true);
    put(&map, UINT64_MAX - 10, 11, 0, false);
    assert_int_equal(map.count, 4);
    range_map_deinit(&map);
}

static void a_range_holds_what_lies_wholly_inside_it(void **state)
{
    static const struct {
        uint64_t address, size;
        bool held;
    } table[] = {
        {1000, 100, true},         {1000, 0, true},        {1099, 1, true},
        {1100, 0, true},           {1100, 1, false},       {1099, 2, false},
        {999, 1, false},           {999, 50, false},       {1000, UINT64_MAX, false},
        {1001, UINT64_MAX, false}, {UINT64_MAX, 1, false},
    };
    struct range range = {1000, 100, 0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        assert_int_equal(range_holds(&range, table[i].address, table[i].size), table[i].held);
}

static void the_near_range_is_the_one_that_can_hold_an_address(void **state)
{
    struct range_map map = {0};

    (void)state;
    assert_null(range_map_near(&map, 0));
    put(&map, 1000, 100, 1, true);
    put(&map, 3000, 100, 3, true);
    put(&map, 2000, 100, 2, true);
    assert_int_equal(range_map_near(&map, 0)->value, 1);
    assert_int_equal(range_map_near(&map, 1099)->value, 1);
    assert_int_equal(range_map_near(&map, 1100)->value, 2);
    assert_int_equal(range_map_near(&map, 3099)->value, 3);
    assert_null(range_map_near(&map, 3100));
    assert_null(range_map_at(&map, 1001));
    assert_int_equal(range_map_at(&map, 2000)->value, 2);
    assert_false(range_map_remove(&map, 2001));
    assert_true(range_map_remove(&map, 2000));
    assert_false(range_map_remove(&map, 2000));
    assert_int_equal(range_map_near(&map, 1100)->value, 3);
    range_map_deinit(&map);
}

/* Against a plain array of flags, with the same random inserts and removals. */
static void random_changes_agree_with_a_plain_model(void **state)
{
    static unsigned char model[512]; /* number of the range that covers the byte; 0: none */
    struct range_map map = {0};
    uint32_t random = 7;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        random = random * 1664525u + 1013904223u;
        uint64_t base = (random >> 8) % 500, size = 1 + (random >> 20) % 12;
        const struct range *r = range_map_near(&map, base);
        bool covered = r && range_holds(r, base, 1), free_range = true;
        assert_int_equal(covered, model[base] != 0);
        for (uint64_t n = base; n < base + size; n++)
            free_range &= !model[n];
        if (random & 16) {
            put(&map, base, size, 0, free_range);
            if (free_range)
                memset(model + base, 1, size);
        } else if (covered) {
            struct range gone = *r;
            assert_true(range_map_remove(&map, gone.base));
            memset(model + gone.base, 0, gone.size);
        }
    }
    range_map_deinit(&map);
}

static void a_modules_ranges_go_together(void **state)
{
    struct range_map map = {0};

    (void)state;
    for (uint64_t i = 0; i < 40; i++)
        put(&map, 100 * i, 50, i % 4, true);
    range_map_remove_value(&map, 2);
    assert_int_equal(map.count, 30);
    assert_null(range_map_at(&map, 200));
    assert_non_null(range_map_at(&map, 300));
    range_map_deinit(&map);
}

/* ---- Parameter structs ---- */

struct old_struct {
    size_t size;
    uint64_t a;
};
struct known_struct {
    size_t size;
    uint64_t a, b;
};
struct new_struct {
    size_t size;
    uint64_t a, b, c;
};
#define LEAST PARAMS_UP_TO(struct known_struct, a)

static gs_status read_known(struct known_struct *known, const void *given)
{
    *known = (struct known_struct){sizeof(*known), 1, 2};
    return params_read(known, sizeof(*known), LEAST, given, "known_struct");
}

static void an_older_headers_struct_gets_defaults_for_what_it_lacks(void **state)
{
    struct old_struct old = {sizeof(old), 10};
    struct known_struct known;

    (void)state;
    assert_int_equal(read_known(&known, &old), GS_OK);
    assert_int_equal(known.size, sizeof(known));
    assert_int_equal(known.a, 10);
    assert_int_equal(known.b, 2);
}

static void a_newer_headers_struct_may_set_nothing_that_is_unknown(void **state)
{
    struct new_struct new = {sizeof(new), 10, 20, 0};
    struct known_struct known;

    (void)state;
    assert_int_equal(read_known(&known, &new), GS_OK);
    assert_int_equal(known.b, 20);
    new.c = UINT64_C(1) << 56; /* the last byte */
    assert_int_equal(read_known(&known, &new), GS_ERR_INVALID_VALUE);
    assert_non_null(strstr(gs_last_error_message(), "known_struct sets byte 31"));
    assert_int_equal(known.a, 1);
}

static void a_size_that_no_version_had_is_refused(void **state)
{
    static const size_t sizes[] = {0, 8, LEAST - 1, PARAMS_SIZE_MAX + 1, SIZE_MAX};
    struct new_struct given = {0};
    struct known_struct known;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        given.size = sizes[i];
        assert_int_equal(read_known(&known, &given), GS_ERR_INVALID_VALUE);
        assert_int_equal(params_write(&given, LEAST, &known, sizeof(known), "known_struct"),
                         GS_ERR_INVALID_VALUE);
        assert_int_equal(given.size, sizes[i]);
    }
    assert_int_equal(params_write(NULL, LEAST, &known, sizeof(known), "known_struct"),
                     GS_ERR_INVALID_VALUE);
}

static void results_are_written_as_far_as_the_callers_struct_goes(void **state)
{
    struct known_struct known = {sizeof(known), 5, 6};
    struct {
        struct old_struct old;
        uint64_t beyond;
    } small = {{sizeof(struct old_struct), 0}, 99};
    struct new_struct large = {sizeof(large), 0, 0, 99};

    (void)state;
    assert_int_equal(params_write(&small, LEAST, &known, sizeof(known), "known_struct"), GS_OK);
    assert_int_equal(small.old.a, 5);
    assert_int_equal(small.old.size, sizeof(struct old_struct));
    assert_int_equal(small.beyond, 99);
    assert_int_equal(params_write(&large, LEAST, &known, sizeof(known), "known_struct"), GS_OK);
    assert_int_equal(large.size, sizeof(large));
    assert_int_equal(large.b, 6);
    assert_int_equal(large.c, 0);
}

/* ---- Environment ---- */

static void sizes_are_parsed_whole_or_not_at_all(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: no size */
    } table[] = {
        {"1", 1},
        {"512M", UINT64_C(512) << 20},
        {"512m", UINT64_C(512) << 20},
        {"16K", 16384},
        {"3G", UINT64_C(3) << 30},
        {"2T", UINT64_C(2) << 40},
        {"18446744073709551615", UINT64_MAX},
        {"18446744073709551616", 0},
        {"16777216T", 0}, /* 2^64 */
        {"16777215T", UINT64_C(16777215) << 40},
        {"0", 0},
        {"", 0},
        {" 1", 0},
        {"-1", 0},
        {"+1", 0},
        {"1 M", 0},
        {"1MB", 1 << 20},
        {"1gb", 1 << 30},
        {"1B", 0},
        {"1BM", 0},
        {"1MBB", 0},
        {"1MM", 0},
        {"0x10", 0},
        {"M", 0},
        {"1.5G", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        uint64_t bytes = 0;
        assert_int_equal(env_parse_size(table[i].text, &bytes), table[i].bytes != 0);
        assert_int_equal(bytes, table[i].bytes);
    }
}

static void memory_limits_are_for_all_devices_or_each(void **state)
{
    static const struct {
        const char *text;
        int device;
        bool valid;
        uint64_t bytes;
    } table[] = {
        {"1G", 0, true, 1 << 30},
        {"0=1G,1=512M", 0, true, 1 << 30},
        {"0=1G,1=512M", 1, true, 512 << 20},
        {"0=1G,1=512M", 2, true, 0},
        {"0=1G,1=512MB", 1, true, 512 << 20},
        {"0=1GB,1=512M", 1, true, 512 << 20},
        {"0=1G,1=512M", GS_DEVICE_AUTO, true, 512 << 20},
        {"0=1G,0=2G", 0, true, 1 << 30},
        {"3=64K", 3, true, 65536},
        {"0=1G,", 0, false, 0},
        {",0=1G", 0, false, 0},
        {"0=1G;1=2G", 0, false, 0},
        {"=1G", 0, false, 0},
        {"0=", 0, false, 0},
        {"0", 0, false, 0},
        {"0=0", 0, false, 0},
        {"-1=1G", 0, false, 0},
        {"99999999999=1G", 0, false, 0},
        {"a=1G", 0, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        uint64_t bytes = 0;
        assert_int_equal(env_parse_mem_limit(table[i].text, table[i].device, &bytes),
                         table[i].valid);
        assert_int_equal(bytes, table[i].bytes);
    }
}

static void percentages_and_priorities_are_parsed_whole_or_not_at_all(void **state)
{
    static const char *const no_percentage[] = {"",    "0",   "101", "-5",  "5%",
                                                "nan", "inf", " 50", "1e9", "100.1"};
    static const char *const no_priority[] = {"", "-", "-3", "1.5", "x", " 1", "99999999999", "1 "};
    double percentage = 0;
    int priority = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(no_percentage); i++)
        assert_false(env_parse_percentage(no_percentage[i], &percentage));
    assert_true(env_parse_percentage("12.5", &percentage));
    assert_true(percentage == 12.5);
    assert_true(env_parse_percentage("100", &percentage));
    for (size_t i = 0; i < ARRAY_SIZE(no_priority); i++)
        assert_false(env_parse_priority(no_priority[i], &priority));
    assert_true(env_parse_priority("3", &priority));
    assert_int_equal(priority, 3);
}

static int clear_environment(void **state)
{
    static const char *const names[] = {"GSHARE_INSTANCE",
                                        "GSHARE_MEM_LIMIT",
                                        "GSHARE_PRIORITY",
                                        "GSHARE_ACTIVE_THREAD_PERCENTAGE",
                                        "CUDA_MPS_CLIENT_PRIORITY",
                                        "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
                                        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                                        "GSHARE_RESERVATION",
                                        "GSHARE_FENCE",
                                        "CUDA_MPS_SM_PARTITION",
                                        "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "MPI_LOCALRANKID",
                                        "PMI_LOCAL_RANK",
                                        "MV2_COMM_WORLD_LOCAL_RANK",
                                        "SLURM_LOCALID"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        unsetenv(names[i]);
    return 0;
}

static void a_variable_can_only_lower(void **state)
{
    static const struct {
        const char *name, *value;
        struct env_limits asked, granted;
    } table[] = {
        {"GSHARE_MEM_LIMIT", "1M", {.mem_limit = 0}, {.mem_limit = 1 << 20}},
        {"GSHARE_MEM_LIMIT", "1M", {.mem_limit = 4096}, {.mem_limit = 4096}},
        {"GSHARE_MEM_LIMIT", "1M", {.mem_limit = 1 << 30}, {.mem_limit = 1 << 20}},
        {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=2M", {.mem_limit = 0}, {.mem_limit = 2 << 20}},
        {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "1=2M", {.mem_limit = 77}, {.mem_limit = 77}},
        {"GSHARE_PRIORITY", "0", {.priority = 0}, {.priority = 0}},
        {"GSHARE_PRIORITY", "5", {.priority = 0}, {.priority = 0}},
        {"GSHARE_PRIORITY", "5", {.priority = 9}, {.priority = 5}},
        {"CUDA_MPS_CLIENT_PRIORITY",
         "1",
         {.priority = 3, .cls = GS_CLASS_LATENCY},
         {.priority = 0, .cls = GS_CLASS_BEST_EFFORT}},
        {"CUDA_MPS_CLIENT_PRIORITY", "0", {.priority = 3}, {.priority = 3}},
        {"GSHARE_ACTIVE_THREAD_PERCENTAGE", "100", {.percentage = 100}, {.percentage = 100}},
        {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "100", {.percentage = 100}, {.percentage = 100}},
        {"GSHARE_ACTIVE_THREAD_PERCENTAGE", "50", {.percentage = 100}, {.percentage = 50}},
        {"GSHARE_ACTIVE_THREAD_PERCENTAGE", "50", {.percentage = 20}, {.percentage = 20}},
        {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
         "12.5",
         {.percentage = 100},
         {.percentage = 13, .hundredths = 1250}},
        {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
         "0.5",
         {.percentage = 100},
         {.percentage = 1, .hundredths = 50}},
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        struct env_limits limits = table[i].asked;
        clear_environment(state);
        setenv(table[i].name, table[i].value, 1);
        assert_int_equal(env_apply(0, &limits), GS_OK);
        assert_int_equal(limits.mem_limit, table[i].granted.mem_limit);
        assert_int_equal(limits.priority, table[i].granted.priority);
        assert_int_equal(limits.cls, table[i].granted.cls);
        assert_int_equal(limits.percentage, table[i].granted.percentage);
        if (table[i].granted.hundredths)
            assert_int_equal(limits.hundredths, table[i].granted.hundredths);
    }
}

static void our_variable_hides_that_of_mps(void **state)
{
    struct env_limits limits = {0};

    (void)state;
    setenv("GSHARE_MEM_LIMIT", "8M", 1);
    setenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "nonsense", 1);
    setenv("GSHARE_PRIORITY", "0", 1);
    setenv("CUDA_MPS_CLIENT_PRIORITY", "1", 1);
    setenv("GSHARE_ACTIVE_THREAD_PERCENTAGE", "100", 1);
    setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "nonsense", 1);
    assert_int_equal(env_apply(0, &limits), GS_OK);
    assert_int_equal(limits.mem_limit, 8 << 20);
    assert_int_equal(limits.priority, 0);
}

static void a_variable_that_is_not_understood_is_named(void **state)
{
    static const struct {
        const char *name, *value;
        gs_status status;
    } table[] = {
        {"GSHARE_MEM_LIMIT", "lots", GS_ERR_INVALID_VALUE},
        {"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0:1G", GS_ERR_INVALID_VALUE},
        {"GSHARE_PRIORITY", "high", GS_ERR_INVALID_VALUE},
        {"CUDA_MPS_CLIENT_PRIORITY", "2", GS_ERR_INVALID_VALUE},
        {"GSHARE_ACTIVE_THREAD_PERCENTAGE", "0", GS_ERR_INVALID_VALUE},
        {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "x", GS_ERR_INVALID_VALUE},
        {"GSHARE_ACTIVE_THREAD_PERCENTAGE", "100.1", GS_ERR_INVALID_VALUE},
    };

    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        struct env_limits limits = {.mem_limit = 5, .priority = 6};
        clear_environment(state);
        setenv(table[i].name, table[i].value, 1);
        assert_int_equal(env_apply(0, &limits), table[i].status);
        assert_non_null(strstr(gs_last_error_message(), table[i].name));
        assert_non_null(strstr(gs_last_error_message(), table[i].value));
        assert_int_equal(limits.mem_limit, 5);
    }
}

static void a_reservation_is_the_callers_then_the_variables(void **state)
{
    static const char *const odd[] = {"", "mps1", "0", "0/", "/mps1", "GPU-74d43ed2/Dx4A", "-1/a"};
    const char *name = NULL;
    int device = GS_DEVICE_AUTO;

    (void)state;
    assert_int_equal(env_reservation(&name, &device), GS_OK);
    assert_null(name);
    setenv("CUDA_MPS_SM_PARTITION", "3/mps1", 1);
    assert_int_equal(env_reservation(&name, &device), GS_OK);
    assert_string_equal(name, "mps1");
    assert_int_equal(device, 3);
    name = "";
    device = 1;
    assert_int_equal(env_reservation(&name, &device), GS_OK);
    assert_string_equal(name, "");
    assert_int_equal(device, 1);
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        name = NULL;
        setenv("CUDA_MPS_SM_PARTITION", odd[i], 1);
        assert_int_equal(env_reservation(&name, &device), GS_ERR_INVALID_VALUE);
        assert_non_null(strstr(gs_last_error_message(), "CUDA_MPS_SM_PARTITION"));
        assert_null(name);
        assert_int_equal(device, 1);
    }
    setenv("GSHARE_RESERVATION", "render", 1);
    assert_int_equal(env_reservation(&name, &device), GS_OK);
    assert_string_equal(name, "render");
    assert_int_equal(device, 1);
}

static void a_fence_can_only_become_stricter(void **state)
{
    static const struct {
        const char *value;
        gs_fence asked, granted;
    } table[] = {{"on", GS_FENCE_AUTO, GS_FENCE_ON},
                 {"on", GS_FENCE_STRICT, GS_FENCE_STRICT},
                 {"report", GS_FENCE_ON, GS_FENCE_REPORT},
                 {"strict", GS_FENCE_REPORT, GS_FENCE_STRICT},
                 {"report", GS_FENCE_STRICT, GS_FENCE_STRICT}};
    static const char *const odd[] = {"", "off", "Strict", "strict ", "3"};
    gs_fence fence = GS_FENCE_REPORT;

    (void)state;
    assert_int_equal(env_fence(&fence), GS_OK);
    assert_int_equal(fence, GS_FENCE_REPORT);
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        setenv("GSHARE_FENCE", table[i].value, 1);
        fence = table[i].asked;
        assert_int_equal(env_fence(&fence), GS_OK);
        assert_int_equal(fence, table[i].granted);
    }
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        setenv("GSHARE_FENCE", odd[i], 1);
        fence = GS_FENCE_ON;
        assert_int_equal(env_fence(&fence), GS_ERR_INVALID_VALUE);
        assert_non_null(strstr(gs_last_error_message(), "GSHARE_FENCE"));
        assert_int_equal(fence, GS_FENCE_ON);
    }
}

static void the_local_rank_is_the_launchers_and_counted_from_1(void **state)
{
    static const char *const odd[] = {"", "-1", "1 ", "0x1", "one", "99999999999"};
    uint32_t rank = 77;

    assert_int_equal(env_local_rank(&rank), GS_OK);
    assert_int_equal(rank, 0);
    setenv("SLURM_LOCALID", "6", 1);
    assert_int_equal(env_local_rank(&rank), GS_OK);
    assert_int_equal(rank, 7);
    setenv("PMI_LOCAL_RANK", "3", 1);
    assert_int_equal(env_local_rank(&rank), GS_OK);
    assert_int_equal(rank, 4);
    setenv("MPI_LOCALRANKID", "0", 1);
    assert_int_equal(env_local_rank(&rank), GS_OK);
    assert_int_equal(rank, 1);
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        setenv("OMPI_COMM_WORLD_LOCAL_RANK", odd[i], 1);
        assert_int_equal(env_local_rank(&rank), GS_ERR_INVALID_VALUE);
        assert_non_null(strstr(gs_last_error_message(), "OMPI_COMM_WORLD_LOCAL_RANK"));
        assert_int_equal(rank, 1);
    }
    clear_environment(state);
}

static void the_instance_is_the_callers_then_the_variables_then_default(void **state)
{
    (void)state;
    assert_string_equal(env_instance(NULL), "default");
    setenv("GSHARE_INSTANCE", "", 1);
    assert_string_equal(env_instance(NULL), "default");
    setenv("GSHARE_INSTANCE", "mine", 1);
    assert_string_equal(env_instance(NULL), "mine");
    assert_string_equal(env_instance("theirs"), "theirs");
}

/* ---- Images and slices ---- */

static void an_image_of_size_0_is_text(void **state)
{
    size_t size = 0;

    (void)state;
    assert_int_equal(image_size(".version", 0, &size), GS_OK);
    assert_int_equal(size, 9); /* its NUL is counted */
    assert_int_equal(image_size("\x7f"
                                "ELF",
                                100, &size),
                     GS_OK);
    assert_int_equal(size, 100);
    assert_int_equal(image_size("\x7f"
                                "ELF",
                                0, &size),
                     GS_ERR_INVALID_VALUE);
    assert_int_equal(image_size("\x50\xED\x55\xBA", 0, &size), GS_ERR_INVALID_VALUE);
    assert_int_equal(image_size("", 0, &size), GS_ERR_BAD_IMAGE);
    assert_int_equal(image_size(NULL, 5, &size), GS_ERR_INVALID_VALUE);
}

static void slices_overlap_copy_and_transfer_but_are_worth_a_record(void **state)
{
    (void)state;
    assert_int_equal(copy_slice((64 << 10) + 1), 64 << 10);
    assert_int_equal(copy_slice(1 << 20), 128 << 10);
    assert_int_equal(copy_slice(8 << 20), 1 << 20);
    assert_int_equal(copy_slice(UINT64_C(1) << 40), STAGING_LARGE_CHUNK);
}

#define ENV(name) cmocka_unit_test_setup_teardown(name, clear_environment, clear_environment)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handle_decodes_to_what_it_was_made_of),
        cmocka_unit_test(a_slot_that_is_used_again_has_another_generation),
        cmocka_unit_test(a_table_is_full_at_its_capacity),
        cmocka_unit_test(ranges_do_not_overlap),
        cmocka_unit_test(a_range_holds_what_lies_wholly_inside_it),
        cmocka_unit_test(the_near_range_is_the_one_that_can_hold_an_address),
        cmocka_unit_test(random_changes_agree_with_a_plain_model),
        cmocka_unit_test(a_modules_ranges_go_together),
        cmocka_unit_test(an_older_headers_struct_gets_defaults_for_what_it_lacks),
        cmocka_unit_test(a_newer_headers_struct_may_set_nothing_that_is_unknown),
        cmocka_unit_test(a_size_that_no_version_had_is_refused),
        cmocka_unit_test(results_are_written_as_far_as_the_callers_struct_goes),
        cmocka_unit_test(sizes_are_parsed_whole_or_not_at_all),
        cmocka_unit_test(memory_limits_are_for_all_devices_or_each),
        cmocka_unit_test(percentages_and_priorities_are_parsed_whole_or_not_at_all),
        ENV(a_variable_can_only_lower),
        ENV(our_variable_hides_that_of_mps),
        ENV(a_variable_that_is_not_understood_is_named),
        ENV(a_reservation_is_the_callers_then_the_variables),
        ENV(a_fence_can_only_become_stricter),
        ENV(the_local_rank_is_the_launchers_and_counted_from_1),
        ENV(the_instance_is_the_callers_then_the_variables_then_default),
        cmocka_unit_test(an_image_of_size_0_is_text),
        cmocka_unit_test(slices_overlap_copy_and_transfer_but_are_worth_a_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
