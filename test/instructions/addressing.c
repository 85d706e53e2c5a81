// Instructions that address memory, as kernels: see addressing.h.
#include "instructions/addressing.h"

#include <stdio.h>
#include <string.h>

static const char *const forms[] = {
    "ld.u32 %a, [%own];",
    "ld.u32 %a, [%own+4];",
    "ld.u32 %a, [%own+-4];",
    "ld.u32 %a, [%own+1048576];",
    "ld.u32 %a, [%own+1048580];",
    "ld.u32 %a, [%own+2147483644];",
    "ld.u32 %a, [%own+-2147483648];",
    "ld.global.u32 %a, [%own+1048576];",
    "ld.global.u32 %a, [%own+1048580];",
    "ld.global.u32 %a, [%own+-1048576];",
    "ld.global.u32 %a, [%own+-1048580];",
    "ld.global.u32 %a, [%own+2147483644];",
    "ld.global.u32 %a, [%own+-2147483648];",
    "st.global.u32 [%own+2147483644], %a;",
    "st.u32 [%own+-2147483648], %a;",
    "@%own_p ld.global.u32 %a, [%own];",
    "ld.volatile.global.u32 %a, [%own];",
    "ld.volatile.u32 %a, [%own+8];",
    "ld.relaxed.sys.global.u32 %a, [%own];",
    "ld.acquire.gpu.u64 %f, [%own];",
    "ld.mmio.relaxed.sys.global.u32 %a, [%own];",
    "ld.weak.global.u32 %a, [%own];",
    "st.volatile.u32 [%own], %a;",
    "st.release.sys.u64 [%own], %f;",
    "st.mmio.relaxed.sys.global.u32 [%own], %a;",
    "ld.global.nc.u32 %a, [%own];",
    "ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%a, %b, %c, %e}, [%own];",
    "ld.global.L1::evict_last.L2::256B.v4.f32 {%a, %b, %c, %e}, [%own];",
    "ld.global.L2::cache_hint.u32 %a, [%own], %f;",
    "st.global.L2::cache_hint.v4.u32 [%own], {%a, %b, %c, %e}, %f;",
    "ld.global.cv.u32 %a, [%own];",
    "st.global.wt.u32 [%own], %a;",
    "st.global.v2.b64 [%own+16], {%f, %f};",
    "st.v4.b32 [%own+16], {%a, %b, %c, %e};",
    "ldu.global.u32 %a, [%own];",
    "ldu.u32 %a, [%own+4];",
    "atom.global.add.u32 %a, [%own], %b;",
    "atom.acq_rel.sys.global.cas.b64 %f, [%own], %f, %f;",
    "atom.add.f32 %a, [%own+4], %b;",
    "atom.cas.b128 %g, [%own], %g, %g;",
    "atom.global.exch.b128 %g, [%own], %g;",
    "atom.global.v4.add.f32 {%a, %b, %c, %e}, [%own], {%a, %b, %c, %e};",
    "atom.global.cas.b16 %h, [%own], %h, %h;",
    "red.global.add.u32 [%own], %a;",
    "red.release.gpu.add.u64 [%own+8], %f;",
    "red.global.v2.add.f32 [%own], {%a, %b};",
    "red.global.add.noftz.f16x2 [%own], %a;",
    "prefetch.global.L2 [%own];",
    "prefetch.L1 [%own];",
    "prefetchu.L1 [%own];",
    "prefetch.global.L2::evict_last [%own];",
    "applypriority.global.L2::evict_normal [%own], 128;",
    "createpolicy.range.global.L2::evict_last.b64 %f, [%own], %a, %b;",
    "cp.async.ca.shared.global [tile], [%own], 4;",
    "cp.async.cg.shared.global [tile], [%own+16], 16;",
    "cp.async.ca.shared.global [tile+16], [%own+-16], 8, %a;",
    "cp.async.cg.shared.global.L2::128B [tile], [%own], 16, 0;",
    "mbarrier.init.shared.b64 [tile+496], 1; "
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%own], 16, "
    "[tile+496];",
    "mov.u32 %a, 496; mbarrier.init.shared.b64 [tile+504], 1; "
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%own+1048576], %a, "
    "[tile+504];",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [tile], "
    "[memory+8064], 256, [tile+504], %f;",
    "and.b32 %a, %i, 0xf0; mov.b32 %b, tile; @%own_p cp.async.bulk.global.shared::cta.bulk_group "
    "[%own], [%b], %a; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;",
    "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%own+-1048592], [tile], 512, %f;",
    "cp.async.bulk.global.shared::cta.bulk_group [memory+16], [tile], 512;",
    "and.b32 %a, %i, 0xf0; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%own], "
    "[tile], "
    "%a;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.xor.b64 [%own+-1048592], "
    "[tile], "
    "512, %f;",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a,%b,%c,%e,%a,%b,%c,%e}, [%own], %i;",
    "wmma.load.b.sync.aligned.col.m16n16k16.f16 {%a,%b,%c,%e,%a,%b,%c,%e}, [%own], %i;",
    "wmma.load.c.sync.aligned.row.m8n32k16.global.s32 {%a,%b,%c,%e,%a,%b,%c,%e}, [%own], %i;",
    "wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%f}, [%own], 64;",
    "wmma.load.a.sync.aligned.row.m8n8k4.f64 {%f}, [%own+64], 2147483640;",
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%own], {%a,%b,%c,%e,%a,%b,%c,%e}, %i;",
    "wmma.store.d.sync.aligned.col.m32n8k16.s32 [%own], {%a,%b,%c,%e,%a,%b,%c,%e}, %i;",
    "wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%own], {%f, %f}, 0x7fffffff;",
    "ld.global.u32 %a, [%i];",
    "ld.u32 %a, [%i+64];",
    "st.global.u32 [%i+-64], %a;",
    "st.global.u32 [memory+8192], %a;",
    "st.global.u32 [memory+8188], %a;",
    "st.u32 [memory+-4], %a;",
    "ld.global.u32 %a, [memory+2147483640];",
    "mov.u64 %f, memory; add.u64 %f, %f, %own; st.global.u32 [%f], %a;",
    "mov.u64 %f, memory+8; st.u64 [%f+8], %f;",
    "cvta.global.u64 %f, memory; st.u64 [%f+8], %f;",
    "cvta.to.global.u64 %f, %own; st.global.u32 [%f], %a;",
    "cvta.to.shared.u64 %f, %own; cvta.shared.u64 %f, %f; st.u32 [%f], %a;",
    "{ .reg .b64 %own; mov.u64 %own, 0x123456780; st.global.u32 [%own], %a; }",
    "{ .reg .v2 .b64 %v; mov.b64 %v.x, %own; st.global.u32 [%v.x], %a; }",
};

bool addressing_is(const struct instruction *in)
{
    return strstr(in->ptx, "%own");
}

// The list's operands %a %b %c %e %f %g %h %i have these types; %i is half of an address.
bool addressing_form(unsigned n, struct instruction *in)
{
    static const char *const types[] = {"b32", "b32", "b32", "b32", "b64", "b128", "b16", "b32"};
    static const char setup[] = "{ .reg .b32 %hi; mov.b64 {%i, %hi}, %own; shr.u32 %i, %i, 3; "
                                "and.b32 %i, %i, 0xfffffff8; }";

    if (n >= sizeof(forms) / sizeof(forms[0]))
        return false;
    *in = (struct instruction){.nresults = 0, .noperands = 8};
    for (unsigned k = 0; k < 8; k++)
        snprintf(in->operands[k], sizeof(in->operands[k]), "%s", types[k]);
    snprintf(in->ptx, sizeof(in->ptx), ".reg .pred %%own_p; setp.ne.u64 %%own_p, %%own, 0; %s %s",
             setup, forms[n]);
    return true;
}

void addressing_kernel_write(const struct instruction *in, char *out, size_t size)
{
    char *to = out, *end = out + size;

#define PUT(...) to += snprintf(to, (size_t)(end - to), __VA_ARGS__)
    PUT(".version 8.4\n.target sm_90\n.address_size 64\n"
        ".global .align 128 .b8 memory[8192]; .const .align 8 .b64 fixed[4];\n"
        ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %%t; .reg .b64 %%x, %%own;\n"
        ".shared .align 128 .b8 tile[512]; .local .align 128 .b8 mine[512];\n");
    for (unsigned k = 0; k < in->nresults; k++)
        PUT(".reg .b%u %%%s;\n", type_bits(in->result), result_name(k));
    for (unsigned k = 0; k < in->noperands; k++)
        PUT(".reg .b%u %%%c;\n", type_bits(in->operands[k]), "abcefghijklmnopq"[k]);
    PUT("mov.u32 %%t, %%ctaid.x; ld.param.u64 %%x, [p0]; mad.wide.u32 %%x, %%t, 8, %%x; "
        "ld.global.b64 %%own, [%%x]; mov.u64 %%x, tile; cvta.shared.u64 %%x, %%x; "
        "mov.u64 %%x, mine; cvta.local.u64 %%x, %%x;\n");
    if (strstr(in->ptx, "%tile"))
        PUT(".reg .b32 %%tile; mov.u32 %%tile, tile;\n");
    PUT("%s\nret;\n}\n", in->ptx);
#undef PUT
}
