// The kernels of the conformance tests. Each has three 8-byte parameters, whether it needs them or
// not.
#include "conform.h"

#define ENTRY(name, body)                                                                          \
    ".visible .entry " name "(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n"                   \
    "    .reg .pred %p<4>;\n    .reg .b32 %r<16>;\n    .reg .b64 %a, %b, %c, %rd<16>;\n"           \
    "    ld.param.u64 %a, [a];\n    ld.param.u64 %b, [b];\n    ld.param.u64 %c, [c];\n" body       \
    "    ret;\n}\n"

const char kernels_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .global .align 4 .u32 counter = 5;\n"
                           ".visible .global .align 8 .u64 counter_address = counter;\n"
                           ".visible .const .align 4 .u32 table[4] = {10, 20, 30, 40};\n"
                           ".extern .shared .align 16 .b8 dynamic[];\n"

    ENTRY("empty", "")

    // [a] = b
    ENTRY("store", "    st.global.u32 [%a], %b;\n")
        ENTRY("store64", "    st.global.u64 [%a], %b;\n")

    // [a] = [a] * b + c: the order of two of them shows
    ENTRY("step", "    ld.global.u32 %r1, [%a];\n    cvt.u32.u64 %r2, %b;\n"
                  "    cvt.u32.u64 %r3, %c;\n    mad.lo.u32 %r1, %r1, %r2, %r3;\n"
                  "    st.global.u32 [%a], %r1;\n")

    // waits until [a] is b, then [c] = 1 unless c is 0
    ENTRY("await", "again:\n    ld.volatile.global.u64 %rd1, [%a];\n"
                   "    setp.ne.u64 %p1, %rd1, %b;\n    @%p1 bra again;\n"
                   "    setp.eq.u64 %p2, %c, 0;\n    @%p2 ret;\n"
                   "    st.volatile.global.u64 [%c], 1;\n")

    // [a + 4 * block] = %smid, then waits b ns
    ENTRY("where", "    mov.u32 %r1, %smid;\n    mov.u32 %r2, %ctaid.x;\n"
                   "    mul.wide.u32 %rd1, %r2, 4;\n    add.u64 %rd1, %rd1, %a;\n"
                   "    mov.u32 %r4, %tid.x;\n    setp.ne.u32 %p2, %r4, 0;\n"
                   "    @!%p2 st.global.u32 [%rd1], %r1;\n"
                   "    mov.u64 %rd2, %globaltimer;\n    add.u64 %rd2, %rd2, %b;\n"
                   "again:\n    mov.u64 %rd3, %globaltimer;\n"
                   "    setp.lt.u64 %p1, %rd3, %rd2;\n    @%p1 bra again;\n")

    // each thread: [a] += 1; with c: then waits until [a] is c
    ENTRY("meet", "    atom.global.add.u32 %r1, [%a], 1;\n    setp.eq.u64 %p1, %c, 0;\n"
                  "    @%p1 ret;\n    cvt.u32.u64 %r2, %c;\n"
                  "again:\n    ld.volatile.global.u32 %r1, [%a];\n"
                  "    setp.lt.u32 %p2, %r1, %r2;\n    @%p2 bra again;\n")

    // [a] = the address in %envreg1 and %envreg2
    ENTRY("workspace", "    mov.u32 %r1, %envreg1;\n    mov.u32 %r2, %envreg2;\n"
                       "    mov.b64 %rd1, {%r2, %r1};\n    st.global.u64 [%a], %rd1;\n")

    // [a + 4i] = b + i for its thread i
    ENTRY("count", "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n"
                   "    mov.u32 %r3, %tid.x;\n    mad.lo.u32 %r4, %r1, %r2, %r3;\n"
                   "    mul.wide.u32 %rd1, %r4, 4;\n    add.u64 %rd1, %rd1, %a;\n"
                   "    cvt.u32.u64 %r5, %b;\n    add.u32 %r5, %r5, %r4;\n"
                   "    st.global.u32 [%rd1], %r5;\n")

    // [a] = counter, [a + 4] = table[2], [a + 8] = [counter_address]; counter = b
    ENTRY("globals", "    ld.global.u32 %r1, [counter];\n    st.global.u32 [%a], %r1;\n"
                     "    ld.const.u32 %r2, [table+8];\n    st.global.u32 [%a+4], %r2;\n"
                     "    ld.global.u64 %rd1, [counter_address];\n"
                     "    ld.global.u32 %r3, [%rd1];\n    st.global.u32 [%a+8], %r3;\n"
                     "    cvt.u32.u64 %r4, %b;\n    st.global.u32 [counter], %r4;\n")

    // writes b to byte c - 4 of dynamic shared memory and reads it back to [a]
    ENTRY("dynamic_end", "    mov.u64 %rd1, dynamic;\n    add.u64 %rd1, %rd1, %c;\n"
                         "    cvt.u32.u64 %r1, %b;\n    st.shared.u32 [%rd1+-4], %r1;\n"
                         "    ld.shared.u32 %r2, [%rd1+-4];\n    st.global.u32 [%a], %r2;\n")

        ENTRY("load", "    ld.global.u32 %r1, [%a];\n    st.global.u32 [%b], %r1;\n")
            ENTRY("trap", "    trap;\n")

                ".visible .entry shapes(.param .u8 small, .param .u64 pointer, .param .align 4 .b8 "
                "box[12],"
                " .param .u16 last)\n{\n    ret;\n}\n"
                ".visible .entry bounded(.param .u64 a)\n.maxntid 128, 1, 1\n{\n    ret;\n}\n";
