// Emits decoded instructions, and the pool of constants: each value once, in a slot that holds it
// for every lane. Addresses are filled in when the device has assigned them.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/lower/lower.h"

// Bounds for a whole program: a small text can expand a lot.
enum { MAX_INSNS = 1 << 23, MAX_AUX = 1 << 24, MAX_POOL = 256 << 20 };

// ---- Growing arrays

static bool grow(struct lower *L, void **array, size_t *room, size_t need, size_t size, size_t max)
{
    if (need <= *room)
        return true;
    size_t bigger = *room ? *room * 2 : 64;
    while (bigger < need)
        bigger *= 2;
    if (need > max) {
        lower_fail(L, -E2BIG, "the function is too long");
        return false;
    }
    void *grown = realloc(*array, bigger * size);
    if (!grown) {
        lower_fail(L, -ENOMEM, "out of memory");
        return false;
    }
    *array = grown;
    *room = bigger;
    return true;
}

struct insn *lower_emit(struct lower *L, insn_fn *run)
{
    static _Thread_local struct insn scratch;
    struct code *c = L->code;
    size_t lines_room = L->insns_room;
    if (L->program->ninsns >= MAX_INSNS)
        lower_fail(L, -E2BIG, "the program is too long");
    if (L->error ||
        !grow(L, (void **)&c->lines, &lines_room, c->count + 1, sizeof *c->lines, MAX_INSNS) ||
        !grow(L, (void **)&c->insns, &L->insns_room, c->count + 1, sizeof *c->insns, MAX_INSNS)) {
        scratch = (struct insn){.run = run};
        return &scratch;
    }
    struct insn *in = &c->insns[c->count];
    L->program->ninsns++;
    *in = (struct insn){.run = run, .guard = L->guard};
    c->lines[c->count++] = L->inst ? L->inst->line : L->func->line;
    return in;
}

struct insn *lower_alu1(struct lower *L, enum alu op, uint32_t d, uint32_t a)
{
    struct insn *in = lower_emit(L, L->alu[op]);
    in->d = d;
    in->a = a;
    return in;
}

struct insn *lower_alu2(struct lower *L, enum alu op, uint32_t d, uint32_t a, uint32_t b)
{
    struct insn *in = lower_alu1(L, op, d, a);
    in->b = b;
    return in;
}

struct insn *lower_alu3(struct lower *L, enum alu op, uint32_t d, uint32_t a, uint32_t b,
                        uint32_t c)
{
    struct insn *in = lower_alu2(L, op, d, a, b);
    in->c = c;
    return in;
}

uint32_t lower_aux(struct lower *L, const uint32_t *words, uint32_t count)
{
    uint32_t at = L->naux;
    if (L->error ||
        !grow(L, (void **)&L->code->aux, &L->aux_room, (size_t)at + count, sizeof *words, MAX_AUX))
        return 0;
    if (count)
        memcpy(L->code->aux + at, words, count * sizeof *words);
    L->naux += count;
    return at;
}

// ---- The constant pool: splat values, each once

static uint32_t pool_hash(uint64_t value, unsigned bits)
{
    uint64_t h = (value ^ bits) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(h >> 32);
}

// An index entry stores the slot and, in its two low bits, the width class.
static bool pool_matches(const struct lower *L, uint32_t entry, uint64_t value, unsigned bits)
{
    const uint8_t *at = L->code->pool + (entry & ~3u);
    uint64_t have = 0;
    if ((entry & 3) != (bits == 64 ? 2u : bits == 32 ? 1u : 3u))
        return false;
    memcpy(&have, at, bits == 64 ? 8 : 4);
    return have == (bits == 64 ? value : (uint32_t)value);
}

static bool pool_index_grow(struct lower *L)
{
    uint32_t room = L->pool_index_room ? L->pool_index_room * 2 : 64;
    uint32_t *index = calloc(room, sizeof *index);
    if (!index) {
        lower_fail(L, -ENOMEM, "out of memory");
        return false;
    }
    for (uint32_t i = 0; i < L->pool_index_room; i++) {
        uint32_t entry = L->pool_index[i];
        if (!entry)
            continue;
        uint64_t value = 0;
        unsigned bits = (entry & 3) == 2 ? 64 : (entry & 3) == 1 ? 32 : 1;
        memcpy(&value, L->code->pool + (entry & ~3u), bits == 64 ? 8 : 4);
        uint32_t h = pool_hash(value, bits) & (room - 1);
        while (index[h])
            h = (h + 1) & (room - 1);
        index[h] = entry;
    }
    free(L->pool_index);
    L->pool_index = index;
    L->pool_index_room = room;
    return true;
}

// Adds one slot to the pool, aligned for the host's vectors. Returns 0 after an error.
static uint32_t pool_add(struct lower *L, uint64_t value, unsigned bits)
{
    struct code *c = L->code;
    uint32_t bytes = bits == 64 ? LANES * 8 : bits == 32 ? LANES * 4 : SLOT_ALIGN;
    // Offset 0 means none.
    uint32_t at = c->pool_bytes ? c->pool_bytes : SLOT_ALIGN;
    if (L->program->pool_bytes + bytes > MAX_POOL) {
        lower_fail(L, -E2BIG, "too many constants");
        return 0;
    }
    if (at + bytes > L->pool_room) {
        size_t room = L->pool_room ? L->pool_room * 2 : 4096;
        uint8_t *grown = aligned_alloc(SLOT_ALIGN, room);
        if (!grown) {
            lower_fail(L, -ENOMEM, "out of memory");
            return 0;
        }
        memset(grown, 0, room);
        if (c->pool)
            memcpy(grown, c->pool, c->pool_bytes);
        free(c->pool);
        c->pool = grown;
        L->pool_room = room;
    }
    if (bits == 64)
        u64_splat(c->pool + at, value);
    else
        for (unsigned l = 0; l < (bits == 32 ? LANES : 1); l++)
            memcpy(c->pool + at + 4 * l, &(uint32_t){(uint32_t)value}, 4);
    c->pool_bytes = at + bytes;
    L->program->pool_bytes += bytes;
    return at;
}

static uint32_t pool_const(struct lower *L, uint64_t value, unsigned bits)
{
    if (L->error)
        return 0;
    if (L->pool_entries * 2 >= L->pool_index_room && !pool_index_grow(L))
        return 0;
    uint32_t mask = L->pool_index_room - 1;
    uint32_t h = pool_hash(bits == 64 ? value : (uint32_t)value, bits) & mask;
    for (; L->pool_index[h]; h = (h + 1) & mask)
        if (pool_matches(L, L->pool_index[h], value, bits))
            return (L->pool_index[h] & ~3u) | 1;
    uint32_t at = pool_add(L, value, bits);
    if (!at)
        return 0;
    L->pool_index[h] = at | (bits == 64 ? 2u : bits == 32 ? 1u : 3u);
    L->pool_entries++;
    return at | 1;
}

uint32_t lower_const32(struct lower *L, uint32_t value)
{
    return pool_const(L, value, 32);
}

uint32_t lower_const64(struct lower *L, uint64_t value)
{
    return pool_const(L, value, 64);
}

uint32_t lower_const_pred(struct lower *L, bool value)
{
    return pool_const(L, value ? ALL_LANES : 0, 1);
}

// Returns the slot with the address of a .global or .const variable, which is filled in when the
// program is bound.
uint32_t lower_const_address(struct lower *L, const struct ptx_var *v, int64_t addend)
{
    struct exec_program *p = L->program;
    if (L->error)
        return 0;
    if (p->nrelocs == p->relocs_room) {
        size_t room = p->relocs_room ? p->relocs_room * 2 : 16;
        struct pool_reloc *grown = realloc(p->relocs, room * sizeof *grown);
        if (!grown) {
            lower_fail(L, -ENOMEM, "out of memory");
            return 0;
        }
        p->relocs = grown;
        p->relocs_room = room;
    }
    // reuses a slot of the same address; only the last few are examined
    for (size_t i = p->nrelocs, n = 0; i-- > 0 && n < 32; n++) {
        const struct pool_reloc *r = &p->relocs[i];
        if (r->code == L->code && r->var == v->id && r->addend == addend)
            return r->slot | 1;
    }
    uint32_t at = pool_add(L, 0, 64);
    if (!at)
        return 0;
    p->relocs[p->nrelocs++] = (struct pool_reloc){L->code, at, v->id, addend};
    return at | 1;
}
