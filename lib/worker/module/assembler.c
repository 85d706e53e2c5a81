/* assembler.c - see assembler.h. Text, code and messages are in memfds. */
#include "worker/module/assembler.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "common/log.h"
#include "common/log_allowance.h"
#include "common/util.h"
#include "ptx/rewrite/rewrite.h"
#include "worker/driver/worker.h"
#include "worker/jobs/job.h"
#include "worker/module/assembler_choice.h"
#include "worker/module/assembler_process.h"
#include "worker/module/image.h"

/* Makes the file to compile. Where a text has no kernel, ptxas would add one through files in /tmp,
 * which it may not write, so the text gets a kernel here. Its name is not shown to tenants
 * (kernels_read). -1, and errno: no memory. */
static int text_file(const char *text, size_t size)
{
    static const char kernel[] = "\n.visible .entry " REWRITE_PREFIX "none()\n{\n\tret;\n}\n";
    CLEANUP_FREE char *more = NULL;

    if (strstr(text, ".entry"))
        return assembler_file_with(text, size);
    more = malloc(size + sizeof(kernel));
    if (!more)
        return -1;
    memcpy(more, text, size);
    memcpy(more + size, kernel, sizeof(kernel));
    return assembler_file_with(more, size + sizeof(kernel) - 1);
}

static uint64_t cpu_ns(const struct rusage *used)
{
    return ((uint64_t)used->ru_utime.tv_sec + (uint64_t)used->ru_stime.tv_sec) * 1000000000u +
           ((uint64_t)used->ru_utime.tv_usec + (uint64_t)used->ru_stime.tv_usec) * 1000u;
}

/* Limits the log's messages, so that a tenant that loads again and again does not fill the log. */
static struct log_allowance allowance = LOG_ALLOWANCE(8, 10000000000u);

static bool exited_with(int status, int how)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == how;
}

static gs_status refuse(struct job *job, const char *program, int status, const char *said)
{
    if (exited_with(status, ASSEMBLER_NO_MEMORY))
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for ptxas: %s", said);
    if (exited_with(status, ASSEMBLER_CANNOT_RUN) && assembler_is_named()) {
        if (log_allowance_take(&allowance, job->session->uid))
            log_warning("event=no-ptxas program=%s reason=\"%s\"", program, said);
        return job_fail(job, GS_ERR_DRIVER, "ptxas cannot be run: %s", said);
    }
    if (WIFSIGNALED(status))
        return job_fail(
            job, GS_ERR_BAD_IMAGE,
            "ptxas was ended by signal %d (%s); it may have %llu MiB of memory and %u s",
            WTERMSIG(status), strsignal(WTERMSIG(status)),
            (unsigned long long)(ASSEMBLER_MEMORY_MOST >> 20), ASSEMBLER_SECONDS_MOST);
    return job_fail(job, GS_ERR_BAD_IMAGE, "ptxas refuses it: %s", said);
}

/* Returns why the output of ptxas is not machine code; NULL: it is. For the software device,
 * machine code is text. */
static const char *code_fault(const unsigned char *code, size_t size)
{
    if (size == 0)
        return "it is empty";
    if (!worker->machine_code)
        return NULL;
    return image_binary(code, size) ? image_fault(code, size) : "it is text";
}

gs_status assembler_run(struct job *job, const char *text, size_t size, uint32_t threads,
                        unsigned char **code, size_t *code_size)
{
    CLEANUP_FD int in = text_file(text, size);
    CLEANUP_FD int out = assembler_file_new();
    CLEANUP_FD int messages = assembler_file_new();
    CLEANUP_FREE char *said = NULL;
    CLEANUP_FREE char *made = NULL;
    struct rusage used = {.ru_utime = {0}};
    char arch[32], split[32];
    char *const arguments[ASSEMBLER_ARGUMENTS_MOST] = {arch, ASSEMBLER_TEXT, "-o", ASSEMBLER_CODE,
                                                       threads > 1 ? split : NULL};
    const char *program = assembler_program();
    size_t length;
    pid_t pid;

    *code = NULL;
    if (!program)
        return GS_OK;
    assembler_architecture(text, worker->info.compute_major, worker->info.compute_minor, arch);
    snprintf(split, sizeof(split), "--split-compile=%u", threads);
    if (in < 0 || out < 0 || messages < 0)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for ptxas: %s", strerror(errno));
    const int failed = assembler_start(program, arguments, in, out, messages, &pid);
    if (failed)
        return job_fail(job, GS_ERR_NO_MEMORY, "starting ptxas: %s", strerror(failed));
    const int status = assembler_await(job, pid, 2 * ASSEMBLER_SECONDS_MOST, &used);
    job->helpers_ns += cpu_ns(&used);
    if (job->status != GS_OK)
        return job->status;
    said = assembler_file_read(messages, sizeof(job->message), &length);
    made = assembler_file_read(out, (size_t)ASSEMBLER_CODE_MOST, code_size);
    if (!said || !made)
        return job_fail(job, GS_ERR_NO_MEMORY, "no memory for what ptxas has made");
    if (exited_with(status, ASSEMBLER_CANNOT_RUN) && assembler_lost())
        return GS_OK;
    if (status != 0)
        return refuse(job, program, status, said);
    const char *fault = code_fault((unsigned char *)made, *code_size);
    if (fault)
        return job_fail(job, GS_ERR_BAD_IMAGE, "what ptxas has made is no machine code: %s", fault);
    *code = (unsigned char *)made;
    made = NULL;
    return GS_OK;
}
