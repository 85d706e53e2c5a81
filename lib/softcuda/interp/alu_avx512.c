/* The arithmetic handlers for hosts with AVX-512 F, BW, DQ and VL. */
#ifdef __x86_64__
#ifdef __clang__
#pragma clang attribute push(                                                                      \
    __attribute__((                                                                                \
        target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))),        \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
#define ALU_TABLE alu_table_avx512
#include "softcuda/interp/alu_body.inc"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
