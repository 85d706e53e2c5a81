/* Runs the passes over one text; see rewrite.h and pass.h. */
#include "ptx/rewrite/rewrite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/by_name.h"
#include "ptx/rewrite/fault_text.h"
#include "ptx/rewrite/fence_frames.h"
#include "ptx/rewrite/fence_maps.h"
#include "ptx/rewrite/fence_pass.h"
#include "ptx/rewrite/leave_out.h"
#include "ptx/rewrite/pass.h"

/* The passes in the order in which they run. What they add at one place comes in this order, too.
 */
static const struct pass *const passes_in_order[] = {&printf_pass_rules, &heap_pass_rules,
                                                     &trap_pass_rules, &completion_pass_rules,
                                                     &grid_pass_rules};
enum { PASSES = sizeof(passes_in_order) / sizeof(passes_in_order[0]) };

/* Whether the tenant's text has none of the names that passes add. */
static bool is_free_of_prefix(struct rewrite *rw)
{
    if (!memmem(rw->text, rw->len, REWRITE_PREFIX, strlen(REWRITE_PREFIX)))
        return true;
    snprintf(rw->report->reason, sizeof(rw->report->reason),
             "the module has names that begin with " REWRITE_PREFIX);
    return false;
}

static void pass_run(struct rewrite *rw, const struct pass *pass)
{
    if (pass->maybe && !pass->maybe(rw->text, rw->len))
        return;
    rw->edits.owner = pass->bit;
    if (!pass->run(rw)) {
        edits_remove(&rw->edits, pass->bit);
    } else if (rw->edits.too_long || !edits_settle(&rw->edits)) {
        edits_remove(&rw->edits, pass->bit);
        if (pass->dropped)
            pass->dropped(rw);
    }
}

/* Makes *READABLE, the text without the functions that cannot be read; NULL: there are none, or no
 * kernel would remain. False: no memory. */
static bool leave_unread_out(struct rewrite *rw, char **readable)
{
    struct ptx_module *m = NULL;
    struct ptx_error error;
    struct leave_out out = {0};
    struct reach reach = {0};
    struct edits edits = {.size = rw->len};
    size_t len;
    bool good = true;
    char reason[300];

    *readable = NULL;
    if (rewrite_module(rw) || rw->edits.failed)
        return !rw->edits.failed;
    if (ptx_parse_parts(rw->text, rw->len, &m, &error))
        return true;
    good = leave_out_init(&out, m, &rw->report->left_out);
    for (uint32_t i = 0; good && i < m->nfuncs; i++) {
        const struct ptx_error *unread = m->funcs[i]->unread;

        if (!unread)
            continue;
        snprintf(reason, sizeof(reason), "line %u: %s", unread->line, unread->text);
        good = leave_out_add(&out, m->funcs[i], reason);
    }
    reach_init(&reach, m);
    if (good && !reach.failed && out.count) {
        enum leave_out_result result = leave_out_settle(&out, &reach);

        good = result != LEAVE_OUT_NO_MEMORY;
        if (result == LEAVE_OUT_DONE) {
            leave_out_edit(&out, &edits);
            good = !edits.failed && edits_settle(&edits) &&
                   (*readable = edits_apply(&edits, rw->text, rw->len, &len));
        }
    }
    good &= !reach.failed;
    reach_deinit(&reach);
    edits_deinit(&edits);
    leave_out_deinit(&out);
    ptx_module_free(m);
    if (*readable) {
        rw->text = *readable;
        rw->len = rw->edits.size = len;
        rw->read = false;
    }
    return good;
}

/* A part of the fence that changes the text before the other passes see it. */
struct first_pass {
    /* Whether it is worth parsing the text for this; it is only searched for words. */
    bool (*maybe)(const char *text, size_t len);
    /* 0: *OUT is a new text; -ENOENT: there is nothing to do; -ENOMEM. */
    int (*run)(const char *text, size_t len, const struct ptx_module *m, char **out,
               size_t *out_len);
};

static const struct first_pass maps_pass = {fence_maps_maybe, fence_maps};
static const struct first_pass frames_pass = {fence_frames_maybe, fence_frames};

/* Runs the pass and continues with the text that it makes, *MADE; NULL: it changes nothing. False:
 * no memory. */
static bool run_first(struct rewrite *rw, const struct first_pass *pass, char **made)
{
    const struct ptx_module *m = pass->maybe(rw->text, rw->len) ? rewrite_module(rw) : NULL;
    size_t len = 0;
    int result = m ? pass->run(rw->text, rw->len, m, made, &len) : -ENOENT;

    if (!result) {
        ptx_module_free(rw->module);
        rw->module = NULL;
        rw->read = false;
        rw->text = *made;
        rw->len = rw->edits.size = len;
    }
    return result != -ENOMEM;
}

/* Fences *TEXT, which the other passes made; NULL: they changed nothing, and the tenant's own text
 * is fenced. */
static int fence_text(struct rewrite *rw, char **text, size_t *len)
{
    const char *obstacle = fence_obstacle_in_names(rw->text, rw->len);
    struct ptx_fence_report *report = &rw->report->fence;
    char *from = *text, *out = NULL;
    int result = -EPERM;

    if (!rw->free_of_prefix)
        obstacle = rw->report->reason;
    if (!from)
        from = strndup(rw->text, rw->len);
    if (!from)
        result = -ENOMEM;
    else if (obstacle)
        snprintf(report->reason, sizeof(report->reason), "%s", obstacle);
    else
        result =
            fence_pass(from, strlen(from), rw->passes, report, &rw->report->left_out, &out, len);
    free(from);
    *text = out;
    return result;
}

/* Moves the variables of *TEXT, or of the tenant's own text if *TEXT is NULL. If that cannot be
 * done nothing changes. RESULT: the result of ptx_rewrite so far, which is returned if nothing
 * changes. */
static int move_variables(struct rewrite *rw, char **text, size_t *len, int result)
{
    struct ptx_fence_report *report = &rw->report->fence;
    char *from = *text ? strdup(*text) : strndup(rw->text, rw->len), *moved = NULL;
    size_t moved_len = 0;
    int done = -EPERM;

    if (!from)
        return -ENOMEM;
    if (!fence_obstacle_in_names(rw->text, rw->len) && rw->free_of_prefix)
        done = fence_pass(from, strlen(from), PTX_PASS_VARIABLES, report, NULL, &moved, &moved_len);
    free(from);
    if (done) {
        arena_free(report->memory);
        memset(report, 0, sizeof(*report));
        return done == -ENOMEM ? done : result;
    }
    free(*text);
    *text = moved;
    *len = moved_len;
    return 0;
}

/* Sorts the tables that ptx_rewrite_report_kernel, ptx_fence_report_kernel and
 * ptx_fence_report_variable search. */
static void report_sort(struct ptx_rewrite_report *report)
{
    const struct ptx_fence_report *fence = &report->fence;

    by_name_sort(report->kernels, report->count, sizeof(*report->kernels));
    by_name_sort((void *)(uintptr_t)fence->windowed, fence->nwindowed, sizeof(*fence->windowed));
    /* A table of a module that was refused is incomplete, and nobody reads it. */
    if (fence->fenced || fence->moved)
        by_name_sort((void *)(uintptr_t)fence->variables, fence->nvariables,
                     sizeof(*fence->variables));
}

int ptx_rewrite(const char *ptx, size_t len, unsigned passes, char **out, size_t *out_len,
                struct ptx_rewrite_report *report)
{
    struct ptx_rewrite_report own = {0};
    struct rewrite rw = {.text = ptx,
                         .len = strnlen(ptx, len),
                         .passes = passes | (passes & PTX_PASS_FENCE ? PTX_PASS_TRAP : 0),
                         .report = report ? report : &own};
    int result = -ENOENT;
    size_t new_len = 0;
    char *text = NULL, *readable = NULL, *mapped = NULL, *framed = NULL;

    rw.edits.size = rw.len;
    if (passes & PTX_PASS_LEAVE_OUT && !leave_unread_out(&rw, &readable))
        rw.edits.failed = true;
    rw.free_of_prefix = is_free_of_prefix(&rw);
    if (passes & PTX_PASS_FENCE && rw.free_of_prefix &&
        (!run_first(&rw, &maps_pass, &mapped) || !run_first(&rw, &frames_pass, &framed)))
        rw.edits.failed = true;
    if (!rw.edits.failed && rw.free_of_prefix)
        for (size_t i = 0; i < PASSES && !rw.edits.failed; i++)
            if (rw.passes & passes_in_order[i]->bit)
                pass_run(&rw, passes_in_order[i]);
    if (rw.edits.count && !rw.edits.failed) {
        text = edits_apply(&rw.edits, rw.text, rw.len, &new_len);
        result = text ? 0 : -ENOMEM;
    }
    if (rw.edits.failed)
        result = -ENOMEM;
    if (passes & PTX_PASS_FENCE && result != -ENOMEM)
        result = fence_text(&rw, &text, &new_len);
    else if (passes & PTX_PASS_VARIABLES && result != -ENOMEM)
        result = move_variables(&rw, &text, &new_len, result);
    if (result == -ENOENT && readable) {
        text = readable;
        new_len = rw.len;
        readable = NULL;
        result = 0;
    }
    if (!result) {
        *out = text;
        *out_len = new_len;
    }
    free(readable);
    free(mapped);
    free(framed);
    if (result == -ENOMEM || !report)
        ptx_rewrite_report_deinit(rw.report);
    else
        report_sort(report);
    ptx_module_free(rw.module);
    edits_deinit(&rw.edits);
    return result;
}

void ptx_rewrite_report_deinit(struct ptx_rewrite_report *report)
{
    arena_free(report->memory);
    arena_free(report->fence.memory);
    arena_free(report->left_out.memory);
    fault_names_deinit(&report->fence.strays);
    fault_names_deinit(&report->traps);
    memset(report, 0, sizeof(*report));
}

size_t ptx_rewrite_report_bytes(const struct ptx_rewrite_report *report)
{
    return sizeof(*report) + arena_bytes(report->memory) + arena_bytes(report->fence.memory) +
           arena_bytes(report->left_out.memory) + arena_bytes(report->fence.strays.memory) +
           arena_bytes(report->traps.memory);
}

const char *ptx_rewrite_report_left_out(const struct ptx_rewrite_report *report, const char *name)
{
    for (const struct ptx_left_out_kernel *k = report->left_out.kernels; k; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k->reason;
    return NULL;
}

const struct ptx_rewrite_kernel *ptx_rewrite_report_kernel(const struct ptx_rewrite_report *report,
                                                           const char *name)
{
    return by_name_find(report->kernels, report->count, sizeof(*report->kernels), name);
}

const struct ptx_fence_kernel *ptx_fence_report_kernel(const struct ptx_fence_report *report,
                                                       const char *name)
{
    return by_name_find(report->windowed, report->nwindowed, sizeof(*report->windowed), name);
}

const struct ptx_fence_maps *ptx_fence_report_maps(const struct ptx_fence_report *report,
                                                   const char *name)
{
    return by_name_find(report->maps, report->nmaps, sizeof(*report->maps), name);
}

const struct ptx_fence_variable *ptx_fence_report_variable(const struct ptx_fence_report *report,
                                                           const char *name)
{
    return by_name_find(report->variables, report->nvariables, sizeof(*report->variables), name);
}
