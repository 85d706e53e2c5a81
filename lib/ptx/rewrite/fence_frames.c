/* Frames in a variable of the kernel, for functions that store through a pointer that may lead to a
 * caller's local variable: functions that were not inlined, recursion, code without optimization.
 *
 * Where ptxas puts a variable, return addresses and saved registers lie beside it, so such a store
 * cannot be bounded to its target (fence_stack.c). So each kernel that can reach one gets a
 * variable, gshare$stack, which holds nothing but the local variables of the kernel and of all
 * functions in the chain of calls. Three registers hold addresses in it:
 *
 *     gshare$bottom   the address of gshare$stack, the same in all functions
 *     gshare$frame    the address of the function's own frame in it
 *     gshare$top      the end of that frame: the frame of the functions that it calls
 *
 * Functions get the first two as parameters before their own, the last of which may be variable
 * arguments. A store is then bounded to all of gshare$stack, as a kernel's store is to its
 * variable: whatever it hits is a variable of the same thread.
 *
 * gshare$stack is as large as the frames of the longest chain of calls. Recursion has no longest
 * chain: a function that has variables then traps if its frame does not fit.
 *
 * A kernel's parameter whose generic address the program takes (__grid_constant__) is copied to the
 * frame, too: in constant memory, the address would also reach what lies behind the parameters.
 *
 * This pass runs first, on the tenant's own text. fence_pass.c finds the store bounded then, and
 * the checker verifies it by the names above. If the text has a form that compilers do not write,
 * nothing is changed, and the store is refused. */
#include "ptx/rewrite/fence_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/fence.h"
#include "ptx/rewrite/pass.h"

enum {
    MOST_STACK = 256 << 10,
    RECURSION = 8, /* so often functions may call themselves, each with all its variables ... */
    MOST_RECURSION = 4096, /* ... in so many bytes ... */
    LEAST_RECURSION = 512, /* ... or these */
    MOST_ROUNDS = 64,      /* of calls without recursion, one within the other */
};

struct frames {
    struct fence fence;
    uint32_t *needs; /* by ptx_func.id: REACH_NONE, or the function has a frame */
    uint64_t *own;   /* bytes of its frame */
    uint64_t *depth; /* of its frame and those that it calls */
    bool indirect;   /* what is called by address has a frame */
    bool recursive;
    uint64_t bytes; /* of gshare$stack */
};

/* ---- For other parts ---- */

uint32_t fence_register_named(const struct ptx_func *f, const char *name)
{
    for (uint32_t i = 0; i < f->ndecls; i++)
        if (!f->decls[i].range && !f->decls[i].vec && !strcmp(f->decls[i].name, name))
            return f->decls[i].first;
    return PTX_NO_REG;
}

bool fence_has_frame(const struct ptx_func *f)
{
    return f->has_body && fence_register_named(f, FENCE_BOTTOM) != PTX_NO_REG;
}

uint64_t fence_frames_bytes(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nfuncs; i++)
        for (uint32_t k = 0; k < m->funcs[i]->nvars; k++)
            if (!strcmp(m->funcs[i]->vars[k]->name, FENCE_STACK))
                return m->funcs[i]->vars[k]->size;
    return 0;
}

/* ---- Who needs a frame ---- */

static bool function_reports(struct fence *fence, const struct ptx_func *f)
{
    fence->f = f;
    fence_stack_begin(fence);
    for (uint32_t i = 0; i < f->ninsts; i++) {
        fence->inst = &f->insts[i];
        for (unsigned k = 0; k < fence->inst->nops; k++) {
            const struct ptx_operand *o = &fence->inst->ops[k];

            if (o->kind == PTX_OPND_MEM &&
                fence_stack_reports(fence, &o->mem, fence_access_bytes(fence->inst)))
                return true;
        }
    }
    return false;
}

static bool has_frame(const struct frames *frames, const struct ptx_func *f)
{
    return frames->needs[f->alias ? f->alias->id : f->id] != REACH_NONE;
}

/* Gives frames to all functions that a call by address may mean, if one of them needs a frame. */
static void spread_to_addresses(struct frames *frames)
{
    const struct ptx_module *m = frames->fence.m;
    struct reach *reach = &frames->fence.reach;

    reach_spread(reach, frames->needs);
    for (uint32_t i = 0; i < m->nfuncs; i++)
        frames->indirect |=
            reach->taken[i] && !m->funcs[i]->entry && frames->needs[i] != REACH_NONE;
    for (uint32_t i = 0; i < m->nfuncs && frames->indirect; i++)
        if (reach->taken[i] && m->funcs[i]->has_body && !m->funcs[i]->entry)
            frames->needs[i] = i;
    if (frames->indirect)
        reach_spread(reach, frames->needs);
}

/* False: nobody does, or no memory. */
static bool find_needs(struct frames *frames)
{
    struct fence *fence = &frames->fence;
    const struct ptx_module *m = fence->m;
    bool any = false;

    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const bool needs = m->funcs[i]->has_body && (function_reports(fence, m->funcs[i]) ||
                                                     fence_copies_parameters(m->funcs[i]));

        frames->needs[i] = needs ? i : REACH_NONE;
        any |= needs;
    }
    if (any)
        spread_to_addresses(frames);
    return any && !fence->reach.failed;
}

/* ---- How large frames are ---- */

static const struct ptx_var *own_variable(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->nvars; i++)
        if (f->vars[i]->space == PTX_SPACE_LOCAL)
            return f->vars[i];
    return NULL;
}

static uint64_t variable_bytes(const struct ptx_func *f)
{
    const struct ptx_var *v = own_variable(f);

    return v ? (v->size + FENCE_FRAME_ALIGN - 1) / FENCE_FRAME_ALIGN * FENCE_FRAME_ALIGN : 0;
}

/* Copies of parameters lie behind the variable, as far from each other as the parameters. */
static uint64_t own_bytes(const struct ptx_func *f)
{
    const uint64_t copies = fence_copies_parameters(f) ? (f->param_bytes + FENCE_FRAME_ALIGN - 1) /
                                                             FENCE_FRAME_ALIGN * FENCE_FRAME_ALIGN
                                                       : 0;

    return variable_bytes(f) + copies;
}

/* Follows all calls once. Returns whether a chain of calls has become longer. The last node stands
 * for calls by address. */
static bool lengthen(struct frames *frames)
{
    const struct reach *reach = &frames->fence.reach;
    bool longer = false;

    for (size_t i = 0; i < reach->count; i++) {
        const uint32_t from = reach->calls[i].from, to = reach->calls[i].to;
        const uint32_t last = reach->nodes - 1;
        uint64_t depth = frames->depth[to];

        if ((to != last && frames->needs[to] == REACH_NONE) ||
            (from != last && frames->needs[from] == REACH_NONE))
            continue;
        depth += from == last ? 0 : frames->own[from];
        frames->recursive |= depth > MOST_STACK;
        if (depth <= frames->depth[from] || depth > MOST_STACK)
            continue;
        frames->depth[from] = depth;
        longer = true;
    }
    return longer;
}

/* The room for functions that call each other in ways that nobody knows, for all of them together.
 */
static uint64_t recursion_bytes(const struct frames *frames)
{
    const struct ptx_module *m = frames->fence.m;
    uint64_t once = 0, bytes;

    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->has_body && !m->funcs[i]->entry && has_frame(frames, m->funcs[i]))
            once += frames->own[i];
    bytes = RECURSION * once < MOST_RECURSION ? RECURSION * once : MOST_RECURSION;
    bytes = bytes < LEAST_RECURSION ? LEAST_RECURSION : bytes;
    return bytes < once ? once : bytes;
}

static bool measure(struct frames *frames)
{
    const struct ptx_module *m = frames->fence.m;
    unsigned rounds = 0;
    uint64_t recursion;

    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->has_body && has_frame(frames, m->funcs[i]))
            frames->depth[i] = frames->own[i] = own_bytes(m->funcs[i]);
    while (lengthen(frames) && ++rounds < MOST_ROUNDS)
        ;
    frames->recursive |= rounds == MOST_ROUNDS;
    recursion = recursion_bytes(frames);
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        uint64_t bytes;

        if (!f->entry || !f->has_body || !has_frame(frames, f))
            continue;
        bytes = frames->recursive ? frames->own[i] + recursion : frames->depth[i];
        frames->bytes = bytes > frames->bytes ? bytes : frames->bytes;
    }
    return frames->bytes && frames->bytes <= MOST_STACK;
}

/* ---- Forms of text ---- */

static bool names_variable(const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_SYM)
        return o->sym.var->space == PTX_SPACE_LOCAL;
    if (o->kind == PTX_OPND_MEM)
        return o->mem.base == PTX_BASE_VAR && o->mem.var->space == PTX_SPACE_LOCAL;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        if (names_variable(&o->list[i]))
            return true;
    return false;
}

/* "ld.local.u32 %r1, [v+4]", "st.local.u32 [v+4], %r1", "mov.u64 %rd1, v+4": with operand K. */
static bool is_known_form(const struct ptx_inst *inst, unsigned k)
{
    if (inst->ops[k].kind == PTX_OPND_MEM)
        return (inst->op == PTX_OP_LD || inst->op == PTX_OP_ST) && inst->space == PTX_SPACE_LOCAL;
    return inst->op == PTX_OP_MOV && k == 1 && inst->ops[0].kind == PTX_OPND_REG &&
           inst->ops[1].kind == PTX_OPND_SYM && ptx_type_bits(inst->type[0]) >= 32;
}

static bool can_have_frame(const struct ptx_func *f)
{
    unsigned locals = 0;

    if (fence_copies_parameters(f) && !fence_can_copy_parameters(f))
        return false;

    for (uint32_t i = 0; i < f->nvars; i++)
        if (f->vars[i]->space == PTX_SPACE_LOCAL &&
            (locals++ || f->vars[i]->align > FENCE_FRAME_ALIGN || f->vars[i]->size > MOST_STACK))
            return false;
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nops; k++)
            if (names_variable(&f->insts[i].ops[k]) && !is_known_form(&f->insts[i], k))
                return false;
    return f->nparams + FENCE_FRAME_PARAMS <= PTX_MAX_PARAMS;
}

static bool all_can(const struct frames *frames)
{
    const struct ptx_module *m = frames->fence.m;

    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->has_body && has_frame(frames, m->funcs[i]) && !can_have_frame(m->funcs[i]))
            return false;
    return true;
}

/* ---- Edits ---- */

static void take_variable(struct fence *fence, unsigned k)
{
    const struct ptx_operand *o = &fence->inst->ops[k];
    const bool wide = ptx_type_bits(fence->inst->type[0]) == 64;
    struct fence_span name;

    if (o->kind == PTX_OPND_MEM) {
        fence_brackets(fence, 0, &name);
        fence_replace(fence, name, FENCE_FRAME);
        return;
    }
    fence_before(fence, "add.u32 gshare$place, " FENCE_FRAME ", %lld; ", (long long)o->sym.offset);
    fence_replace(fence, fence_opcode(fence), wide ? "cvt.u64.u32" : "mov.b32");
    fence_replace(fence, fence_operand(fence, 1), "gshare$place");
}

static void take_call(struct fence *fence)
{
    const struct ptx_operand *arguments = &fence->inst->ops[2];
    struct fence_span callee = fence_operand(fence, 0), list = fence_operand(fence, 1);
    size_t at;

    if (callee.len && *callee.text == '(') { /* the list of results */
        callee = list;
        list = fence_operand(fence, 2);
    }
    at = (size_t)(callee.text + callee.len - fence->text);
    if (!list.len || *list.text != '(')
        edits_insert(&fence->edits, at, ", (" FENCE_BOTTOM ", " FENCE_TOP ")");
    else
        edits_insert(&fence->edits, (size_t)(list.text + 1 - fence->text),
                     arguments->kind == PTX_OPND_LIST ? FENCE_BOTTOM ", " FENCE_TOP ", "
                                                      : FENCE_BOTTOM ", " FENCE_TOP);
}

static void take_body(struct frames *frames, const struct ptx_func *f)
{
    struct fence *fence = &frames->fence;

    fence->f = f;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *inst = fence->inst = &f->insts[i];

        for (unsigned k = 0; k < inst->nops; k++)
            if (names_variable(&inst->ops[k]))
                take_variable(fence, k);
        if (f->entry && fence_makes_parameter_address(f, inst))
            fence_parameter_address(fence, variable_bytes(f));
        if (inst->op == PTX_OP_CALL &&
            (inst->ops[1].kind == PTX_OPND_FUNC ? has_frame(frames, inst->ops[1].func)
                                                : frames->indirect))
            take_call(fence);
    }
    for (uint32_t i = 0; i < f->nprotos && frames->indirect; i++)
        edits_insert(&fence->edits, f->protos[i]->first,
                     !f->protos[i]->list     ? "(.reg .b32 _, .reg .b32 _)"
                     : f->protos[i]->nparams ? ".reg .b32 _, .reg .b32 _, "
                                             : ".reg .b32 _, .reg .b32 _");
}

static void begin_body(struct frames *frames, const struct ptx_func *f)
{
    struct edits *edits = &frames->fence.edits;
    const unsigned long long bytes = frames->bytes;

    if (f->entry)
        edits_insert(edits, f->body_begin,
                     edits_text(edits,
                                " .local .align 16 .b8 " FENCE_STACK "[%llu]; .reg .b32 "
                                "" FENCE_BOTTOM ", " FENCE_FRAME ", " FENCE_TOP
                                ", gshare$place; mov.u32 " FENCE_BOTTOM ", " FENCE_STACK
                                "; mov.u32 " FENCE_FRAME ", " FENCE_BOTTOM ";",
                                bytes));
    else
        edits_insert(edits, f->body_begin, " .reg .b32 " FENCE_TOP ", gshare$place;");
    edits_insert(edits, f->body_begin,
                 edits_text(edits, " add.u32 " FENCE_TOP ", " FENCE_FRAME ", %llu;",
                            (unsigned long long)frames->own[f->id]));
    if (fence_copies_parameters(f))
        fence_copy_parameters(&frames->fence, f, variable_bytes(f));
    if (!f->entry && frames->recursive && frames->own[f->id])
        edits_insert(edits, f->body_begin,
                     edits_text(edits,
                                " .reg .pred gshare$over; sub.u32 gshare$place, " FENCE_TOP
                                ", " FENCE_BOTTOM "; setp.gt.u32 gshare$over, gshare$place, %llu;"
                                " @gshare$over trap;",
                                bytes));
}

#define PARAMETERS ".reg .b32 " FENCE_BOTTOM ", .reg .b32 " FENCE_FRAME

static void take_header(struct frames *frames, const struct ptx_func *f)
{
    for (const struct ptx_header *h = f->headers; h; h = h->next)
        edits_insert(&frames->fence.edits, h->first,
                     !h->list     ? "(" PARAMETERS ")"
                     : f->nparams ? PARAMETERS ", "
                                  : PARAMETERS);
}

static void take_functions(struct frames *frames)
{
    const struct ptx_module *m = frames->fence.m;

    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];

        if (!has_frame(frames, f) || (!f->has_body && !f->alias))
            continue;
        if (!f->entry)
            take_header(frames, f);
        if (!f->has_body)
            continue;
        begin_body(frames, f);
        take_body(frames, f);
    }
}

/* ---- The pass ---- */

static bool frames_init(struct frames *frames, const char *text, size_t len,
                        const struct ptx_module *m)
{
    struct fence *fence = &frames->fence;

    *frames = (struct frames){.fence = {.text = text, .m = m, .edits.size = len}};
    reach_init(&fence->reach, m);
    fence_find_generic(fence);
    fence->gets_locals = calloc((size_t)m->nfuncs + 1, sizeof(*fence->gets_locals));
    frames->needs = calloc((size_t)m->nfuncs + 1, sizeof(*frames->needs));
    frames->own = calloc((size_t)m->nfuncs + 1, sizeof(*frames->own));
    frames->depth = calloc((size_t)m->nfuncs + 1, sizeof(*frames->depth));
    return !fence->reach.failed && fence->gets_locals && frames->needs && frames->own &&
           frames->depth && (!fence->generic[PTX_SPACE_LOCAL] || fence_escapes(fence));
}

static bool has_word(const char *text, size_t len, const char *word)
{
    return memmem(text, len, word, strlen(word)) != NULL;
}

bool fence_frames_maybe(const char *text, size_t len)
{
    return has_word(text, len, "cvta.param") ||
           (has_word(text, len, ".local") && has_word(text, len, ".func") &&
            has_word(text, len, "call"));
}

int fence_frames(const char *text, size_t len, const struct ptx_module *m, char **out,
                 size_t *out_len)
{
    struct frames frames;
    int result = -ENOMEM;

    *out = NULL;
    if (frames_init(&frames, text, len, m)) {
        result = -ENOENT;
        if (find_needs(&frames) && all_can(&frames) && measure(&frames)) {
            take_functions(&frames);
            if (!frames.fence.edits.too_long && edits_settle(&frames.fence.edits))
                *out = edits_apply(&frames.fence.edits, text, len, out_len);
            result = *out ? 0 : -ENOENT;
        }
        if (frames.fence.edits.failed || frames.fence.reach.failed)
            result = -ENOMEM;
    }
    reach_deinit(&frames.fence.reach);
    edits_deinit(&frames.fence.edits);
    free(frames.fence.gets_locals);
    free(frames.needs);
    free(frames.own);
    free(frames.depth);
    return result;
}
