/* See completing.h. */
#include "completing.h"

#include <stdatomic.h>
#include <time.h>

#include "ptx/rewrite/rewrite.h"

enum { MAX_ARGUMENTS = 64, WAIT_SECONDS = 60 };

static struct ptx_rewrite_report report;
static struct completion_params params;
static _Atomic uint64_t *words; /* word and fence */
static device_ptr device_words, counter;
static void *arguments[MAX_ARGUMENTS];
static uint64_t launches;
static bool signalled;

char *completing_begin(const char *text)
{
    bool any = false;
    char *out;
    size_t len;

    if (ptx_rewrite(text, strlen(text), PTX_PASS_COMPLETION, &out, &len, &report) != 0) {
        completing_end();
        return NULL;
    }
    for (uint32_t i = 0; i < report.count; i++)
        any |= report.kernels[i].completes;
    return any ? out : NULL;
}

void completing_end(void)
{
    ptx_rewrite_report_deinit(&report);
    signalled = false;
}

void completing_at(_Atomic uint64_t *host, device_ptr device, device_ptr zero)
{
    words = host;
    device_words = device;
    counter = zero;
}

void **completing_args(const char *kernel, struct size3 grid, struct size3 block, void **args)
{
    const struct ptx_rewrite_kernel *k = ptx_rewrite_report_kernel(&report, kernel);

    signalled = k && k->completes && k->index < MAX_ARGUMENTS;
    if (!signalled)
        return args;
    for (uint32_t i = 0; i < k->index; i++)
        arguments[i] = args[i];
    arguments[k->index] = &params;
    launches++;
    atomic_store(&words[1], 0);
    params = (struct completion_params){.word = device_words,
                                        .position = launches << 32 | 7,
                                        .fence = device_words + 8,
                                        .sequence = launches % (1 << 24),
                                        .counter = counter,
                                        .threads =
                                            grid.x * grid.y * grid.z * block.x * block.y * block.z};
    return arguments;
}

const char *completing_wait(void)
{
    struct timespec now, end;

    if (!signalled)
        return NULL;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += WAIT_SECONDS;
    while (atomic_load_explicit(&words[0], memory_order_acquire) != params.position) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > end.tv_sec)
            return "the completion word is not written";
    }
    while (!atomic_load(&words[1])) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > end.tv_sec)
            return "the fence is not written";
    }
    if (atomic_load(&words[1]) % (1 << 24) != params.sequence)
        return "the fence has another sequence";
    return NULL;
}

bool completing_signalled(void)
{
    return signalled;
}
