/* kernels.c - the kernels, as PTX text; see device.h. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/cell.h"
#include "lib/device.h"

#define HEAD   ".version 7.0\n.target sm_75\n.address_size 64\n"
#define PARAMS "(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 d)\n"

const char *const kernel_names[KERNEL_COUNT] = {"nop", "add", "chains"};

/* chains: x = x * m + k four times side by side; each is a dependent chain, so that the time is the
 * latency of the multiply-add and one thread's worth of the device. */
const char kernels_ptx[] =
    HEAD ".visible .entry nop" PARAMS "{ ret; }\n"
         ".visible .entry add" PARAMS "{\n"
         ".reg .u64 %t<3>; .reg .u32 %r;\n"
         "ld.param.u64 %t0, [a]; ld.param.u32 %r, [d]; cvt.u64.u32 %t1, %r;\n"
         "ld.global.u64 %t2, [%t0]; add.u64 %t2, %t2, %t1; st.global.u64 [%t0], %t2;\n"
         "ret; }\n"
         ".visible .entry chains" PARAMS "{\n"
         ".reg .u64 %t; .reg .u32 %n; .reg .pred %p; .reg .f32 %x<4>; .reg .f32 %m; .reg .f32 %k;\n"
         "ld.param.u64 %t, [a]; ld.param.u32 %n, [d];\n"
         "mov.f32 %x0, 0f3F800000; mov.f32 %x1, 0f40000000; mov.f32 %x2, 0f40400000;\n"
         "mov.f32 %x3, 0f40800000; mov.f32 %m, 0f3F7FBE77; mov.f32 %k, 0f3A83126F;\n"
         "setp.eq.u32 %p, %n, 0; @%p bra done;\n"
         "again:\n"
         "fma.rn.f32 %x0, %x0, %m, %k; fma.rn.f32 %x1, %x1, %m, %k;\n"
         "fma.rn.f32 %x2, %x2, %m, %k; fma.rn.f32 %x3, %x3, %m, %k;\n"
         "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra again;\n"
         "done:\n"
         "add.f32 %x0, %x0, %x1; add.f32 %x2, %x2, %x3; add.f32 %x0, %x0, %x2;\n"
         "st.global.f32 [%t], %x0;\n"
         "ret; }\n";

char *kernels_large_ptx(unsigned instructions, unsigned seed)
{
    size_t room = 512 + (size_t)instructions * 64, at;
    char *text = malloc(room);

    if (text == NULL)
        cell_fail("no memory for a module of %u instructions", instructions);
    at = (size_t)snprintf(text, room,
                          HEAD ".visible .entry large" PARAMS "{\n"
                               ".reg .u64 %%t; .reg .f32 %%x<8>;\n"
                               "ld.param.u64 %%t, [a]; ld.global.f32 %%x0, [%%t];\n");
    for (int i = 1; i < 8; i++)
        at += (size_t)snprintf(text + at, room - at, "mov.f32 %%x%d, %%x0;\n", i);
    for (unsigned i = 0; i < instructions; i++)
        at += (size_t)snprintf(text + at, room - at, "fma.rn.f32 %%x%u, %%x%u, %%x%u, 0f3F%06X;\n",
                               i % 8, (i + 3) % 8, (i * 5 + 1) % 8, (seed * 977 + i) & 0x7fffffu);
    snprintf(text + at, room - at, "st.global.f32 [%%t], %%x0; ret; }\n");
    return text;
}
