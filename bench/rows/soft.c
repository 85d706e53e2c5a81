/* soft.c - the software device by itself, with no server between: what its interpreter runs a
 * second, on one core and on two, and how long its calls take. Its goals hold on any machine.
 *
 * Thread-instructions are PTX instructions times the threads that run them. They are counted, not
 * estimated: the kernels of soft.cu run once with GSHARE_SOFT_COUNT=1, and then, not counting, for
 * the time. What they compute is looked at.
 *
 * The ten kernels of ordinary.cu are timed by the processor's time that the process takes: they are
 * short, and on a busy machine few runs are undisturbed. */
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/driver.h"
#include "lib/tenants.h"
#include "rows/rows.h"

__asm__(".section .rodata\n"
        "soft_ptx:\n"
        ".incbin \"" PTX_FOLDER "/soft.ptx\"\n"
        ".byte 0\n"
        "ordinary_ptx:\n"
        ".incbin \"" PTX_FOLDER "/ordinary.ptx\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char soft_ptx[], ordinary_ptx[];

#define BODIES     1024
#define TILE       64 /* as in soft.cu */
#define MATRIX     128
#define SIDE       16
#define LOAD_LINES 5000
#define LOADS      21
#define READIES    21
#define TRIPS      20000
#define TRIP_NS    2000000000ull

/* ---- The device ------------------------------------------------------------------------------ */

static struct driver cu;
static uint64_t (*thread_instructions)(void);
static CUmodule module;

static void library_load(void)
{
    driver_load(&cu, plan.facts->soft_library);
    *(void **)&thread_instructions = driver_symbol(&cu, "softcudaThreadInstructions");
}

static void device_open(void)
{
    CUcontext context;

    library_load();
    CU(cuInit, 0);
    CU(cuDevicePrimaryCtxRetain, &context, 0);
    CU(cuCtxSetCurrent, context);
}

static CUfunction kernel_get(const char *name)
{
    CUfunction kernel;

    CU(cuModuleGetFunction, &kernel, module, name);
    return kernel;
}

static CUdeviceptr upload(const float *data, size_t count)
{
    CUdeviceptr at;

    CU(cuMemAlloc_v2, &at, count * sizeof(*data));
    CU(cuMemcpyHtoD_v2, at, data, count * sizeof(*data));
    return at;
}

/* Settings are read by cuInit: a process for each. */
static void setting(const char *name, unsigned value)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", value);
    setenv(name, text, 1);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

enum work { WORK_NBODY, WORK_SGEMM, WORKS };
static const char *const work_names[WORKS] = {"nbody", "sgemm"};

struct job {
    CUfunction kernel;
    CUdeviceptr a, b, c;
    int n;
};

static void job_prepare(struct job *job, enum work work)
{
    static float data[BODIES * 4 > MATRIX * MATRIX ? BODIES * 4 : MATRIX * MATRIX];
    size_t count = work == WORK_NBODY ? BODIES * 4 : MATRIX * MATRIX;

    for (size_t i = 0; i < count; i++)
        data[i] = (float)(i * 7919 % 1024) / 512 - 1;
    job->kernel = kernel_get(work_names[work]);
    job->n = work == WORK_NBODY ? BODIES : MATRIX;
    job->a = upload(data, count);
    job->b = upload(data, count);
    job->c = upload(data, count);
}

static void job_run(struct job *job, enum work work)
{
    void *nbody[] = {&job->a, &job->c, &job->n}, *sgemm[] = {&job->a, &job->b, &job->c, &job->n};

    if (work == WORK_NBODY)
        CU(cuLaunchKernel, job->kernel, BODIES / TILE, 1, 1, TILE, 1, 1, 0, NULL, nbody, NULL);
    else
        CU(cuLaunchKernel, job->kernel, MATRIX / SIDE, MATRIX / SIDE, 1, SIDE, SIDE, 1, 0, NULL,
           sgemm, NULL);
    CU(cuStreamSynchronize, NULL);
}

static double value_of(size_t i)
{
    return (double)((float)(i * 7919 % 1024) / 512 - 1);
}

/* One element of the result, computed here. */
static double job_expected(enum work work)
{
    double sum = 0;

    for (size_t k = 0; work == WORK_SGEMM && k < MATRIX; k++)
        sum += value_of(k) * value_of(k * MATRIX);
    for (size_t k = 0; work == WORK_NBODY && k < BODIES; k++) {
        double d[3], square = 0.01;

        for (size_t i = 0; i < 3; i++) {
            d[i] = value_of(4 * k + i) - value_of(i);
            square += d[i] * d[i];
        }
        sum += d[0] * value_of(4 * k + 3) / (square * sqrt(square));
    }
    return sum;
}

static void job_check(const struct job *job, enum work work)
{
    double want = job_expected(work);
    float got;

    CU(cuMemcpyDtoH_v2, &got, job->c, sizeof(got));
    if (!(fabs((double)got - want) <= 1e-3 * fabs(want) + 1e-3))
        cell_fail("%s: %g instead of %g", work_names[work], (double)got, want);
}

static void count_body(struct tenant *tenant)
{
    setting("GSHARE_SOFT_COUNT", 1);
    device_open();
    CU(cuModuleLoadData, &module, soft_ptx);
    for (int work = 0; work < WORKS; work++) {
        uint64_t before = thread_instructions();
        struct job job;

        job_prepare(&job, (enum work)work);
        job_run(&job, (enum work)work);
        job_check(&job, (enum work)work);
        tenant->value[work] = (double)(thread_instructions() - before);
    }
}

/* The first COUNT of the processors that this process may use. */
static void cores_keep(unsigned count)
{
    cpu_set_t all, few;

    CPU_ZERO(&few);
    if (sched_getaffinity(0, sizeof(all), &all) < 0)
        cell_fail("sched_getaffinity failed");
    for (int cpu = 0; cpu < CPU_SETSIZE && (unsigned)CPU_COUNT(&few) < count; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &few);
    if ((unsigned)CPU_COUNT(&few) < count || sched_setaffinity(0, sizeof(few), &few) < 0)
        cell_fail("no %u processors", count);
}

/* The time of the fastest run: the work is the same each time, and what disturbs it adds. */
static void time_body(struct tenant *tenant)
{
    unsigned threads = *(const unsigned *)tenant->arg;
    uint64_t patience = plan.quick ? 300000000u : 1500000000u;

    cores_keep(threads);
    setting("GSHARE_SOFT_THREADS", threads);
    device_open();
    CU(cuModuleLoadData, &module, soft_ptx);
    for (int work = 0; work < WORKS; work++) {
        double fastest = INFINITY;
        struct job job;

        job_prepare(&job, (enum work)work);
        for (uint64_t end = clock_ns() + patience, now = 0; now < end;) {
            uint64_t start = clock_ns();

            job_run(&job, (enum work)work);
            now = clock_ns();
            fastest = fmin(fastest, (double)(now - start));
        }
        job_check(&job, (enum work)work);
        tenant->value[work] = fastest;
    }
}

static void kernels_measure(void)
{
    struct tenants *counted = tenants_start(1, count_body, NULL);

    tenants_join(counted);
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct tenants *timed;
        cpu_set_t all;

        if (sched_getaffinity(0, sizeof(all), &all) == 0 && (unsigned)CPU_COUNT(&all) < threads) {
            cell_note("one processor here: what two give is not measured");
            break;
        }
        timed = tenants_start(1, time_body, &threads);
        tenants_join(timed);
        for (int work = 0; work < WORKS; work++)
            cell_metric(counted->tenant[0].value[work] / timed->tenant[0].value[work] * 1e9,
                        "%s_%u", work_names[work], threads);
        tenants_free(timed);
    }
    for (int work = 0; work < WORKS; work++)
        cell_metric(counted->tenant[0].value[work], "%s_instructions", work_names[work]);
    tenants_free(counted);
}

/* ---- Ordinary kernels ------------------------------------------------------------------------ */

enum { WORDS = 65536, THREADS = 256, ORDINARY = 10 };

/* The sums are those of the same kernels as C++ on a processor. */
static const struct {
    const char *name;
    uint32_t sum;
} ordinary[ORDINARY] = {
    {"axpy", 3141173248u},      {"collatz", 2303272915u},   {"switched", 3135810603u},
    {"insertion", 1774686255u}, {"histogram", 3075926572u}, {"histogram_shared", 3075926572u},
    {"series", 4249666486u},    {"reduce", 3498911616u},    {"gather", 2314050869u},
    {"spmv", 4140646144u},
};

static uint64_t process_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void ordinary_run(size_t i, CUdeviceptr data)
{
    int n = WORDS;
    void *args[] = {&data, &n};

    CU(cuLaunchKernel, kernel_get(ordinary[i].name), WORDS / THREADS, 1, 1, THREADS, 1, 1, 0, NULL,
       args, NULL);
    CU(cuStreamSynchronize, NULL);
}

/* One run on fresh words, whose result has to be right. */
static void ordinary_check(size_t i, CUdeviceptr data)
{
    static uint32_t words[2 * WORDS];
    uint32_t sum = 0;

    for (uint32_t k = 0; k < 2 * WORDS; k++)
        words[k] = k * 2654435761u;
    CU(cuMemcpyHtoD_v2, data, words, sizeof(words));
    ordinary_run(i, data);
    CU(cuMemcpyDtoH_v2, words, data, sizeof(words));
    for (uint32_t k = 0; k < 2 * WORDS; k++)
        sum = sum * 31 + words[k];
    if (sum != ordinary[i].sum)
        cell_fail("%s: the sum is %" PRIu32, ordinary[i].name, sum);
}

/* The thread-instructions of each, or the nanoseconds of its fastest run. */
static void ordinary_body(struct tenant *tenant)
{
    const bool counting = *(const bool *)tenant->arg;
    uint64_t patience = plan.quick ? 100000000u : 500000000u;
    CUdeviceptr data;

    setting("GSHARE_SOFT_COUNT", counting);
    setting("GSHARE_SOFT_THREADS", 1);
    cores_keep(1);
    device_open();
    CU(cuModuleLoadData, &module, ordinary_ptx);
    CU(cuMemAlloc_v2, &data, 2 * WORDS * sizeof(uint32_t));
    for (size_t i = 0; i < ORDINARY; i++) {
        const uint64_t before = thread_instructions();
        double fastest = INFINITY;

        ordinary_check(i, data);
        if (counting) {
            tenant->value[i] = (double)(thread_instructions() - before);
            continue;
        }
        for (uint64_t end = process_ns() + patience, start; (start = process_ns()) < end;) {
            ordinary_run(i, data);
            fastest = fmin(fastest, (double)(process_ns() - start));
        }
        tenant->value[i] = fastest;
    }
}

static void ordinary_measure(void)
{
    bool counting = true, timing = false;
    struct tenants *counted = tenants_start(1, ordinary_body, &counting), *timed;

    tenants_join(counted);
    timed = tenants_start(1, ordinary_body, &timing);
    tenants_join(timed);
    for (size_t i = 0; i < ORDINARY; i++)
        cell_metric(counted->tenant[0].value[i] / timed->tenant[0].value[i] * 1e9, "%s",
                    ordinary[i].name);
    tenants_free(counted);
    tenants_free(timed);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void ready_body(struct tenant *tenant)
{
    uint64_t start = clock_ns();

    device_open();
    tenant->value[0] = (double)(clock_ns() - start);
}

static void ready_measure(void)
{
    double samples[READIES];
    size_t count = plan.quick ? READIES / 3 : READIES;

    for (size_t i = 0; i < count; i++) {
        struct tenants *group = tenants_start(1, ready_body, NULL);

        tenants_join(group);
        samples[i] = group->tenant[0].value[0];
        tenants_free(group);
    }
    cell_summary(samples, count, "ready");
}

static unsigned lines_in(const char *text)
{
    unsigned count = 0;

    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

/* TEXT with a number behind each name of a kernel. */
static void copy_renamed(FILE *out, const char *text, unsigned number)
{
    while (*text != '\0') {
        size_t length = 0;

        for (int work = 0; work < WORKS; work++)
            if (strncmp(text, work_names[work], strlen(work_names[work])) == 0)
                length = strlen(work_names[work]);
        if (strncmp(text, "nothing", 7) == 0)
            length = 7;
        if (length == 0) {
            fputc(*text++, out);
            continue;
        }
        fprintf(out, "%.*s%u", (int)length, text, number);
        text += length;
    }
}

/* The compiler's text of soft.cu again and again: a module of LOAD_LINES lines. */
static char *module_large(unsigned *lines)
{
    const char *body = strstr(soft_ptx, ".address_size 64\n");
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (body == NULL || out == NULL)
        cell_fail("no module of %d lines", LOAD_LINES);
    body += strlen(".address_size 64\n");
    fwrite(soft_ptx, 1, (size_t)(body - soft_ptx), out);
    for (*lines = lines_in(soft_ptx) - lines_in(body); *lines < LOAD_LINES;) {
        copy_renamed(out, body, *lines);
        *lines += lines_in(body);
    }
    if (fclose(out) != 0)
        cell_fail("no memory for a module of %d lines", LOAD_LINES);
    return text;
}

static void load_measure(void)
{
    double samples[LOADS];
    size_t count = plan.quick ? LOADS / 3 : LOADS;
    unsigned lines;
    char *text = module_large(&lines);

    for (size_t i = 0; i < count; i++) {
        CUmodule large;
        uint64_t start = clock_ns();

        CU(cuModuleLoadData, &large, text);
        samples[i] = (double)(clock_ns() - start);
        CU(cuModuleUnload, large);
    }
    cell_note("the module has %u lines, %zu bytes", lines, strlen(text));
    free(text);
    cell_summary(samples, count, "load");
}

static void trip_measure(void)
{
    static double samples[TRIPS];
    CUfunction nothing = kernel_get("nothing");
    uint64_t end = clock_ns() + TRIP_NS;
    size_t most = plan.quick ? TRIPS / 5 : TRIPS, count = 0;

    while (count < most && clock_ns() < end) {
        uint64_t start = clock_ns();

        CU(cuLaunchKernel, nothing, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
        CU(cuStreamSynchronize, NULL);
        samples[count++] = (double)(clock_ns() - start);
    }
    cell_summary(samples, count, "trip");
}

void row_soft(void)
{
    ready_measure();
    kernels_measure();
    ordinary_measure();
    device_open();
    CU(cuModuleLoadData, &module, soft_ptx);
    load_measure();
    trip_measure();
}
