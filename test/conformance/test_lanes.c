// Lanes of a warp that go different ways: none changes what another one computes.
#include "conform.h"

enum { ROUNDS = 5000, THREADS = 64 };

// By lane, four loops of instructions that keep something between two steps where they take
// several: two predicates, 32 bits, 64 bits, 32 bits of a source. A round adds 1 to the lane's
// word.
static const char loops[] = //
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry loops(.param .u64 out, .param .u64 rounds)\n{\n"
    ".reg .pred %p<6>;\n.reg .b16 %h<6>;\n.reg .b32 %r<8>;\n.reg .f32 %f<4>;\n"
    ".reg .b64 %d<6>;\n"
    "ld.param.u64 %d1, [out];\n"
    "ld.param.u32 %r1, [rounds];\n"
    "mov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %d2, %r2, 4;\n"
    "add.u64 %d1, %d1, %d2;\n"
    "mov.u32 %r3, 0;\nmov.u32 %r5, 0;\n"
    "and.b32 %r4, %r2, 3;\n"
    "setp.eq.u32 %p1, %r2, %r2;\n"
    "setp.eq.u32 %p2, %r4, 1;\n@%p2 bra ADDS;\n"
    "setp.eq.u32 %p2, %r4, 2;\n@%p2 bra HALVES;\n"
    "setp.eq.u32 %p2, %r4, 3;\n@%p2 bra PARTS;\n"
    "PREDICATES:\n"
    "setp.le.and.u32 %p3|%p4, %r3, %r1, %p1;\n"
    "@%p3 add.u32 %r3, %r3, 1;\n"
    "@%p4 add.u32 %r3, %r3, 7;\n"
    "add.u32 %r5, %r5, 1;\n"
    "setp.lt.u32 %p2, %r5, %r1;\n@%p2 bra PREDICATES;\nbra END;\n"
    "ADDS:\n"
    "mad24.lo.u32 %r3, %r3, 1, 1;\n"
    "setp.lt.u32 %p2, %r3, %r1;\n@%p2 bra ADDS;\nbra END;\n"
    "HALVES:\n"
    "cvt.rn.f16.s32 %h1, 1;\n"
    "cvt.f32.f16 %f1, %h1;\n"
    "cvt.rzi.s32.f32 %r7, %f1;\n"
    "add.u32 %r3, %r3, %r7;\n"
    "add.u32 %r5, %r5, 1;\n"
    "setp.lt.u32 %p2, %r5, %r1;\n@%p2 bra HALVES;\nbra END;\n"
    "PARTS:\n"
    "mov.u64 %d3, 0x0001000000000000;\n"
    "mov.b64 {%h2, %h3, %h4, %h5}, %d3;\n"
    "cvt.u32.u16 %r7, %h5;\n"
    "add.u32 %r3, %r3, %r7;\n"
    "add.u32 %r5, %r5, 1;\n"
    "setp.lt.u32 %p2, %r5, %r1;\n@%p2 bra PARTS;\n"
    "END:\n"
    "st.global.u32 [%d1], %r3;\nret;\n}\n";

static void lanes_of_different_loops_keep_to_themselves(void)
{
    CUmodule module;
    CUfunction f;
    CUdeviceptr out = device_alloc(4 * THREADS);
    uint64_t rounds = ROUNDS;
    uint32_t got[THREADS];

    OK(cu.cuModuleLoadData(&module, loops));
    OK(cu.cuModuleGetFunction(&f, module, "loops"));
    OK(cu.cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){&out, &rounds}, NULL));
    OK(cu.cuMemcpyDtoH_v2(got, out, sizeof(got)));
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(got[i] == ROUNDS, "thread %u: %u of %u rounds", i, got[i], ROUNDS);
}

static const struct test tests[] = {
    {"lanes of different loops keep to themselves", lanes_of_different_loops_keep_to_themselves,
     false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
