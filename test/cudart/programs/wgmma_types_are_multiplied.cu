// Products of each type, by factors of shared memory and with the left one in registers.
#include "wgmma.h"

#define BOTH(name, quads, words, tail_memory, tail_registers)                                                          \
    OF_MEMORY(name, quads, words, tail_memory)                                                                         \
    OF_REGISTERS(name##_registers, quads, words, tail_registers)

BOTH(f16_to_f32, 3, "m64n24k16.f32.f16.f16", ", 1, 1, 0, 0", ", 1, 1, 0")
BOTH(f16_to_f16, 2, "m64n32k16.f16.f16.f16", ", 1, 1, 0, 0", ", 1, 1, 0")
BOTH(bf16_to_f32, 1, "m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 0", ", 1, 1, 0")
BOTH(tf32_to_f32, 2, "m64n16k8.f32.tf32.tf32", ", 1, 1", ", 1, 1")
BOTH(e4m3_to_f32, 5, "m64n40k32.f32.e4m3.e4m3", ", 1, 1", ", 1, 1")
BOTH(e4m3_e5m2_to_f16, 1, "m64n16k32.f16.e4m3.e5m2", ", 1, 1", ", 1, 1")
BOTH(e5m2_e4m3_to_f32, 1, "m64n8k32.f32.e5m2.e4m3", ", 1, 1", ", 1, 1")
BOTH(e5m2_to_f16, 2, "m64n32k32.f16.e5m2.e5m2", ", 1, 1", ", 1, 1")
BOTH(s8_s8, 4, "m64n32k32.s32.s8.s8", "", "")
BOTH(s8_u8, 1, "m64n8k32.s32.s8.u8", "", "")
BOTH(u8_s8, 1, "m64n8k32.s32.u8.s8", "", "")
BOTH(u8_u8, 12, "m64n96k32.s32.u8.u8", "", "")
BOTH(clamped, 1, "m64n8k32.satfinite.s32.u8.s8", "", "")
BOTH(bits, 3, "m64n24k256.s32.b1.b1.and.popc", "", "")

struct both {
    void (*memory)(run), (*registers)(run);
};
#define KERNELS(name) {name, name##_registers}

static int wrong_of(both kernels, type a, type b, type d, int n, int depth, range ra, range rb, int before = NOTHING,
                    bool saturates = false)
{
    const int steps = before == NOTHING ? 3 : 1;
    product p = {kernels.memory, a,     b, d,  n,  depth,  steps,    in_lines(0), in_lines(16384),
                 false,          1, ra, rb, before, saturates};
    const int of_memory = wrong(p);

    p.kernel = kernels.registers;
    p.a_in_registers = true;
    return of_memory + wrong(p);
}

/* Sums of which half are beyond the largest number. */
enum { AT_THE_END = 0x7fffffff - 260000 };

int main()
{
    const range bit = {0, 1}, fours = {-4, 4}, fives = {-5, 6}, eights = {-8, 8}, thirties = {-30, 30}, hundreds = {-128, 101},
                thousands = {-1000, 1024}, with_sign = {-128, 127}, without = {0, 255}, positive = {1, 127};
    const both f16_f32 = KERNELS(f16_to_f32), f16_f16 = KERNELS(f16_to_f16), bf16 = KERNELS(bf16_to_f32),
               tf32 = KERNELS(tf32_to_f32), e4m3 = KERNELS(e4m3_to_f32), e4m3_e5m2 = KERNELS(e4m3_e5m2_to_f16),
               e5m2_e4m3 = KERNELS(e5m2_e4m3_to_f32), e5m2 = KERNELS(e5m2_to_f16), ss = KERNELS(s8_s8), su = KERNELS(s8_u8),
               us = KERNELS(u8_s8), uu = KERNELS(u8_u8), us_clamped = KERNELS(clamped), b1 = KERNELS(bits);

    need_wgmma();
    HOLDS(wrong_of(f16_f32, F16, F16, F32, 24, 16, thirties, thirties) == 0); //> wrong_of(f16_f32, F16, F16, F32, 24, 16, thirties, thirties) == 0: yes
    HOLDS(wrong_of(f16_f16, F16, F16, F16, 32, 16, fives, fives) == 0); //> wrong_of(f16_f16, F16, F16, F16, 32, 16, fives, fives) == 0: yes
    HOLDS(wrong_of(bf16, BF16, BF16, F32, 8, 16, hundreds, hundreds) == 0); //> wrong_of(bf16, BF16, BF16, F32, 8, 16, hundreds, hundreds) == 0: yes
    HOLDS(wrong_of(tf32, TF32, TF32, F32, 16, 8, thousands, hundreds) == 0); //> wrong_of(tf32, TF32, TF32, F32, 16, 8, thousands, hundreds) == 0: yes
    HOLDS(wrong_of(e4m3, E4M3, E4M3, F32, 40, 32, eights, fours) == 0); //> wrong_of(e4m3, E4M3, E4M3, F32, 40, 32, eights, fours) == 0: yes
    HOLDS(wrong_of(e4m3_e5m2, E4M3, E5M2, F16, 16, 32, fours, fours) == 0); //> wrong_of(e4m3_e5m2, E4M3, E5M2, F16, 16, 32, fours, fours) == 0: yes
    HOLDS(wrong_of(e5m2_e4m3, E5M2, E4M3, F32, 8, 32, fours, eights) == 0); //> wrong_of(e5m2_e4m3, E5M2, E4M3, F32, 8, 32, fours, eights) == 0: yes
    HOLDS(wrong_of(e5m2, E5M2, E5M2, F16, 32, 32, fours, fours) == 0); //> wrong_of(e5m2, E5M2, E5M2, F16, 32, 32, fours, fours) == 0: yes
    HOLDS(wrong_of(ss, INT8, INT8, S32, 32, 32, with_sign, with_sign) == 0); //> wrong_of(ss, INT8, INT8, S32, 32, 32, with_sign, with_sign) == 0: yes
    HOLDS(wrong_of(su, INT8, INT8, S32, 8, 32, with_sign, without) == 0); //> wrong_of(su, INT8, INT8, S32, 8, 32, with_sign, without) == 0: yes
    HOLDS(wrong_of(us, INT8, INT8, S32, 8, 32, without, with_sign) == 0); //> wrong_of(us, INT8, INT8, S32, 8, 32, without, with_sign) == 0: yes
    HOLDS(wrong_of(uu, INT8, INT8, S32, 96, 32, without, without) == 0); //> wrong_of(uu, INT8, INT8, S32, 96, 32, without, without) == 0: yes
    HOLDS(wrong_of(us, INT8, INT8, S32, 8, 32, without, positive, AT_THE_END) == 0); //> wrong_of(us, INT8, INT8, S32, 8, 32, without, positive, AT_THE_END) == 0: yes
    HOLDS(wrong_of(us_clamped, INT8, INT8, S32, 8, 32, without, positive, AT_THE_END, true) == 0); //> wrong_of(us_clamped, INT8, INT8, S32, 8, 32, without, positive, AT_THE_END, true) == 0: yes
    HOLDS(wrong_of(b1, B1, B1, S32, 24, 256, bit, bit) == 0); //> wrong_of(b1, B1, B1, S32, 24, 256, bit, bit) == 0: yes
}
