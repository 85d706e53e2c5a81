/*
 * kernel_fault.c - ends a session whose kernel trapped, asserted, or in a strict session strayed.
 * Such a kernel ends by itself (ptx/rewrite/trap_pass.c), without loss for others, and leaves a
 * fault note (fault_note.h) in the session's print block. The worker reads the note before it
 * issues further work of the session, and when the client has seen the note at the end of a wait
 * (REQ_FAULT).
 *
 * The tenant can write the block, so the note is checked: at worst the tenant ends its own session,
 * with a text of its choice among the names of its own functions.
 */
#include "worker/module/kernel_fault.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/fault_note.h"
#include "common/link.h"
#include "common/log.h"
#include "ptx/rewrite/rewrite.h"
#include "worker/jobs/job.h"
#include "worker/module/module_table.h"
#include "worker/module/pass_variable.h"
#include "worker/module/print.h"
#include "worker/submit/launch_range.h"
#include "worker/submit/session_fault.h"

bool kernel_fault_possible(const struct ptx_rewrite_report *report)
{
    return report && (report->traps.count > 0 || report->fence.strays.count > 0);
}

bool kernel_fault_strays(const struct session *session)
{
    return session->fenced == GS_FENCE_REPORT || session->fenced == GS_FENCE_STRICT;
}

CUresult kernel_fault_bind(const struct session *session, const struct module *module,
                           uint32_t number)
{
    CUdeviceptr block;

    if (!kernel_fault_possible(module->rewrite))
        return CUDA_SUCCESS;
    CUresult result = print_block_address(session, &block);
    if (result)
        return result;
    const struct fault_binding binding = {.notes = block + PRINT_AT_FAULT, .module = number};
    return pass_variable_write(module, FAULT_VARIABLE, &binding, sizeof(binding), NULL);
}

void kernel_fault_watch(struct session *session, const struct module *module)
{
    if (kernel_fault_possible(module->rewrite))
        session->module.faults = fault_notes_of(session->module.print->memory);
}

/* A fault note, copied out of the tenant's memory, with names for its numbers. */
struct told {
    enum fault_what what;
    uint32_t line;
    uint64_t count, address;
    const char *kernel, *function; /* "": not known; equal where several kernels may call it */
};

static struct told note_read(const struct session *session, bool stray)
{
    struct fault_notes *notes = session->module.faults;
    struct fault_note *note = stray ? &notes->stray : &notes->end;
    /* acquire: pairs with the device's barrier before it writes the word */
    const uint64_t where = atomic_load_explicit(&note->where, memory_order_acquire);
    /* NULL: the module has been unloaded since */
    const struct module *module =
        module_find(session, atomic_load_explicit(&note->module, memory_order_relaxed));
    const struct ptx_rewrite_report *report = module ? module->rewrite : NULL;
    const struct ptx_fault_names *names = !report ? NULL
                                          : stray ? &report->fence.strays
                                                  : &report->traps;
    struct told told = {.what = fault_what(where), .line = fault_line(where)};

    told.count = atomic_load_explicit(&note->count, memory_order_relaxed);
    told.address = atomic_load_explicit(&note->address, memory_order_relaxed);
    told.kernel = told.function = "";
    if (names && fault_function(where) < names->count) {
        told.function = names->functions[fault_function(where)].name;
        told.kernel = names->functions[fault_function(where)].kernel;
        told.kernel = told.kernel ? told.kernel : told.function;
    }
    return told;
}

/* Returns the launches that may have left the note: those of the kernel that the note names or,
 * where it names a function that several kernels may call, those of all kernels. */
static struct launch_range note_launches(const struct session *session, bool stray)
{
    const struct told told = note_read(session, stray);
    const struct fault_note *note =
        stray ? &session->module.faults->stray : &session->module.faults->end;
    /* NULL: the module has been unloaded since */
    const struct module *module =
        module_find(session, atomic_load_explicit(&note->module, memory_order_relaxed));
    struct launch_range range = {0};
    bool found = false;

    /* Does not use module->kernels, to which a job on a service thread may be adding. */
    for (uint32_t i = 0; module && i < session->kernels.capacity; i++) {
        const struct kernel *k = session->kernels.table[i];

        if (!k || k->module != module || strncmp(k->name, told.kernel, sizeof(k->name) - 1) != 0)
            continue;
        launch_range_add(session, k, &range);
        found = true;
    }
    if (!found)
        launch_range_add(session, NULL, &range);
    return range.last ? range : (struct launch_range){0};
}

/* Writes a sentence that describes the note. */
static void what_happened(const struct told *told, bool stray, char *text, size_t size)
{
    const char *in = strcmp(told->function, told->kernel) != 0 ? told->function : "";
    const char *kernel = told->kernel[0] ? told->kernel : "of an unloaded module";

    if (stray)
        snprintf(text, size,
                 "kernel %.63s: line %" PRIu32 " of the PTX%s%.30s went to 0x%" PRIx64
                 ", outside of the session's memory",
                 kernel, told->line, in[0] ? ", in " : "", in, told->address);
    else
        snprintf(text, size,
                 "kernel %.63s: %s in line %" PRIu32 " of the PTX%s%.40s ended %" PRIu64
                 " thread%s",
                 kernel, told->what == FAULT_ASSERT ? "a failed assertion" : "a trap", told->line,
                 in[0] ? ", in " : "", in, told->count, told->count == 1 ? "" : "s");
}

/* Ends the session because of its fault note. */
static void session_end(struct session *session, bool stray)
{
    const struct told told = note_read(session, stray);
    const struct launch_range launches =
        stray ? session->submit.strayed : note_launches(session, false);
    const uint32_t kind = stray                       ? GS_FAULT_STRAY
                          : told.what == FAULT_ASSERT ? GS_FAULT_ASSERT
                                                      : GS_FAULT_TRAP;
    char text[192];

    what_happened(&told, stray, text, sizeof(text));
    log_debug("session %" PRIu64 " (%s): %s", session->id, session->name, text);
    session_fault(session, &(struct fault){.kind = kind,
                                           .status = stray ? GS_ERR_ILLEGAL_ADDRESS : GS_ERR_FAULT,
                                           .stream = launches.stream,
                                           .launch = launches.first,
                                           .launch_last = launches.last,
                                           .address = stray ? told.address : 0,
                                           .kernel = told.kernel,
                                           .message = text});
}

void kernel_strays_count(struct session *session)
{
    const struct fault_notes *notes = session->module.faults;
    const uint64_t count =
        notes ? atomic_load_explicit(&notes->stray.count, memory_order_relaxed) : 0;

    if (count > session->module.strays)
        link_stat_add(&session->stats->strays, count - session->module.strays);
    session->module.strays = count;
}

void kernel_fault_poll(struct session *session)
{
    const struct fault_notes *notes = session->module.faults;

    if (!notes || session->submit.faulted)
        return;
    launch_ranges_read(session);
    kernel_strays_count(session);
    if (!session->module.strayed && fault_noted(&notes->stray)) {
        session->module.strayed = true;
        session->submit.strayed = note_launches(session, true);
    }
    if (fault_noted(&notes->end))
        session_end(session, false);
    else if (session->fenced == GS_FENCE_STRICT && fault_noted(&notes->stray))
        session_end(session, true);
    else
        launch_ranges_clean(session);
}

/* The most launches beyond the first that the answer to REQ_FAULT has room for. */
#define MORE_MAX ((UINT64_C(1) << 24) - 1)

static void fault_prepare(struct job *job)
{
    kernel_fault_poll(job->session);
    if (!job->session->module.faults || !fault_noted(&job->session->module.faults->stray))
        return;
    const struct told stray = note_read(job->session, true);
    const struct launch_range *by = &job->session->submit.strayed;
    const uint64_t more = by->last - by->first;
    job->ret[0] = stray.count;
    job->ret[1] = stray.address;
    job->ret[2] =
        stray.line | (uint64_t)by->stream << 32 | (more < MORE_MAX ? more : MORE_MAX) << 40;
    job->ret[3] = by->first;
    snprintf(job->message, sizeof(job->message), "%.63s", stray.kernel);
}

const struct job_kind job_fault = {"fault", JOB_QUICK, fault_prepare, NULL, NULL, NULL};
