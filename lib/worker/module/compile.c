/* compile.c - see compile.h. */
#include "worker/module/compile.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"
#include "common/util.h"
#include "worker/driver/driver.h"
#include "worker/driver/worker.h"
#include "worker/jobs/job.h"
#include "worker/module/assembler.h"
#include "worker/module/assembler_choice.h"
#include "worker/module/code_cache.h"
#include "worker/module/occupancy.h"

/* The most bytes of the compiler's log that are read: kernels beyond them are not asked for two
 * blocks. */
#define SAID_MOST ((size_t)1 << 20)

#define SPLIT_SINCE     13000 /* the first driver that compiles on several threads */
#define SPLIT_MOST      4u
#define SPLIT_CPUS_EACH 4u

gs_status image_refused(struct job *job, CUresult result, struct image_log *log)
{
    gs_status status = job_fail_driver(job, result);

    log->text[sizeof(log->text) - 1] = '\0';
    if (log->text[0]) {
        size_t n = strlen(job->message);
        snprintf(job->message + n, sizeof(job->message) - n, "\n%s", log->text);
    }
    /* An image that the driver refuses is a bad image, whichever error the driver returns. */
    if (status == GS_ERR_DRIVER || status == GS_ERR_NOT_FOUND)
        job->status = GS_ERR_BAD_IMAGE;
    return job->status;
}

/* ---- Compiling ------------------------------------------------------------------------------- */

/* The result of a link. It must not be moved: the link writes to it until it is destroyed. */
struct compiled {
    CUlinkState link; /* NULL: there is none */
    void *code;       /* owned by the link */
    size_t size;
    char *said; /* the compiler's log about the kernels, a string */
    struct image_log log;
    void *values[6]; /* values of the options */
};

static void compiled_deinit(struct compiled *compiled)
{
    if (compiled->link)
        DRV_MUST(cuLinkDestroy, compiled->link);
    free(compiled->said);
    *compiled = (struct compiled){0};
}
#define CLEANUP_COMPILED __attribute__((cleanup(compiled_deinit)))

/* Returns the size of the buffer for the compiler's log of a text: the log names each kernel twice,
 * as the text does. */
static size_t said_room(size_t text_size)
{
    return text_size + 4096 < SAID_MOST ? text_size + 4096 : SAID_MOST;
}

/* Returns how many functions the text has, SPLIT_MOST at most. */
static uint32_t functions_count(const char *text)
{
    static const char *const words[] = {".entry", ".func"};
    uint32_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        for (const char *at = text; count < SPLIT_MOST && (at = strstr(at, words[i])); at++)
            count++;
    return count;
}

/* Returns how many functions are compiled at once. On an H200 four threads compile ten kernels of
 * 30 lines in 68 ms instead of 97 to 137, and 64 kernels of 4.4 MB in 4.1 s instead of 12.5
 * (measurements.md). More threads gain little, and the lanes need CPUs. */
static uint32_t threads_wanted(const char *text)
{
    const uint32_t functions = functions_count(text);
    int version = 0;

    if (functions < 2 || DRV(cuDriverGetVersion, &version) || version < SPLIT_SINCE)
        return 1;
    const uint32_t pay = cpus_allowed() / SPLIT_CPUS_EACH;
    return pay < 1 ? 1 : pay < functions ? pay : functions;
}

/* Compiles a text; its size does not include the NUL behind it. cuModuleLoadData would compile,
 * too, but would hold the lock that every launch needs: for 3,000 lines it stalls launches for 145
 * ms, cuLink* for some 0.1 ms. */
static CUresult link_text(const void *text, size_t size, uint32_t threads,
                          struct compiled *compiled)
{
    /* The last option is passed only for several threads, since an older driver does not know it.
     */
    static const CUjit_option options[] = {
        CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_LOG_VERBOSE,      CU_JIT_SPLIT_COMPILE};
    const unsigned count = ARRAY_SIZE(options) - (threads < 2);
    const size_t room = said_room(size);
    void *values[ARRAY_SIZE(options)] = {compiled->log.text,
                                         (void *)(uintptr_t)sizeof(compiled->log.text),
                                         NULL,
                                         (void *)(uintptr_t)(room - 1),
                                         (void *)(uintptr_t)1,
                                         (void *)(uintptr_t)threads};

    values[2] = compiled->said = calloc(1, room);
    if (!compiled->said)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(compiled->values, values, sizeof(values));
    CUresult result = DRV(cuLinkCreate_v2, count, (CUjit_option *)(uintptr_t)options,
                          compiled->values, &compiled->link);
    if (result) {
        compiled->link = NULL;
        return result;
    }
    result = DRV(cuLinkAddData_v2, compiled->link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text,
                 size + 1, "tenant", 0, NULL, NULL);
    if (!result)
        result = DRV(cuLinkComplete, compiled->link, &compiled->code, &compiled->size);
    return result;
}

/* Compiles a text for the job on that many threads. Nothing tells the CPU time of the driver's own
 * threads, so they are charged as if none of them had waited. */
static CUresult text_compile(struct job *job, const char *text, size_t size, uint32_t threads,
                             struct compiled *compiled)
{
    const uint64_t began = clock_ns();

    job_compile_begin(job);
    const CUresult result = link_text(text, size, threads, compiled);
    job_compile_end(job);
    job->helpers_ns += (threads - 1) * (clock_ns() - began);
    return result;
}

/* Compiles the text with two blocks asked for where `tried` allows it (occupancy.h). false: no
 * kernel was asked, or the compilation failed; if the session is being closed, the job has failed.
 */
static bool asked_compile(struct job *job, const char *text, uint32_t threads, const char *said,
                          const char *tried, struct compiled *compiled)
{
    char *asking = occupancy_ask(text, said, tried);
    const bool done = asking && job_go_on(job) == GS_OK &&
                      !text_compile(job, asking, strlen(asking), threads, compiled);

    free(asking);
    return done;
}

/* Returns the code in which most kernels have two blocks on an SM: of the text itself, of a second
 * compilation with all of them asked or, where some of these spilled, of a third without those. */
static const struct compiled *with_second_blocks(struct job *job, const char *text,
                                                 uint32_t threads, const struct compiled *first,
                                                 struct compiled *second, struct compiled *third)
{
    if (!asked_compile(job, text, threads, first->said, NULL, second))
        return first;
    if (!occupancy_spilling(first->said, second->said))
        return second;
    if (!asked_compile(job, text, threads, first->said, second->said, third) ||
        occupancy_spilling(first->said, third->said))
        return first;
    return third;
}

static void image_replace(unsigned char **image, uint64_t *size, unsigned char *code,
                          size_t code_size)
{
    free(*image);
    *image = code;
    *size = code_size;
}

bool image_find_code(const struct job *job, unsigned char **image, uint64_t *size)
{
    size_t code_size = 0;
    unsigned char *code = code_cache_find(*image, *size, &code_size, job->session->uid);

    if (code)
        image_replace(image, size, code, code_size);
    return code;
}

/* Compiles the text by ptxas. False: there is no ptxas any more. */
static bool image_assemble(struct job *job, unsigned char **image, uint64_t *size, uint32_t threads)
{
    unsigned char *code = NULL;
    size_t code_size = 0;

    if (assembler_run(job, (const char *)*image, *size, threads, &code, &code_size) != GS_OK)
        return true; /* the job has failed */
    if (!code)
        return false;
    code_cache_put(*image, *size, code, code_size, job->session->uid);
    image_replace(image, size, code, code_size);
    return true;
}

gs_status image_compile(struct job *job, unsigned char **image, uint64_t *size, bool one_by_one)
{
    CLEANUP_COMPILED struct compiled first = {0};
    CLEANUP_COMPILED struct compiled second = {0};
    CLEANUP_COMPILED struct compiled third = {0};

    /* A compilation that has begun cannot be ended, so the session is checked before each. */
    if (image_find_code(job, image, size) || job_go_on(job) != GS_OK)
        return job->status;
    if (job->brief && *size > COMPILE_BRIEF)
        return job_takes_long(job);
    const uint32_t threads = one_by_one ? 1 : threads_wanted((const char *)*image);
    if (assembler_wanted() && image_assemble(job, image, size, threads))
        return job->status;
    const CUresult result = text_compile(job, (const char *)*image, *size, threads, &first);
    if (result)
        return image_refused(job, result, &first.log);
    const struct compiled *best =
        with_second_blocks(job, (const char *)*image, threads, &first, &second, &third);
    if (job->status != GS_OK)
        return job->status;
    unsigned char *code = malloc(best->size);
    if (!code)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for %zu bytes of machine code",
                        best->size);
    memcpy(code, best->code, best->size);
    code_cache_put(*image, *size, code, best->size, job->session->uid);
    image_replace(image, size, code, best->size);
    return job->status;
}

/* ---- The compiler itself --------------------------------------------------------------------- */

static void *compiler_main(void *unused)
{
    static char text[] =
        ".version 6.4\n.target sm_70\n.address_size 64\n.visible .entry e()\n{ ret; }\n";
    CUlinkState link;

    (void)unused;
    if (DRV(cuCtxSetCurrent, worker->context) || DRV(cuLinkCreate_v2, 0, NULL, NULL, &link))
        return NULL;
    DRV(cuLinkAddData_v2, link, CU_JIT_INPUT_PTX, text, sizeof(text), "none", 0, NULL, NULL);
    DRV(cuLinkDestroy, link);
    return NULL;
}

void compiler_load(void)
{
    pthread_t thread;

    if (!pthread_create(&thread, NULL, compiler_main, NULL))
        pthread_detach(thread);
}
