/* The arithmetic handlers for hosts with AVX2 and FMA. */
#ifdef __x86_64__
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))),       \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
#define ALU_TABLE alu_table_avx2
#include "softcuda/interp/alu_body.inc"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
