/* soft.c - the software device by itself, with no server between: what its interpreter runs a
 * second, on one core and on two, and how long its calls take. Its goals hold on any machine.
 *
 * Thread-instructions are PTX instructions times the threads that run them. They are counted, not
 * estimated: the kernels of soft.cu run once with GSHARE_SOFT_COUNT=1, and then, not counting, for
 * the time. What they compute is looked at. */
#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "cuda/abi.h"
#include "lib/cell.h"
#include "lib/tenants.h"
#include "rows/rows.h"

__asm__(".section .rodata\n"
        "soft_ptx:\n"
        ".incbin \"" PTX_FILE "\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char soft_ptx[];

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

static struct {
#define DRIVER_MEMBER(name, args) CUresult(*name) args;
    CUDA_ABI_FUNCTIONS(DRIVER_MEMBER)
#undef DRIVER_MEMBER
    uint64_t (*softcudaThreadInstructions)(void);
} cu;

static CUmodule module;

static void call_check(const char *name, CUresult result)
{
    const char *text = "?";

    if (result == CUDA_SUCCESS)
        return;
    cu.cuGetErrorName(result, &text);
    cell_fail("%s: %s (%d)", name, text, (int)result);
}
#define CU(name, ...) call_check(#name, cu.name(__VA_ARGS__))

static void library_load(void)
{
    void *library = dlopen(plan.facts->soft_library, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        cell_fail("%s", dlerror());
#define DRIVER_FILL(name, args) *(void **)&cu.name = dlsym(library, #name);
    CUDA_ABI_FUNCTIONS(DRIVER_FILL)
#undef DRIVER_FILL
    *(void **)&cu.softcudaThreadInstructions = dlsym(library, "softcudaThreadInstructions");
    if (cu.softcudaThreadInstructions == NULL)
        cell_fail("%s: not this project's", plan.facts->soft_library);
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
        uint64_t before = cu.softcudaThreadInstructions();
        struct job job;

        job_prepare(&job, (enum work)work);
        job_run(&job, (enum work)work);
        job_check(&job, (enum work)work);
        tenant->value[work] = (double)(cu.softcudaThreadInstructions() - before);
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
    device_open();
    CU(cuModuleLoadData, &module, soft_ptx);
    load_measure();
    trip_measure();
}
