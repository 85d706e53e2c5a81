/* The pass that makes small kernels signal their own end, which needs neither a second kernel nor a
 * memory-write node.
 *
 * Each .entry gets a hidden parameter behind its own, struct completion_params
 * (completion_params.h). Its ends lead to an epilogue (completion_exits.c), where the last thread
 * of the grid stores the completion word and the fence. If `word` is 0 the epilogue is one load
 * from constant memory, a test and the end.
 *
 * The store comes a moment before the kernel's real end: its last instructions may still run. A
 * kernel that traps, or never ends, signals nothing. Kernels that the pass cannot judge stay as
 * they are, and the report has the reason (completion_check.c). */
#include "ptx/rewrite/completion_params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/completion.h"
#include "ptx/rewrite/reach.h"

static_assert(COMPLETION_PARAMS_BYTES == 48, "as COMPLETION_PARAMETER");

/* For each function, by ptx_func.id: a function within its reach that has an obstacle, waits, or
 * depends on other grids. */
struct findings {
    struct reach reach;
    struct obstacle *obstacles; /* of the function itself, not of those it calls */
    uint32_t *obstacle_in, *waits_in, *depends_in;
};

static void findings_deinit(struct findings *found)
{
    reach_deinit(&found->reach);
    free(found->obstacles);
    free(found->obstacle_in);
    free(found->waits_in);
    free(found->depends_in);
}

static bool function_has(const struct ptx_func *f, bool (*is)(const struct ptx_inst *inst))
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (is(&f->insts[i]))
            return true;
    return false;
}

static bool findings_init(struct findings *found, const struct ptx_module *m, bool trapped)
{
    size_t n = m->nfuncs ? m->nfuncs : 1;

    memset(found, 0, sizeof(*found));
    found->obstacles = calloc(n, sizeof(*found->obstacles));
    found->obstacle_in = calloc(n, sizeof(*found->obstacle_in));
    found->waits_in = calloc(n, sizeof(*found->waits_in));
    found->depends_in = calloc(n, sizeof(*found->depends_in));
    reach_init(&found->reach, m);
    if (!found->obstacles || !found->obstacle_in || !found->waits_in || !found->depends_in ||
        found->reach.failed)
        return false;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        found->obstacles[i] = completion_obstacle(m->funcs[i], trapped);
        found->obstacle_in[i] = found->obstacles[i].what ? i : REACH_NONE;
        found->waits_in[i] = function_has(m->funcs[i], completion_waits) ? i : REACH_NONE;
        found->depends_in[i] = function_has(m->funcs[i], completion_depends) ? i : REACH_NONE;
    }
    reach_spread(&found->reach, found->obstacle_in);
    reach_spread(&found->reach, found->waits_in);
    reach_spread(&found->reach, found->depends_in);
    return !found->reach.failed;
}

static bool instruction_waits(const struct ptx_inst *inst, const struct findings *found)
{
    const struct ptx_func *callee;

    if (inst->op != PTX_OP_CALL)
        return completion_waits(inst);
    if (inst->ops[1].kind != PTX_OPND_FUNC)
        return true; /* threads wait somewhere in the module */
    callee = inst->ops[1].func->alias ? inst->ops[1].func->alias : inst->ops[1].func;
    return found->waits_in[callee->id] != REACH_NONE;
}

static void lead_ends(struct rewrite *rw, const struct ptx_func *f, const struct findings *found,
                      struct obstacle *obstacle)
{
    bool *waits = NULL;

    if (found->waits_in[f->id] != REACH_NONE) {
        waits = calloc((size_t)f->ninsts + 1, sizeof(*waits));
        if (!waits) {
            rw->edits.failed = true;
            return;
        }
        for (uint32_t i = 0; i < f->ninsts; i++)
            waits[i] = instruction_waits(&f->insts[i], found);
    }
    completion_exits(rw, f, waits, found->depends_in[f->id] != REACH_NONE, obstacle);
    free(waits);
}

static void add_parameter(struct rewrite *rw, const struct ptx_func *f)
{
    for (const struct ptx_header *h = f->headers; h; h = h->next)
        edits_add_parameters(&rw->edits, f, h, COMPLETION_PARAMETER);
}

static struct obstacle take_kernel(struct rewrite *rw, const struct ptx_module *m,
                                   const struct ptx_func *f, const struct findings *found)
{
    const uint32_t offset = (f->param_bytes + 7) / 8 * 8;
    struct obstacle obstacle = {.line = f->line};

    if (found->obstacle_in[f->id] != REACH_NONE)
        return found->obstacles[found->obstacle_in[f->id]];
    if (found->reach.taken[f->id])
        obstacle.what = "the kernel is called, or its address is taken";
    else if (offset + COMPLETION_PARAMS_BYTES > ptx_param_bytes_max(m) ||
             f->nparams >= PTX_MAX_PARAMS)
        obstacle.what = "the kernel's parameters leave no room for another";
    else
        lead_ends(rw, f, found, &obstacle);
    if (!obstacle.what)
        add_parameter(rw, f);
    return obstacle;
}

static bool report_kernel(struct rewrite *rw, const struct ptx_module *m, const struct ptx_func *f,
                          const struct findings *found)
{
    struct ptx_rewrite_report *report = rw->report;
    struct ptx_rewrite_kernel *k = &report->kernels[report->count++];
    struct obstacle obstacle = take_kernel(rw, m, f, found);

    *k = (struct ptx_rewrite_kernel){.name = arena_string(report->memory, f->name, strlen(f->name)),
                                     .completes = !obstacle.what,
                                     .ends_after =
                                         !obstacle.what && found->depends_in[f->id] != REACH_NONE,
                                     .index = f->nparams};
    if (obstacle.what)
        snprintf(k->reason, sizeof(k->reason), "line %u: %s", obstacle.line, obstacle.what);
    rw->edits.failed |= !k->name;
    return k->completes;
}

static bool is_kernel(const struct ptx_func *f)
{
    return f->entry && f->has_body;
}

static bool take_kernels(struct rewrite *rw, const struct ptx_module *m)
{
    struct findings found;
    uint32_t kernels = 0;
    bool any = false;

    for (uint32_t i = 0; i < m->nfuncs; i++)
        kernels += is_kernel(m->funcs[i]);
    rw->report->memory = arena_new(rw->len + kernels * (sizeof(*rw->report->kernels) + 64) + 4096);
    if (rw->report->memory)
        rw->report->kernels =
            arena_alloc(rw->report->memory, (kernels + 1) * sizeof(*rw->report->kernels));
    if (!rw->report->kernels || !findings_init(&found, m, trap_pass_serves(rw))) {
        if (rw->report->kernels)
            findings_deinit(&found);
        rw->edits.failed = true;
        return false;
    }
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (is_kernel(m->funcs[i]))
            any |= report_kernel(rw, m, m->funcs[i], &found);
    findings_deinit(&found);
    return any;
}

/* A search for a word, so that fatbins and texts without kernels cost no more. */
static bool maybe(const char *text, size_t len)
{
    return memmem(text, len, ".entry", strlen(".entry")) != NULL;
}

static bool run(struct rewrite *rw)
{
    const struct ptx_module *m = rewrite_module(rw);
    char *reason = rw->report->reason;
    size_t size = sizeof(rw->report->reason);
    const char *obstacle = m ? completion_module_obstacle(m) : NULL;

    if (!m)
        snprintf(reason, size, "line %u: %s", rw->unread.line, rw->unread.text);
    else if (obstacle)
        snprintf(reason, size, "%s", obstacle);
    else
        return take_kernels(rw, m);
    return false;
}

static void dropped(struct rewrite *rw)
{
    struct ptx_rewrite_report *report = rw->report;

    for (uint32_t i = 0; i < report->count; i++)
        report->kernels[i].completes = report->kernels[i].ends_after = false;
    report->count = 0;
    snprintf(report->reason, sizeof(report->reason),
             "another pass changes the same instructions, or the text would exceed 64 MiB");
}

const struct pass completion_pass_rules = {
    .bit = PTX_PASS_COMPLETION, .maybe = maybe, .run = run, .dropped = dropped};
