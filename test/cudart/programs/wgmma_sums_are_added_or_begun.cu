// A predicate tells whether a product is added to what the registers hold, constants whether it is negated; from 8 to 256 columns.
#include "wgmma.h"

OF_MEMORY(n8, 1, "m64n8k16.f32.f16.f16", ", 1, 1, 0, 0")
OF_MEMORY(n16, 2, "m64n16k16.f32.f16.f16", ", -1, 1, 0, 0")
OF_MEMORY(n64, 8, "m64n64k16.f32.f16.f16", ", 1, -1, 0, 0")
OF_MEMORY(n128, 16, "m64n128k16.f32.f16.f16", ", -1, -1, 0, 0")
OF_MEMORY(n256, 32, "m64n256k16.f32.f16.f16", ", 1, 1, 0, 0")
OF_MEMORY(half_n256, 16, "m64n256k16.f16.f16.f16", ", -1, 1, 0, 0")
OF_REGISTERS(registers_n256, 32, "m64n256k16.f32.f16.f16", ", 1, -1, 0")
OF_MEMORY(tf32_n24, 3, "m64n24k8.f32.tf32.tf32", ", -1, 1")
OF_REGISTERS(e5m2_n24, 3, "m64n24k32.f32.e5m2.e5m2", ", 1, -1")

/* What is there before counts nothing where the sum begins: it is a NaN. */
static int wrong_of(void (*kernel)(run), type of, type d, int n, int sign, bool in_registers = false)
{
    product p = {kernel,          of,           of,   d,       n,       of.bits == 32 ? 8 : of.bits == 8 ? 32 : 16, 2, in_lines(0),
                 in_lines(16384), in_registers, sign, {-4, 4}, {-3, 4}, NOTHING};
    const int begun = wrong(p);

    p.before = -77;
    return begun + wrong(p);
}

int main()
{
    need_wgmma();
    HOLDS(wrong_of(n8, F16, F32, 8, 1) == 0);                       //> wrong_of(n8, F16, F32, 8, 1) == 0: yes
    HOLDS(wrong_of(n16, F16, F32, 16, -1) == 0);                    //> wrong_of(n16, F16, F32, 16, -1) == 0: yes
    HOLDS(wrong_of(n64, F16, F32, 64, -1) == 0);                    //> wrong_of(n64, F16, F32, 64, -1) == 0: yes
    HOLDS(wrong_of(n128, F16, F32, 128, 1) == 0);                   //> wrong_of(n128, F16, F32, 128, 1) == 0: yes
    HOLDS(wrong_of(n256, F16, F32, 256, 1) == 0);                   //> wrong_of(n256, F16, F32, 256, 1) == 0: yes
    HOLDS(wrong_of(half_n256, F16, F16, 256, -1) == 0);             //> wrong_of(half_n256, F16, F16, 256, -1) == 0: yes
    HOLDS(wrong_of(registers_n256, F16, F32, 256, -1, true) == 0);  //> wrong_of(registers_n256, F16, F32, 256, -1, true) == 0: yes
    HOLDS(wrong_of(tf32_n24, TF32, F32, 24, -1) == 0);              //> wrong_of(tf32_n24, TF32, F32, 24, -1) == 0: yes
    HOLDS(wrong_of(e5m2_n24, E5M2, F32, 24, -1, true) == 0);        //> wrong_of(e5m2_n24, E5M2, F32, 24, -1, true) == 0: yes
}
