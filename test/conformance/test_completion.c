// Kernels that signal their own end (lib/ptx/rewrite/completion_pass.c): the completion word comes
// once, and behind all that any thread of the grid wrote.
#include <string.h>
#include <sys/mman.h>

#include "conform.h"
#include "ptx/rewrite/completion_params.h"
#include "ptx/rewrite/rewrite.h"

enum { MOST = 64 * 1024, SEQUENCE = 0x123456 };

// Each takes an address and a count of threads that do something. %i is the thread's number in the
// grid, %a the address of its word.
#define KERNEL(name, body)                                                                         \
    ".visible .entry " name "(.param .u64 out, .param .u32 n)\n{\n"                                \
    ".reg .b32 %i, %n, %t, %b, %v, %w, %x, %y; .reg .b64 %a, %o; .reg .pred %p, %q;\n"             \
    ".shared .b32 words[1024];\n"                                                                  \
    "ld.param.u64 %a, [out]; ld.param.u32 %n, [n]; mov.u32 %i, %ctaid.x; mov.u32 %b, %ntid.x;\n"   \
    "mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %b, %t; mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;\n" \
    "setp.ge.u32 %p, %i, %n; setp.lt.u32 %q, %i, %n;\n" body "\n}\n"
#define DELAY(steps)                                                                               \
    "{ .reg .pred %e; .reg .b32 %c; and.b32 %c, " steps ", 63;\n"                                  \
    "WAIT: add.s32 %c, %c, -1; setp.ge.s32 %e, %c, 0; @%e bra WAIT; }\n"

static const char source[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
    // All threads but those beyond the count store what they are; odd ones end there.
    KERNEL("early", "@%p bra DONE;\n" DELAY(
                        "%i") "st.global.u32 [%a], %i; and.b32 %v, %i, 1;\n"
                              "setp.eq.u32 %p, %v, 1; @%p exit;\n" DELAY(
                                  "%t") "add.u32 %v, %i, 65536; st.global.u32 [%a], %v; DONE: ret;")
    // Early threads are gone when the others wait; each stores the number of its neighbour, if it
    // has one.
    KERNEL(
        "barrier",
        "@!%q bra DONE;\nshl.b32 %v, %t, 2; mov.u32 %w, words; add.u32 %x, %w, %v;\n"
        "st.shared.u32 [%x], %i; bar.sync 0;\nxor.b32 %v, %t, 1; setp.lt.u32 %p, %v, %b;\n"
        "sub.u32 %w, %i, %t; add.u32 %w, %w, %v; setp.lt.and.u32 %p, %w, %n, %p;\n"
        "xor.b32 %y, %x, 4; selp.b32 %y, %y, %x, %p; ld.shared.u32 %v, [%y]; bar.sync 0;\n" DELAY(
            "%v") "st.global.u32 [%a], %v; and.b32 %w, %i, 3; setp.eq.u32 %p, %w, 3;\n"
                  "@%p bra DONE;\nbar.sync 0; add.u32 %v, %v, 65536; st.global.u32 [%a], %v;\n"
                  "DONE: ret;")
    // A loop that each thread leaves by a ret of its own round.
    KERNEL("loop",
           "mov.u32 %v, 0; and.b32 %w, %i, 31;\nNEXT: setp.ge.u32 %p, %v, %w; @!%p bra GO;\n"
           "@%q st.global.u32 [%a], %v; ret;\nGO: add.u32 %v, %v, 1; bra NEXT;")
        KERNEL("falls", "@%q st.global.u32 [%a], %i;") KERNEL("traps", "trap;");

static CUmodule module;
static struct ptx_rewrite_report report;
static struct { // host memory that the device writes
    _Atomic uint64_t word, fence;
    _Atomic uint32_t results[MOST];
} * shared;
static CUdeviceptr shared_address, counter;
static uint64_t position;

static void open_module(void)
{
    char *text;
    size_t length;

    CHECK(ptx_rewrite(source, strlen(source), PTX_PASS_COMPLETION, &text, &length, &report) == 0);
    for (uint32_t i = 0; i < report.count; i++)
        CHECK(report.kernels[i].completes || !strcmp(report.kernels[i].name, "traps"), "%s",
              report.kernels[i].reason);
    OK(cu.cuModuleLoadData(&module, text));
    free(text);
    shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    OK(cu.cuMemHostRegister_v2(shared, sizeof(*shared), CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cu.cuMemHostGetDevicePointer_v2(&shared_address, shared, 0));
    counter = device_alloc(sizeof(uint32_t));
}

static struct completion_params params_of(uint32_t blocks, uint32_t threads)
{
    return (struct completion_params){.word = shared_address,
                                      .position = ++position << 20,
                                      .fence = shared_address + sizeof(uint64_t),
                                      .sequence = SEQUENCE,
                                      .counter = counter,
                                      .threads = blocks * threads};
}

static void start(const char *name, uint32_t blocks, uint32_t threads, uint32_t n,
                  struct completion_params *params)
{
    CUdeviceptr results = shared_address + 2 * sizeof(uint64_t);
    void *arguments[] = {&results, &n, params};
    CUfunction function;

    CHECK(ptx_rewrite_report_kernel(&report, name)->index == 2);
    memset((void *)shared->results, 0, (size_t)blocks * threads * sizeof(uint32_t));
    atomic_store(&shared->fence, 0);
    OK(cu.cuModuleGetFunction(&function, module, name));
    OK(cu.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL));
}

static uint32_t want(const char *name, uint32_t i, uint32_t threads, uint32_t n)
{
    uint32_t t = i % threads, neighbour = i - t + (t ^ 1);

    if (i >= n)
        return 0;
    if (!strcmp(name, "early"))
        return i & 1 ? i : i + 65536;
    if ((t ^ 1) >= threads || neighbour >= n)
        neighbour = i;
    if (!strcmp(name, "barrier"))
        return (i & 3) == 3 ? neighbour : neighbour + 65536;
    return !strcmp(name, "loop") ? i & 31 : i;
}

static void expect_results(const char *name, uint32_t blocks, uint32_t threads, uint32_t n)
{
    for (uint32_t i = 0; i < blocks * threads; i++)
        CHECK(atomic_load_explicit(&shared->results[i], memory_order_relaxed) ==
                  want(name, i, threads, n),
              "%s, %u blocks of %u, n %u: [%u] is %u, not %u", name, blocks, threads, n, i,
              shared->results[i], want(name, i, threads, n));
}

// The word is the only thing that is waited for before the results are looked at; afterwards it is
// taken away, and must not come again.
static void run(const char *name, uint32_t blocks, uint32_t threads, uint32_t n)
{
    struct completion_params params = params_of(blocks, threads);

    start(name, blocks, threads, n, &params);
    host_wait(&shared->word, params.position);
    expect_results(name, blocks, threads, n);
    atomic_store(&shared->word, 0);
    OK(cu.cuCtxSynchronize());
    CHECK(atomic_load(&shared->word) == 0, "%s: the word came twice", name);
    CHECK(atomic_load(&shared->fence) % (1 << 24) == SEQUENCE);
    CHECK(device_word(counter) == 0, "%s: the counter is %u", name, device_word(counter));
}

static void run_sizes(const char *name)
{
    static const uint32_t threads[] = {1, 2, 31, 32, 33, 64, 100, 256, 1024};
    static const uint32_t blocks[] = {1, 2, 7, 40};

    open_module();
    for (size_t t = 0; t < ARRAY_SIZE(threads); t++) {
        for (size_t b = 0; b < ARRAY_SIZE(blocks); b++) {
            uint32_t all = threads[t] * blocks[b];

            run(name, blocks[b], threads[t], all);
            run(name, blocks[b], threads[t], all / 3);
            run(name, blocks[b], threads[t], all > 17 ? all - 17 : 0);
        }
    }
}

static void early_returns_are_counted(void)
{
    run_sizes("early");
}

static void threads_that_return_early_are_gone_at_barriers(void)
{
    run_sizes("barrier");
}

static void returns_from_a_loop_are_counted(void)
{
    run_sizes("loop");
}

static void a_kernel_that_falls_off_its_end_signals_it(void)
{
    run_sizes("falls");
}

static void the_word_is_never_ahead_of_the_results(void)
{
    open_module();
    for (unsigned i = 0; i < (on_software ? 30 : 3000); i++) {
        run("early", 1 + i % 61, 32 + i * 7 % 225, 1u << i % 15);
        run("barrier", 1 + i % 61, 32 + i * 7 % 225, 1u << i % 15);
    }
}

static void without_a_word_nothing_is_signalled(void)
{
    struct completion_params none = {0};

    open_module();
    atomic_store(&shared->word, 99);
    start("early", 7, 100, 650, &none);
    OK(cu.cuCtxSynchronize());
    expect_results("early", 7, 100, 650);
    start("barrier", 7, 100, 650, &none);
    OK(cu.cuCtxSynchronize());
    expect_results("barrier", 7, 100, 650);
    CHECK(atomic_load(&shared->word) == 99 && atomic_load(&shared->fence) == 0);
}

static void fences_of_kernels_one_after_the_other_go_up(void)
{
    uint64_t last = 0;

    open_module();
    for (unsigned i = 0; i < 50; i++) {
        run("falls", 3, 64, 192);
        CHECK(atomic_load(&shared->fence) >> 24 >= last);
        last = atomic_load(&shared->fence) >> 24;
    }
    CHECK(last > 0);
}

static void a_kernel_that_traps_signals_nothing(void)
{
    struct completion_params params;

    open_module();
    params = params_of(2, 32);
    start("traps", 2, 32, 64, &params);
    CHECK(cu.cuCtxSynchronize() != CUDA_SUCCESS);
    CHECK(atomic_load(&shared->word) == 0);
}

int main(void)
{
    static const struct test tests[] = {
        {"early returns are counted", early_returns_are_counted, false},
        {"threads that return early are gone at barriers",
         threads_that_return_early_are_gone_at_barriers, false},
        {"returns from a loop are counted", returns_from_a_loop_are_counted, false},
        {"a kernel that falls off its end signals it", a_kernel_that_falls_off_its_end_signals_it,
         false},
        {"the word is never ahead of the results", the_word_is_never_ahead_of_the_results, false},
        {"without a word nothing is signalled", without_a_word_nothing_is_signalled, false},
        {"fences of kernels one after the other go up", fences_of_kernels_one_after_the_other_go_up,
         false},
        {"a kernel that traps signals nothing", a_kernel_that_traps_signals_nothing, false},
    };

    return conform_main(tests, ARRAY_SIZE(tests));
}
