/* Calls of malloc and free go to gshare's functions, and these allocate as CUDA says. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/util.h"
#include "interp_rig.h"
#include "ptx/heap_pass.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/heap.h"
#include "ptx_equal.h"
#include "ptx_files.h"

#define HEAD   ".version 6.4\n.target sm_70\n.address_size 64\n"
#define MALLOC ".extern .func (.param .b64 r) malloc (.param .b64 n);\n"
#define FREE   ".extern .func free (.param .b64 p);\n"
#define CALL_MALLOC                                                                                \
    "{ .reg .b64 %rd; .param .b64 n; .param .b64 r; mov.u64 %rd, 8; st.param.b64 [n], %rd;\n"      \
    "call.uni (r), malloc, (n); ld.param.b64 %rd, [r]; }\n"
#define CALL_FREE                                                                                  \
    "{ .reg .b64 %rd; .param .b64 p; mov.u64 %rd, 0; st.param.b64 [p], %rd;\n"                     \
    "call.uni free, (p); }\n"

/* A call through a register, and a table of addresses. */
static const char through_registers[] = HEAD MALLOC FREE
    ".global .align 8 .u64 table[2] = {malloc, malloc};\n"
    ".visible .entry k(.param .u64 to) { .reg .b64 %rd<5>; .param .b64 n; .param .b64 r;\n"
    "ld.param.u64 %rd0, [to]; mov.u64 %rd1, 24; st.param.b64 [n], %rd1;\n"
    "ld.global.u64 %rd2, [table+8];\n"
    "proto: .callprototype (.param .b64 _) _ (.param .b64 _);\n"
    "call (r), %rd2, (n), proto; ld.param.b64 %rd3, [r]; st.global.u64 [%rd0], %rd3;\n" CALL_FREE
    "ret; }\n";

static const char *const samples[] = {
    "../corpus/ptx/device_heap.O3.ptx",
    "../corpus/ptx/device_heap.O0.ptx",
    "../corpus/ptx/device_heap.G.ptx",
    "../corpus/ptx/device_heap.clang.ptx",
    "../e2e/heap/heap.ptx",
};

/* The text with the pass, and FURTHER ones, behind it. */
static char *pass(const char *text, unsigned further)
{
    struct ptx_rewrite_report report = {0};
    char *out;
    size_t len;

    assert_true(heap_pass_maybe(text, strlen(text)));
    assert_int_equal(ptx_rewrite(text, strlen(text), PTX_PASS_HEAP | further, &out, &len, &report),
                     0);
    assert_int_equal(strlen(out), len);
    assert_true(report.allocates);
    ptx_rewrite_report_deinit(&report);
    return out;
}

static void expect_untouched(const char *text)
{
    struct ptx_rewrite_report report = {0};
    char *out = NULL;
    size_t len = 0;

    assert_int_equal(ptx_rewrite(text, strlen(text), PTX_PASS_HEAP, &out, &len, &report), -ENOENT);
    assert_null(out);
    assert_false(report.allocates);
    ptx_rewrite_report_deinit(&report);
}

/* ---- The text ---- */

static void samples_that_allocate_read_back_and_call_our_functions(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
        size_t len;
        char *text = ptx_file_read(samples[i], &len), *out = pass(text, 0);
        struct ptx_module *m = ptx_parse_good(out);
        const struct ptx_func *f = ptx_module_func(m, "gshare_heap$malloc");
        const struct ptx_var *v = ptx_module_var(m, PTX_HEAP_VARIABLE);

        assert_true(f && f->has_body && f->nparams == 1);
        assert_true(v && v->size == sizeof(struct ptx_heap) && v->space == PTX_SPACE_CONST);
        assert_null(ptx_module_func(m, "malloc"));
        assert_null(ptx_module_func(m, "free"));
        ptx_assert_reads_back(m);
        ptx_module_free(m);
        free(out);
        free(text);
    }
}

static void no_line_moves(void **state)
{
    size_t len;
    char *text = ptx_file_read(samples[2], &len), *out = pass(text, 0);
    const char *a = text, *b = out;
    unsigned changed = 0;

    (void)state;
    while (*a) {
        size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
        if (la != lb || memcmp(a, b, la)) {
            assert_true(memmem(a, la, "malloc", 6) || memmem(a, la, "free", 4));
            changed++;
        }
        a += la + (a[la] == '\n');
        b += lb + (b[lb] == '\n');
    }
    assert_int_equal(changed, 4);
    free(out);
    free(text);
}

/* The oldest and the newest target that ptxas has, and beside all other passes. */
static void ptxas_takes_what_comes_out(void **state)
{
    static const char *const targets[] = {"sm_75", "sm_80", "sm_90", "sm_100"};
    const char *ptxas = "/usr/local/cuda/bin/ptxas";
    char dir[] = "/tmp/gs-heap-XXXXXX", path[64], command[512];

    (void)state;
    if (access(ptxas, X_OK) != 0) {
        print_message("ptxas is not installed\n");
        skip();
    }
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/out.ptx", dir);
    for (size_t i = 0; i < 2 * ARRAY_SIZE(targets); i++) {
        size_t len;
        char *text = ptx_file_read(samples[4], &len);
        char *out = pass(text, i % 2 ? PTX_PASS_COMPLETION | PTX_PASS_FENCE : 0);
        FILE *f = fopen(path, "w");

        assert_non_null(f);
        fputs(out, f);
        fclose(f);
        snprintf(command, sizeof(command), "%s -arch=%s -o /dev/null %s", ptxas, targets[i / 2],
                 path);
        assert_int_equal(system(command), 0);
        free(out);
        free(text);
    }
    unlink(path);
    rmdir(dir);
}

/* What the reader says, which knows each instruction's first target and version. */
static void the_functions_need_no_newer_target_than_the_fence(void **state)
{
    char *out = pass(".version 4.3\n.target sm_50\n.address_size 64\n" MALLOC FREE
                     ".visible .entry k()\n{" CALL_MALLOC CALL_FREE "ret; }\n",
                     PTX_PASS_FENCE);

    (void)state;
    ptx_module_free(ptx_parse_good(out));
    free(out);
}

static void a_module_that_prints_too_gets_both(void **state)
{
    char *out =
        pass(HEAD MALLOC ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
                         ".visible .entry k()\n{" CALL_MALLOC
                         "{ .reg .b64 %rd; .param .b64 f; .param .b64 a; .param .b32 r;\n"
                         "mov.u64 %rd, 0; st.param.b64 [f], %rd; st.param.b64 [a], %rd;\n"
                         "call.uni (r), vprintf, (f, a); } ret; }\n",
             PTX_PASS_PRINTF | PTX_PASS_FENCE);
    struct ptx_module *m = ptx_parse_good(out);

    (void)state;
    assert_non_null(ptx_module_func(m, "gshare$vprintf"));
    assert_non_null(ptx_module_func(m, "gshare_heap$malloc"));
    ptx_module_free(m);
    free(out);
}

static void what_is_called_so_but_is_no_function_of_the_driver_stays(void **state)
{
    (void)state;
    assert_false(heap_pass_maybe("freedom mallocs xfree", 21));
    expect_untouched(HEAD ".visible .entry free() { ret; }\n");
    expect_untouched(HEAD MALLOC ".visible .entry k() { ret; }\n");
    expect_untouched(HEAD ".visible .func free(.param .b64 p) { ret; }\n" MALLOC
                          ".visible .entry k()\n{" CALL_MALLOC CALL_FREE "ret; }\n");
    expect_untouched(HEAD MALLOC ".visible .func gshare_heap$malloc() { ret; }\n"
                                 ".visible .entry k()\n{" CALL_MALLOC "ret; }\n");
    expect_untouched(HEAD ".extern .func (.param .b64 malloc) malloc (.param .b64 n);\n"
                          ".visible .entry k()\n{" CALL_MALLOC "ret; }\n");
    char *out = pass(HEAD MALLOC ".visible .entry free()\n{" CALL_MALLOC "ret; }\n", 0);
    struct ptx_module *m = ptx_parse_good(out);
    assert_true(ptx_module_func(m, "free") && ptx_module_func(m, "free")->entry);
    ptx_module_free(m);
    free(out);
}

static void the_fence_takes_it_and_without_the_pass_refuses(void **state)
{
    struct ptx_rewrite_report report = {0};
    char *out = NULL;
    size_t len;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
        char *text = ptx_file_read(samples[i], &len);
        free(pass(text, PTX_PASS_FENCE | PTX_PASS_PRINTF | PTX_PASS_COMPLETION));
        assert_int_equal(ptx_rewrite(text, len, PTX_PASS_FENCE, &out, &len, &report), -EPERM);
        assert_non_null(strstr(report.fence.reason, "is not in the module"));
        ptx_rewrite_report_deinit(&report);
        free(text);
    }
    /* No store of the added functions may hit the stack. */
    assert_int_equal(ptx_rewrite(through_registers, strlen(through_registers),
                                 PTX_PASS_HEAP | PTX_PASS_FENCE, &out, &len, &report),
                     0);
    assert_int_equal(report.fence.stack_line, 0);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

/* ---- The heap ---- */

struct world {
    struct rig *rig;
    unsigned pages;
    uint8_t *base;
    uint64_t *out;
    uint32_t *words; /* 2 of them */
};

static void world_init(struct world *w, const char *text, unsigned pages)
{
    char *out = pass(text, 0);
    uint64_t bytes = (uint64_t)pages * HEAP_PAGE + HEAP_CONTROL_BYTES(pages);

    w->rig = rig_new(out, strlen(out));
    assert_non_null(w->rig);
    w->pages = pages;
    w->base = rig_alloc(w->rig, bytes + HEAP_PAGE);
    w->base += (HEAP_PAGE - (uintptr_t)w->base % HEAP_PAGE) % HEAP_PAGE;
    const struct ptx_heap heap = ptx_heap((uintptr_t)w->base, bytes);
    assert_int_equal(heap.pages, pages);
    memcpy(
        (void *)(uintptr_t)w->rig->addresses[ptx_module_var(w->rig->module, PTX_HEAP_VARIABLE)->id],
        &heap, sizeof(heap));
    w->out = rig_alloc(w->rig, 8u << 16);
    w->words = rig_alloc(w->rig, 8);
    assert_non_null(w->words);
    free(out);
}

static void world_of_kernels(struct world *w, unsigned pages)
{
    size_t len;
    char *text = ptx_file_read(samples[4], &len);

    world_init(w, text, pages);
    free(text);
}

static uint32_t *states(const struct world *w)
{
    return (uint32_t *)(void *)(w->base + (size_t)w->pages * HEAP_PAGE) + HEAP_HINTS;
}

/* Launches as many blocks of 128 threads as N threads need. */
static void launch(struct world *w, const char *kernel, uint32_t n, const void *params)
{
    assert_int_equal(rig_launch(w->rig, kernel, (n + 127) / 128, 128, 0, params), EXEC_DONE);
}

static unsigned take(struct world *w, uint32_t n, uint32_t bytes, uint32_t spread)
{
    struct {
        uint64_t out;
        uint32_t bytes, spread, n;
    } params = {(uintptr_t)w->out, bytes, spread, n};
    unsigned got = 0;

    launch(w, "take", n, &params);
    for (uint32_t i = 0; i < n; i++)
        got += w->out[i] != 0;
    return got;
}

static void check(struct world *w, uint32_t n, uint32_t bytes, uint32_t spread)
{
    struct {
        uint64_t at;
        uint32_t bytes, spread, n, pad;
        uint64_t wrong;
    } params = {(uintptr_t)w->out, bytes, spread, n, 0, (uintptr_t)w->words};

    w->words[0] = 0;
    launch(w, "check", n, &params);
    assert_int_equal(w->words[0], 0);
}

static void give(struct world *w, uint32_t n)
{
    struct {
        uint64_t at;
        uint32_t n;
    } params = {(uintptr_t)w->out, n};

    launch(w, "give", n, &params);
}

/* No block is in use: no page counts one, and no map holds a bit or a length. */
static void expect_empty(const struct world *w)
{
    const uint32_t *words = states(w);

    for (unsigned i = 0; i < w->pages; i++)
        assert_int_equal(words[i] & 0xffffff, 0);
    for (unsigned i = w->pages; i < w->pages * (1 + HEAP_MAP); i++)
        assert_int_equal(words[i], 0);
}

static void every_block_of_a_full_heap_is_given_once_and_then_null(void **state)
{
    static const struct {
        uint32_t bytes, per_page;
    } sizes[] = {{1, 256},  {16, 256}, {17, 128}, {48, 85},  {100, 36}, {128, 32},
                 {1360, 3}, {1361, 2}, {2048, 2}, {2049, 1}, {4096, 1}, {0, 256}};
    struct world w;

    (void)state;
    world_of_kernels(&w, 37);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        uint32_t room = w.pages * sizes[i].per_page, n = room + 100;

        /* 100 bytes take 7 units, and are given 8. */
        if (sizes[i].bytes == 100)
            room = w.pages * 32;
        assert_int_equal(take(&w, n, sizes[i].bytes, 0), room);
        for (uint32_t k = 0; k < n; k++)
            if (w.out[k])
                assert_true(w.out[k] % 16 == 0 && w.out[k] >= (uintptr_t)w.base &&
                            w.out[k] + sizes[i].bytes <=
                                (uintptr_t)w.base + (uint64_t)w.pages * HEAP_PAGE);
        check(&w, n, sizes[i].bytes, 0);
        give(&w, n);
        expect_empty(&w);
    }
    rig_free(w.rig);
}

static void random_sizes_do_not_overlap_and_leave_nothing(void **state)
{
    struct world w;

    (void)state;
    world_of_kernels(&w, 700);
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(take(&w, 4096, 1, 300), 4096);
        check(&w, 4096, 1, 300);
        give(&w, 2000); /* the others stay */
        memmove(w.out, w.out + 2000, 2096 * sizeof(*w.out));
        give(&w, 2096);
        expect_empty(&w);
        assert_int_equal(take(&w, 100, 10, 20000), 100);
        check(&w, 100, 10, 20000);
        give(&w, 100);
        expect_empty(&w);
    }
    assert_int_equal(take(&w, 1, w.pages * HEAP_PAGE, 0), 1);
    assert_int_equal(take(&w, 1, 1, 0), 0);
    rig_free(w.rig);
}

static void threads_that_take_and_give_back_all_the_time_get_what_is_theirs(void **state)
{
    struct {
        uint32_t rounds, most, seed, pad;
        uint64_t wrong, nulls;
    } params = {12, 200, 1, 0, 0, 0};
    struct world w;

    (void)state;
    world_of_kernels(&w, 800);
    params.wrong = (uintptr_t)w.words;
    params.nulls = (uintptr_t)(w.words + 1);
    launch(&w, "churn", 512, &params);
    assert_int_equal(w.words[0], 0);
    assert_int_equal(w.words[1], 0);
    expect_empty(&w);
    params.most = 5000; /* runs too */
    params.rounds = 2;
    launch(&w, "churn", 256, &params);
    assert_int_equal(w.words[0], 0);
    expect_empty(&w);
    rig_free(w.rig);
}

static void odd_calls_do_what_cuda_says_or_nothing(void **state)
{
    struct world w;
    uint64_t out;

    (void)state;
    world_of_kernels(&w, 64);
    out = (uintptr_t)w.out;
    assert_int_equal(rig_launch(w.rig, "edges", 1, 1, 0, &out), EXEC_DONE);
    assert_true(w.out[0] && !w.out[1] && !w.out[4] && w.out[5]);
    assert_true(w.out[2] && w.out[2] % 64 == 0);
    assert_true(w.out[3] && w.out[3] % 16384 == 0);
    memmove(w.out, w.out + 2, 2 * sizeof(*w.out));
    w.out[2] = w.out[5];
    give(&w, 3);
    expect_empty(&w);
    rig_free(w.rig);
}

static void before_the_heap_is_known_malloc_returns_null(void **state)
{
    struct world w;
    uint64_t out;

    (void)state;
    world_of_kernels(&w, 64);
    memset(
        (void *)(uintptr_t)w.rig->addresses[ptx_module_var(w.rig->module, PTX_HEAP_VARIABLE)->id],
        0, sizeof(struct ptx_heap));
    out = (uintptr_t)w.out;
    assert_int_equal(rig_launch(w.rig, "edges", 1, 1, 0, &out), EXEC_DONE);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(w.out[i], 0);
    rig_free(w.rig);
}

static void a_call_through_a_register_allocates(void **state)
{
    struct world w;
    uint64_t out;

    (void)state;
    world_init(&w, through_registers, 16);
    out = (uintptr_t)w.out;
    assert_int_equal(rig_launch(w.rig, "k", 1, 1, 0, &out), EXEC_DONE);
    assert_true(w.out[0] >= (uintptr_t)w.base && w.out[0] < (uintptr_t)w.base + 16 * HEAP_PAGE);
    rig_free(w.rig);
}

/* Whatever stands in the control words, each call ends, and malloc gives what lies in the heap. */
static void scribbled_control_words_make_no_loop_endless(void **state)
{
    struct world w;

    (void)state;
    world_of_kernels(&w, 16);
    srand(7);
    for (unsigned round = 0; round < 60; round++) {
        uint32_t *words = states(&w) - HEAP_HINTS;

        for (size_t i = 0; i < HEAP_CONTROL_BYTES(w.pages) / 4; i++)
            words[i] = round % 3 == 0   ? (uint32_t)rand() * 2654435761u
                       : round % 3 == 1 ? 0xfe000000u | (uint32_t)rand() % 3
                                        : ((uint32_t)rand() % 130) << 24 | (uint32_t)rand() % 2;
        take(&w, 64, 16, round % 2 ? 200 : 9000);
        for (unsigned i = 0; i < 64; i++)
            assert_true(!w.out[i] || (w.out[i] >= (uintptr_t)w.base &&
                                      w.out[i] < (uintptr_t)w.base + 16 * HEAP_PAGE));
        give(&w, 64);
    }
    rig_free(w.rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_that_allocate_read_back_and_call_our_functions),
        cmocka_unit_test(no_line_moves),
        cmocka_unit_test(ptxas_takes_what_comes_out),
        cmocka_unit_test(the_functions_need_no_newer_target_than_the_fence),
        cmocka_unit_test(a_module_that_prints_too_gets_both),
        cmocka_unit_test(what_is_called_so_but_is_no_function_of_the_driver_stays),
        cmocka_unit_test(the_fence_takes_it_and_without_the_pass_refuses),
        cmocka_unit_test(every_block_of_a_full_heap_is_given_once_and_then_null),
        cmocka_unit_test(random_sizes_do_not_overlap_and_leave_nothing),
        cmocka_unit_test(threads_that_take_and_give_back_all_the_time_get_what_is_theirs),
        cmocka_unit_test(odd_calls_do_what_cuda_says_or_nothing),
        cmocka_unit_test(before_the_heap_is_known_malloc_returns_null),
        cmocka_unit_test(a_call_through_a_register_allocates),
        cmocka_unit_test(scribbled_control_words_make_no_loop_endless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
