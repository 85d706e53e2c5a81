/* Written by make_random 5 2. arch: 90, debug: no, clang: no */
#include "random.h"
#ifndef DEVICE_CODE
# 5 "random_5.cu" 3
#endif
struct tallies {
    u32 tally_add[4];
    u64 tally_add64[4];
    u32 tally_xor[4];
    u64 tally_or[4];
    i32 tally_max[4];
    u64 tally_min[4];
    u64 tally_loop[4];
};
struct s0 {
    f32 f0;
    u8 f1;
    i64 f2;
    i16 f3;
};
INLINE struct s0 make_s0(f32 f0, u8 f1, i64 f2, i16 f3)
{
    struct s0 s;
    s.f0 = f0;
    s.f1 = f1;
    s.f2 = f2;
    s.f3 = f3;
    return s;
}
struct s1 {
    u16 f0;
    i8 f1;
};
INLINE struct s1 make_s1(u16 f0, i8 f1)
{
    struct s1 s;
    s.f0 = f0;
    s.f1 = f1;
    return s;
}
struct s2 {
    i64 f0;
    i16 f1;
    u64 f2;
    f64 f3;
};
INLINE struct s2 make_s2(i64 f0, i16 f1, u64 f2, f64 f3)
{
    struct s2 s;
    s.f0 = f0;
    s.f1 = f1;
    s.f2 = f2;
    s.f3 = f3;
    return s;
}
TABLE i16 table0[8] = {((i16)6u), ((i16)2u), ((i16)62922u), ((i16)101u), ((i16)152u), ((i16)2u), ((i16)2047u), ((i16)5u)};
CONSTANT u32 table1[8] = {((u32)67108863u), ((u32)0u), ((u32)4194303u), ((u32)262144u), ((u32)1463469466u), ((u32)47u), ((u32)76u), ((u32)41u)};
CONSTANT f64 table2[16] = {1e10, 16777215.0, -1.5, 0.0, 0.0, 1e10, -1e-3, 0.1, -1.5, -1.5, 16777215.0, 1.0, -1.5, 16777215.0, -1e-3, -1.5};
CONSTANT u8 table3[16] = {((u8)3u), ((u8)15u), ((u8)96u), ((u8)2u), ((u8)194u), ((u8)135u), ((u8)140u), ((u8)209u), ((u8)89u), ((u8)135u), ((u8)144u), ((u8)154u), ((u8)225u), ((u8)0u), ((u8)56u), ((u8)0u)};
TABLE u32 u32s[16] = {((u32)3083851921u), ((u32)3675868048u), ((u32)407255946u), ((u32)67108863u), ((u32)80u), ((u32)2u), ((u32)16777215u), ((u32)1073741823u), ((u32)3182683386u), ((u32)1370749750u), ((u32)244u), ((u32)4u), ((u32)140u), ((u32)3624582912u), ((u32)243u), ((u32)4u)};
TABLE u32 *u32s_at[4] = {(TABLE_TYPE u32 *)u32s + 7, (TABLE_TYPE u32 *)u32s + 5, (TABLE_TYPE u32 *)u32s + 5, (TABLE_TYPE u32 *)u32s + 10};
TABLE u64 u64s[16] = {((u64)18u), ((u64)18014398509481983ull), ((u64)33554431u), ((u64)36028797018963967ull), ((u64)73u), ((u64)6u), ((u64)18014398509481984ull), ((u64)7u), ((u64)149u), ((u64)2u), ((u64)1u), ((u64)2047u), ((u64)180u), ((u64)11646276864654372283ull), ((u64)120u), ((u64)5u)};
TABLE u64 *u64s_at[4] = {(TABLE_TYPE u64 *)u64s + 10, (TABLE_TYPE u64 *)u64s + 5, (TABLE_TYPE u64 *)u64s + 1, (TABLE_TYPE u64 *)u64s + 9};
static GLOBAL u64 mine[1024];
NOINLINE u32 f0(u32 p0, f32 p1, i32 p2, u32 p3)
{
    i8 v1 = sub_i8(((rem_i64(((i64)17592186044415ull), ((i64)5u)) == i64_of_f32(p1)) ? min_i8((i8)(p2), ((i8)63u)) : div_i8(((i8)38u), ((i8)8u))), ((i8)217u));
    u64 v2 = carry((u64)(mul_i8(v1, ((i8)83u))), rot_u64(((u64)6u), (u32)(p0 | p3)));
    if ((sub_u32(p3, p3) & 1u)) {
        f64 v3 = add_f64(table2[(popc_u32((u32)(v2)) & 15u)], sub_f64(((v2 >= v2) ? (f64)(p2) : 0.1), 3.0e5));
    }
    u32 n5 = rot_u32(shr_u32(p0, ((u32)457573786u)), p3) % 4u;
    for (u32 k4 = 0; k4 < n5; k4++) {
        i32 v6 = (((mulhi_i32(p2, p2) == mul24_i32(p2, p2)) && (min_u32(k4, (u32)(v2)) & 12u)) ? p2 : (((i16)(~((i16)19872u)) <= add_i16(((i16)16u), ((i16)86u))) ? shr_i32((i32)bits_f32(p1), k4) : add_i32(p2, p2)));
        i64 v7 = shl_i64((i64)(~rot_i64(((i64)0u), p0)), p3);
        u32 n9 = (u32)(shr_i8((i8)(v6), p0)) % 16u;
        for (u32 k8 = 0; k8 < n9; k8++) {
            p0 = sub_u32(p0, mul24_u32(add_u32(shl_u32(k4, k8), (u32)(((u32)8u) | k8)), (u32)(p0 ^ funnel_rc(p3, k8, k8))));
            p1 = f32_of_half(((u16)64u));
            switch (k8 % 13u) {
            case 0:
            {
                p3 = add_u32(p3, p3);
            }
            break;
            case 1:
            {
                p3 = add_u32(p3, bfind((u32)((u32)(((i8)0u)) ^ shr_u32(k4, (u32)(p2)))));
                v7 = (i64)(v7 ^ i64_of_f64(add_f64(round_f64(-1e-3), (f64)((i64)(p2)))));
            }
            case 2:
            case 3:
            {
                u8 v10 = ((u8)0u);
            }
            break;
            case 4:
            {
                v2 = sub_u64(v2, rem_u64(mul_u64(add_u64(v2, v2), bits_f64(0.0)), u64_of_f64(1.0)));
            }
            break;
            case 5:
            {
                v7 = add_i64(v7, ((add_u32((u32)(v6), k4) & 12u) ? (i64)((u128)(((u128)1u) ^ ((u128)1u))) : (i64)(div_i64(v7, v7) | i64_of_f64(0.1))));
            }
            break;
            case 6:
            {
                i16 v11 = (i16)bits_f64((f64)(max_u8(((u8)169u), (u8)bits_f32(p1))));
                v11 = (i16)(add_i16(div_i16(v11, v11), min_i16(v11, v11)) | table0[(add_u32(p3, k4) & 7u)]);
            }
            break;
            case 7:
            {
                p2 = add_i32(p2, max_i32(((i32)131071u), v6));
            }
            break;
            case 8:
            {
                u16 v12 = (u16)(v6);
            }
            break;
            case 9:
            {
                p3 = add_u32(p3, p0);
                i16 v13 = ((i16)52553u);
            }
            break;
            case 10:
            {
                v7 = (((i64)bits_f64(trunc_f64(3.0e5)) > i64_of_f64(root_f64(0.0))) ? (i64)(k4) : ((i64)2u));
                v6 = (i32)(v6 ^ (((i64)((i64)(((u64)6u)) & mul_i64(v7, v7)) != shl_i64(((set_and((f64)(v6), -7.25e-20, k8) & 12u) ? v7 : v7), (u32)(p3 & p0))) ? (i32)(~sub_i32(v6, v6)) : mul_i32(add_i32(((i32)7u), p2), ((((i32)4u) != v6) ? ((i32)1u) : ((i32)268435455u)))));
            }
            break;
            case 11:
            {
                p3 = (u32)(p3 & k8);
            }
            break;
            
            }
        }
    }
    struct s1 s14 = make_s1((u16)(((u16)4u) ^ (u16)(p2)), min_i8(v1, (i8)(v2)));
    f64 v15 = ((((shl_u32((u32)bits_f32(p1), ((u32)2555194640u)) & 3u) ? p3 : p3) & 5u) ? add_f64(((((u32)55u) & 3u) ? 1.0 : 0.0), 3.0e5) : (- trunc_f64(-7.25e-20)));
    u64 h = 0;
    h = mix(h, (u64)p0);
    h = mix(h, (u64)bits_f32(p1));
    h = mix(h, (u64)p2);
    h = mix(h, (u64)p3);
    h = mix(h, (u64)v1);
    h = mix(h, (u64)v2);
    h = mix(h, (u64)bits_f64(v15));
    h = mix(h, (u64)s14.f0);
    h = mix(h, (u64)s14.f1);
    return (u32)h;
}
NOINLINE f64 f1(u32 mask, u64 p0, f32 p1, i16 p2, i32 p3)
{
    i8 a1[4];
    for (u32 i = 0; i < 4u; i++) a1[i] = (i8)(i + bfe((u32)(p3), ((u32)559080977u), ((u32)40792735u)));
    i16 a2[16];
    for (u32 i = 0; i < 16u; i++) a2[i] = (i16)(i + shl_u32(((u32)99u), ((u32)3344197245u)));
    p2 = (i16)(p2 | p2);
    u32 q3 = (u32)((u8)(((u8)230u) | ((u8)138u))) % 4u;
    for (u32 k4 = 0; k4 < 9u; k4++) {
    switch (q3) {
    case 0: {
        a2[(shr_u32(sub_u32(q3, k4), ffs_u64((u64)(p2))) & 15u)] = (i16)(max_u8(rem_u8((u8)(p2), ((u8)0u)), rem_u8(((u8)4u), ((u8)156u))));
    q3 = (((u128)5u) == min_u128(((u128)7u), ((u128)5435706148122544352ull))) ? 1u : (u32)(k4 ^ q3) % 4u;
    }
    case 1: {
        u32 v6 = (u32)(add_u16((u16)(((u32)(((u32)220u) ^ k4) & 3u)), rem_u16(((u16)239u), (u16)(q3))));
        u16 v7 = (u16)bits_f32(sub_f32(-1.5f, add_f32((f32)(p2), (f32)(p3))));
    q3 = ((u32)(((u64)9103584198578678535ull)) & 1u) ? 3u : u32_of_f64((f64)(p2)) % 4u;
    }
    continue;
    case 2: {
        i8 v8 = (i8)(min_i8(((i8)80u), (i8)(((i8)60u) ^ ((i8)51u))) | min_i8(a1[((u32)(p3) & 3u)], (i8)(((i8)232u) | ((i8)127u))));
    if ((a1[(q3 & 3u)] == rot_i8(((i8)0u), (u32)bits_f32(p1)))) goto out5;
    q3 = (div_i64(((i64)1u), ((i64)64u)) == (i64)(((i64)219u) | (i64)(p3))) ? 0u : set_and(-1e-3, (f64)(q3), q3) % 4u;
    }
    case 3: {
        if (((u32)(~q3) & 5u) && mul24_u32(((u32)175u), (u32)(p3)) % 3u == 0u) return root_f64(-1e-3);
    q3 = (vabsdiffu4(k4, ((u32)374198687u)) & 1u) ? 2u : narrow_sat(((i64)17466292019718622569ull)) % 4u;
    }
    default: ;
    }
    }
    out5: ;
    p0 = ((u64)4699699174160432438ull);
    u32 n10 = (u32)((u32)((u32)bits_f32(p1) & ((u32)4279032368u)) ^ vmaxs2(((u32)7u), ((u32)8388608u))) % 4u;
    for (u32 k9 = 0; k9 < n10; k9++) {
        u64 v11 = (u64)(sub_u64((u64)(((i8)1u)), mulhi_u64(p0, p0)) ^ shr_u64((u64)(((i8)188u)), table1[(k9 & 7u)]));
        u32 q12 = (u32)(i64_of_f64(16777215.0)) % 6u;
        for (u32 k13 = 0; k13 < 14u; k13++) {
        switch (q12) {
        case 0: {
            p1 = add_f32(sub_f32(add_f32(p1, p1), (f32)(k9)), p1);
        q12 = (k13 & 2u) ? 4u : min_u32(q12, q12) % 6u;
        }
        break;
        case 1: {
            p3 = (i32)(p3 ^ (((u16)(((u128)49u)) == ((((funnel_lc(k13, k9, (u32)bits_f32(p1)) & 1u) ? ((u32)242u) : q12) & 5u) ? div_u16((u16)(v11), ((u16)64276u)) : ((u16)28u))) ? add_i32(div_i32(p3, ((i32)1993341811u)), (i32)(((u32)(k9 ^ (u32)(v11)) & 3u))) : (i32)((((i64)17403759647931329060ull) < ((i64)17800080947513919202ull)))));
            p2 = mul_i16(p2, ((mul_f32(root_f32(p1), sub_f32(p1, p1)) >= sub_f32(p1, mul_f32((f32)(k9), p1))) ? (i16)bits_f32(((((i8)61u) > ((i8)224u)) ? p1 : -1.5f)) : (i16)bits_f32(mul_f32(p1, p1))));
        q12 = ((- 3.0e5) != add_f64((f64)(p1), 0.1)) ? 5u : bfi(k9, ((u32)4u), k13, q12) % 6u;
        }
        break;
        case 2: {
            i8 v15 = div_i8(sub_i8((i8)bits_f32(p1), (i8)(q12)), (i8)(a1[(k9 & 3u)] | ((((u128)4896198497087748354ull) != (u128)(p3)) ? ((i8)68u) : ((i8)64u))));
            u32 v16 = div_u32((u32)(sub_u16(((u16)59991u), ((u16)5u))), (u32)(u32s_at[((u32)(p0) & 3u)][(k9 & 3u)] & rot_u32(k13, (u32)(p2))));
        q12 = (((u32)(((u8)51u)) & 5u) != (((u8)66u) == ((u8)87u))) ? 1u : shr_u32((u32)(v11), ((u32)112u)) % 6u;
        }
        continue;
        case 3: {
            u128 v17 = (u128)(((i64)4u));
        q12 = (((u32)bits_f32(p1) > ((u32)207u)) && (((u128)2147483648u) <= ((u128)134217728u))) ? 1u : sub_u32(q12, k13) % 6u;
        }
        break;
        case 4: {
            p0 = rot_u64((u64)(u64s_at[(q12 & 3u)][(k9 & 3u)] & (u64)(p3)), lop3_or(u32s_at[(((u32)2u) & 3u)][(k13 & 3u)], table1[(k13 & 7u)], mul_u32(q12, k13)));
            p2 = add_i16(p2, shr_i16((i16)bits_f64(mul_f64(16777215.0, 3.0e5)), (u32)((u32)(((u8)162u)) & ((u32)1048576u))));
        q12 = (((p1 >= p1) ? (u8)(q12) : ((u8)8u)) > max_u8(((u8)0u), ((u8)1u))) ? 0u : funnel_l(k9, q12, ((u32)6u)) % 6u;
        }
        case 5: {
            p0 = v11;
            v11 = (u64)(v11 | (((min_f64(1.0, 0.0) != floor_f64((f64)(v11))) != ((f32)(((u16)4u)) > (((u32)(((i32)0u)) & 5u) ? 0.0f : p1))) ? ((((u8)8u) > ((u8)5u)) ? (u64)(p0 ^ p0) : ((u64)36u)) : (u64)(mad_wide_hi((u32)bits_f32(p1), k13, v11) ^ sub_u64(p0, p0))));
        q12 = (q12 & 1u) ? 3u : hless(((u16)26u), ((u16)16383u)) % 6u;
        }
        break;
        default: ;
        }
        }
        out14: ;
        u32 q18 = funnel_lc(sad_i32(((i32)0u), p3, k9), add_u32(k9, k9), sub_u32(k9, (u32)(v11))) % 3u;
        for (u32 k19 = 0; k19 < 14u; k19++) {
        switch (q18) {
        case 0: {
            u32 v21 = prmt_rc16(((p2 == (i16)(((i16)6u) ^ p2)) ? max_u32(q18, ((u32)253u)) : q18), (u32)(max_i16(p2, p2)), add_u32(add_u32(q18, q18), (u32)((u128)bits_f32(p1))));
            i64 v22 = (i64)(v21);
        if ((max_u32(((u32)2442072781u), k19) == prmt_rc16(q18, k9, k9))) goto out20;
        q18 = (k9 & 12u) ? 1u : bfe(((u32)6u), ((u32)4096u), k9) % 3u;
        }
        break;
        case 1: {
            p3 = add_i32(p3, i32_of_f32((f32)((u32)((u32)bits_f32(p1) & (u32)(p3)))));
        q18 = ((u128)(((u128)6u) ^ (u128)(v11)) > ((u128)6u)) ? 1u : k19 % 3u;
        }
        break;
        case 2: {
            f64 v23 = (f64)(min_u8((u8)(((u8)231u) & ((u8)31u)), (u8)(v11)));
            p3 = (i32)(p3 ^ p3);
        q18 = (((((i32)191u) < p3) ? ((u16)4u) : (u16)bits_f32(p1)) >= (u16)(q18)) ? 2u : shl_u32(k9, k9) % 3u;
        }
        continue;
        default: ;
        }
        }
        out20: ;
        u8 v24 = add_u8(shr_u8((u8)((((u16)152u) > ((u16)4u))), (u32)(((u32)0u) | k9)), rem_u8(((k9 & 12u) ? ((u8)16u) : (u8)(p3)), (u8)(k9)));
    }
    u64 h = 0;
    h = mix(h, (u64)p0);
    h = mix(h, (u64)bits_f32(p1));
    h = mix(h, (u64)p2);
    h = mix(h, (u64)p3);
    h = mix(h, (u64)a1[0]);
    h = mix(h, (u64)a1[3]);
    h = mix(h, (u64)a2[0]);
    h = mix(h, (u64)a2[3]);
    h = mix(h, (u64)a2[6]);
    h = mix(h, (u64)a2[9]);
    h = mix(h, (u64)a2[12]);
    h = mix(h, (u64)a2[15]);
    return (f64)(i32)h;
}
NOINLINE i8 f2(u32 mask, f64 p0, struct s2 p1)
{
    u16 a1[16];
    for (u32 i = 0; i < 16u; i++) a1[i] = (u16)(i + (u32)(((u32)641552968u) | ((u32)1u)));
    i16 a2[8];
    for (u32 i = 0; i < 8u; i++) a2[i] = (i16)(i + funnel_l(((u32)6u), ((u32)2610617936u), (u32)bits_f64(p0)));
    u128 v3 = (u128)(~(u128)(add_u128(((u128)268435456u), (u128)bits_f64(p0)) ^ ((u128)11100000258642727589ull)));
    f64 w4 = f1(mask, ((max_u64((u64)(v3), ((u64)p1.f2)) < mad_wide_hi(((u32)218u), ((u32)134217727u), ((u64)p1.f2))) ? bfe_s64(((u64)8000386753225919804ull), ((u32)0u), ((u32)134217727u)) : (u64)((u64)bits_f64(p0) & (u64)bits_f64(p0))), round_f32(mul_f32(3.0e5f, (f32)(p0))), ((i16)p1.f1), ((1.0f == (f32)(u64)(v3)) ? shl_i32(((i32)3536451103u), ((u32)234u)) : (i32)(~((i32)5u))));
    a1[((u32)((i32)(((i16)p1.f1))) & 15u)] = sub_u16((u16)(shr_u16(((u16)63u), ((u32)7u)) | ((((i16)p1.f1) > ((i16)p1.f1)) ? ((u16)166u) : ((u16)32767u))), (u16)(max_u16(((u16)36490u), ((u16)7u)) & hmul(((u16)2047u), (u16)bits_f64(p0))));
    f64 w5 = f1(mask, (u64)(~(u64)bits_f64(w4)), (f32)((((u32)(((u32)4194303u) | ((u32)191u)) & 1u) ? ((u32)4194303u) : ((u32)65u))), min_i16(((((i64)p1.f0) == ((i64)p1.f0)) ? ((i16)p1.f1) : ((i16)p1.f1)), max_i16((i16)bits_f64(p0), ((i16)p1.f1))), ((i32)2u));
    p1.f0 = i64_of_f32((f32)(u64)((u128)(((u128)119u) | v3)));
    u32 v6 = sub_u32(u32s_at[(vcmpgtu4(((u32)885758509u), ((u32)2u)) & 3u)][(sub_u32(((u32)373499501u), ((u32)8u)) & 3u)], ((u32)5u));
    u64 h = 0;
    h = mix(h, (u64)bits_f64(p0));
    h = mix(h, (u64)v3 ^ (u64)(v3 >> 64));
    h = mix(h, (u64)bits_f64(w4));
    h = mix(h, (u64)bits_f64(w5));
    h = mix(h, (u64)v6);
    h = mix(h, (u64)a1[0]);
    h = mix(h, (u64)a1[3]);
    h = mix(h, (u64)a1[6]);
    h = mix(h, (u64)a1[9]);
    h = mix(h, (u64)a1[12]);
    h = mix(h, (u64)a1[15]);
    h = mix(h, (u64)a2[0]);
    h = mix(h, (u64)a2[3]);
    h = mix(h, (u64)a2[6]);
    h = mix(h, (u64)p1.f0);
    h = mix(h, (u64)p1.f1);
    h = mix(h, (u64)p1.f2);
    h = mix(h, bits_f64(p1.f3));
    return (i8)h;
}
NOINLINE u32 f3(u32 depth, i16 p1, u32 p2, u64 p3, i32 p4)
{
    p3 = p3;
    p3 = div_u64(u64_of_f64(floor_f64(16777215.0)), (u64)(depth));
    u64 v1 = (u64)(mulhi_i32(rot_i32(p4, depth), mul24_i32(p4, ((i32)3u))));
    p3 = (u64)(max_i16((i16)(p1 | ((i16)2u)), p1));
    if (((i32)(add_i16(p1, p1)) >= add_i32((i32)(p4 ^ p4), div_i32(((i32)536870912u), ((i32)118u))))) {
        u16 v2 = (u16)(table3[(prmt_f4e(((u32)4u), depth, (u32)(p4)) & 15u)]);
        v2 = (u16)(v2 ^ v2);
        p1 = mul_i16(p1, table0[(mul_u32(depth, (u32)(p4)) & 7u)]);
    } else {
        i64 v3 = ((i64)20u);
        p2 = sub_u32(p2, mul_u32(shl_u32(((p2 & 5u) ? p2 : p2), p2), u32_of_f32(max_f32(-1.5f, 0.1f))));
        switch (depth % 4u) {
        case 0:
        {
            p2 = set_and(((3.0e5f <= max_f32(1e10f, 16777215.0f)) ? (f64)(p1) : root_f64(0.0)), (f64)((u8)((u8)(p1) & ((u8)242u))), shr_u32(add_u32(depth, ((u32)31u)), clz_u64(v1)));
        }
        case 1:
        {
            u16 v4 = mul_u16(u16_of_f32(-7.25e-20f), max_u16((u16)(((u16)1u) | ((u16)168u)), (u16)((u32)(v3))));
        }
        break;
        case 2:
        {
            u8 v5 = (u8)((u8)(~((shr_u32(depth, (u32)(v3)) & 5u) ? ((u8)1u) : (u8)(v3))) & (u8)(min_u8(((u8)57u), ((u8)52u)) & sub_u8(((u8)0u), ((u8)127u))));
            p3 = (u64)(p3 ^ brev_u64(rem_u64(brev_u64(p3), shl_u64(p3, (u32)(v5)))));
        }
        break;
        default: {
            v1 = sub_u64(v1, p3);
        }
        
        }
    }
    if (depth > 0u && (add_u32(p2, depth) & 3u))
        return add_u32(f3(depth - 1u, div_i16(max_i16(p1, ((i16)35968u)), add_i16(((i16)6889u), (i16)(p2))), max_u32(sub_u32(depth, p2), (u32)(p2 | depth)), (u64)((u128)(~((u128)5u))), (i32)(p4 & ((depth & 12u) ? p4 : p4))), mul_u32(((u32)6u), ((u32)262144u)));
    u64 h = 0;
    h = mix(h, (u64)depth);
    h = mix(h, (u64)p1);
    h = mix(h, (u64)p2);
    h = mix(h, (u64)p3);
    h = mix(h, (u64)p4);
    h = mix(h, (u64)v1);
    return (u32)h;
}
NOINLINE u64 g0_0(u8 p0, u32 p1, u8 p2)
{
    p2 = add_u8(p2, p2);
    return u64_of_f64(mul_f64((f64)(p1), sub_f64((f64)(p0), 0.1)));
}
NOINLINE u64 g0_1(u8 p0, u32 p1, u8 p2)
{
    u32 q1 = funnel_lc(sub_u32(((u32)134217728u), ((u32)6u)), add_u32(p1, p1), table1[(p1 & 7u)]) % 3u;
    for (u32 k2 = 0; k2 < 9u; k2++) {
    switch (q1) {
    case 0: {
        f32 v4 = (f32)(q1);
    q1 = ((clz_u64(((u64)91u)) & 1u) != ((u32)(((i32)2u)) & 2u)) ? 0u : vcmpgtu4(p1, q1) % 3u;
    }
    break;
    case 1: {
        u64 v5 = sub_u64(sub_u64((u64)(((u64)9328046775632392359ull) & ((u64)262144u)), (u64)bits_f32(1.0f)), min_u64((u64)(((u64)4u) | ((u64)9930938631277794016ull)), (u64)(((u64)3u) & ((u64)7u))));
        p1 = sub_u32(p1, lop3_or(((rem_i32((i32)(p1), ((i32)240u)) > (i32)((i32)(v5) ^ ((i32)242085278u))) ? mul_u32(p1, p1) : ((u32)1u)), sub_u32(mul_u32(q1, k2), add_u32(q1, ((u32)3770735323u))), (u32)(add_u32((u32)(p2), k2) ^ add_u32(((u32)8388607u), p1))));
    q1 = ((((i32)1794690772u) > ((i32)226u)) && (((i32)128u) != ((i32)2u))) ? 0u : sub_u32(q1, k2) % 3u;
    }
    break;
    case 2: {
        f32 v6 = max_f32(floor_f32((f32)((i8)(p0))), (f32)(p0));
    if (((add_u32((u32)(p2), q1) & 5u) != (((i64)2199023255551ull) <= ((i64)2u)))) goto out3;
    q1 = (f3(2u, ((i16)8192u), ((u32)268435455u), (u64)(p0), ((i32)32768u)) & 5u) ? 0u : (u32)(~(u32)(p0)) % 3u;
    }
    break;
    default: ;
    }
    }
    out3: ;
    i64 v7 = (i64)(p0);
    return carry(u64s_at[(((((i8)3u) > ((i8)29u)) ? ((u32)524287u) : p1) & 3u)][(mul_u32(p1, p1) & 3u)], mad_wide_hi((u32)((mul_u32(p1, p1) & 5u)), max_u32(p1, p1), rot_u64(((u64)10223703161210378237ull), p1)));
}
NOINLINE u64 g0_2(u8 p0, u32 p1, u8 p2)
{
    if ((((((i16)(p2) < (i16)(p1)) ? ((u32)243u) : ((u32)5u)) & 3u) && (root_f64(1e10) <= div_f64((f64)(p0), -1e-3))) && table1[(p1 & 7u)] % 3u == 0u) return (u64)(add_u64((u64)(p1), (u64)(p1)) & max_u64(((u64)1u), ((u64)149u)));
    u32 v1 = funnel_r((u32)((u32)(~(u32)(p0)) | (u32)(((i16)8u))), vmaxs2((u32)(p1 ^ p1), (u32)((i32)(p0))), set_and(add_f64(1.0, 1e10), sub_f64(0.0, -7.25e-20), u32s_at[(p1 & 3u)][(p1 & 3u)]));
    return u64s_at[(p1 & 3u)][(add_u32(add_u32(v1, v1), f3(2u, ((i16)241u), p1, ((u64)2u), ((i32)33554431u))) & 3u)];
}
NOINLINE u64 g0_3(u8 p0, u32 p1, u8 p2)
{
    switch (funnel_l((u32)(p1 ^ p1), funnel_lc((u32)(p0), p1, p1), (u32)(((u32)248u) ^ p1)) % 9u) {
    case 0:
    case 1:
    case 2:
    case 3:
    {
        f64 v1 = mul_f64(mul_f64(min_f64(0.1, 3.0e5), (f64)(((u64)1099511627775ull))), mul_f64(((((i32)8388608u) > ((i32)5u)) ? 1.0 : -1e-3), add_f64(16777215.0, 0.0)));
        i8 v2 = i8_of_f32(floor_f32(max_f32(1e10f, 1.0f)));
    }
    break;
    case 4:
    {
        f32 v3 = ((mul_i64(((i64)1990817264244739753ull), rot_i64(((i64)105u), p1)) < max_i64((i64)(((i64)137438953472ull) & ((i64)1u)), rem_i64(((i64)164u), ((i64)240u)))) ? 1.0f : (f32)(max_i64((i64)(p2), ((i64)97u))));
    }
    break;
    case 5:
    {
        u32 n5 = vabsdiffu4(popc_u64(((u64)7u)), mul_u32(((u32)7u), p1)) % 5u;
        for (u32 k4 = 0; k4 < n5; k4++) {
            f64 v6 = add_f64(-7.25e-20, ((k4 >= ((set_and(0.0, 16777215.0, p1) & 2u) ? (u32)(p2) : ((u32)1073741823u))) ? sub_f64(0.0, 1.0) : mul_f64(1e10, -1.5)));
            i32 v7 = (i32)bits_f32((f32)((((u32)(((u64)4u)) & 5u) ? ((i8)204u) : (i8)(p2))));
        }
        for (u32 k8 = 0; k8 < 7u; k8++) {
            p1 = bfind(((max_u32(k8, ((u32)63u)) & 12u) ? p1 : (u32)(((i64)281474976710655ull))));
        }
    }
    break;
    case 6:
    {
        f64 v9 = (f64)(p1);
    }
    break;
    case 7:
    {
        u64 v10 = ((u64)203u);
        p1 = (u32)((i8)(v10));
    }
    break;
    
    }
    return (u64)(p0);
}
typedef u64 (*type0)(u8, u32, u8);
TABLE type0 functions0[4] = {g0_0, g0_1, g0_2, g0_3};
NOINLINE f64 g1_0(u64 p0, f32 p1, u64 p2)
{
    switch (add_u32(((u32)4u), f3(3u, ((i16)117u), ((u32)62585132u), ((u64)262144u), ((i32)6u))) % 13u) {
    case 0:
    {
        u32 v1 = (u32)(((u32)249u) | (u32)(mul_u32(((u32)229u), ((u32)4095u)) & ((u32)123u)));
        p1 = mul_f32((f32)(rot_u64(p2, v1)), add_f32(sub_f32(p1, p1), p1));
    }
    case 1:
    {
        i64 v2 = ((rot_u32(((u32)2u), ((u32)2u)) & 2u) ? (i64)(((i64)222u) & (i64)(p0)) : i64_of_f32(add_f32(p1, p1)));
        if ((((i64)(v2 & v2) < min_i64((i64)bits_f32(p1), ((i64)7u))) && ((u32)(~((u32)2047u)) >= (u32)((u32)(v2) | ((u32)1675725889u)))) && (u32)(((u128)862525886284632507ull)) % 3u == 0u) return (f64)(v2);
    }
    break;
    case 2:
    {
        u32 q3 = f3(3u, ((shr_u32(((u32)4u), ((u32)4u)) & 3u) ? ((i16)176u) : ((i16)16383u)), add_u32(((u32)6u), ((u32)61u)), ((vmaxs2(((u32)102u), ((u32)7u)) & 5u) ? p0 : p0), mulhi_i32((i32)(p2), ((i32)133u))) % 6u;
        for (u32 k4 = 0; k4 < 5u; k4++) {
        switch (q3) {
        case 0: {
            u8 v6 = ((shr_u32(((u32)536870912u), q3) & 12u) ? (u8)(k4) : (u8)(((((u8)16u) < ((u8)153u)) ? ((u8)14u) : ((u8)128u)) ^ ((u8)127u)));
        q3 = ((u32)(k4 | k4) & 12u) ? 4u : rot_u32(k4, q3) % 6u;
        }
        continue;
        case 1: {
            i8 v7 = div_i8(((mad_wide_hi(q3, q3, p0) == (u64)bits_f32(p1)) ? add_i8(((i8)6u), ((i8)0u)) : rem_i8((i8)(q3), ((i8)128u))), ((sub_u32(k4, ((u32)131071u)) & 5u) ? shl_i8(((i8)4u), ((u32)63u)) : add_i8(((i8)127u), ((i8)4u))));
            f64 v8 = sub_f64(-1.5, trunc_f64(add_f64(-1.5, (f64)(k4))));
        if (((i32)((i32)bits_f32(p1) ^ (i32)(q3)) < shr_i32(((i32)32767u), (u32)(p2)))) goto out5;
        q3 = (((u32)155u) & 2u) ? 3u : (u32)(((u32)226u) | ((u32)3015001965u)) % 6u;
        }
        break;
        case 2: {
            u16 v9 = rem_u16((u16)(p2), ((u16)116u));
            i8 v10 = mul_i8(add_i8(((i8)48u), ((i8)15u)), (i8)((((i16)bits_f32(p1) != ((i16)48048u)) ? ((i16)186u) : ((i16)5u))));
        q3 = ((((i8)72u) < ((i8)88u)) && (u32s_at[(k4 & 3u)][(q3 & 3u)] & 2u)) ? 0u : ((mul_u32(q3, k4) & 12u) ? q3 : ((u32)2498732744u)) % 6u;
        }
        break;
        case 3: {
            u32 v11 = add_u32(q3, (u32)bits_f64(min_f64(0.0, -7.25e-20)));
            i8 v12 = ((i8)63u);
        q3 = (shr_u32((u32)(p2), k4) & 12u) ? 3u : k4 % 6u;
        }
        continue;
        case 4: {
            u32 v13 = ((sub_u32((u32)(p2), ((u32)1820539983u)) & 1u) ? (u32)(((((((i16)54064u) == ((i16)39705u)) ? q3 : k4) & 2u) ? k4 : k4) | mul_u32(q3, k4)) : add_u32(min_u32(q3, ((u32)0u)), sad_i32((i32)bits_f32(p1), ((i32)2187046095u), ((u32)1u))));
        q3 = (((u32)173u) & 3u) ? 4u : bits_f32((f32)(p0)) % 6u;
        }
        case 5: {
            i64 v14 = (i64)((u16)((u64)((u64)(q3) ^ ((u64)183u))));
            p2 = mul_u64(p2, (u64)bits_f32(p1));
        q3 = ((((i16)3189u) <= ((i16)7u)) && ((u32)(q3 & q3) & 5u)) ? 3u : (u32)bits_f64(-1.5) % 6u;
        }
        break;
        default: ;
        }
        }
        out5: ;
    }
    break;
    case 3:
    case 4:
    case 5:
    {
        if ((((sub_u32(((u32)599468471u), ((u32)3u)) & 1u) ? ((i8)154u) : (i8)(~(i8)bits_f32(p1))) != (i8)((i8)(((u16)3u)) | ((i8)4u)))) {
            u32 v15 = add_u32(u32_of_f32(add_f32((f32)(p0), p1)), shl_u32((u32)(~((u32)32768u)), shr_u32(((u32)59u), ((u32)2u))));
            u16 v16 = max_u16(half_of_f32(trunc_f32(1.0f)), u16_of_f32(p1));
        }
    }
    break;
    case 6:
    {
        for (u32 k17 = 0; k17 < 15u; k17++) {
            u32 v18 = dot4(rot_u32(((u32)3u), ((((u8)7u) < (u8)bits_f32(p1)) ? (u32)(p0) : (u32)bits_f32(p1))), (u32)((u32)(((u8)63u)) | shr_u32(k17, ((u32)4u))), vcmpgtu4((u32)((u8)(k17)), rem_u32((u32)(p2), ((u32)1811148189u))));
            p1 = p1;
            v18 = mul_u32(v18, add_u32(add_u32((u32)(((u128)80u)), sad_i32((i32)(v18), ((i32)6u), v18)), clz_u64(((k17 & 3u) ? ((u64)14928086522422158464ull) : p2))));
        }
        i16 v19 = ((sub_f64(add_f64(3.0e5, (f64)(p0)), add_f64(1.0, 1e10)) > mul_f64(root_f64(-1e-3), sub_f64(-7.25e-20, 1.0))) ? (i16)bits_f64((f64)(((i32)706219132u))) : ((i16)43739u));
    }
    break;
    case 7:
    {
        switch ((u32)((u32)(((u32)1u) ^ ((u32)158u)) ^ (u32)(p0)) % 4u) {
        case 0:
        {
            f64 v20 = table2[(prmt_rc16(table1[(((u32)131071u) & 7u)], sad_u32((u32)bits_f32(p1), ((u32)8192u), ((u32)2103871014u)), mul_u32((u32)(p2), ((u32)6u))) & 15u)];
        }
        break;
        case 1:
        {
            u32 v21 = u32_of_f32((- add_f32(p1, -1e-3f)));
        }
        case 2:
        {
            i8 v22 = (i8)(((i8)58u) ^ min_i8(((-1.5 > 16777215.0) ? ((i8)128u) : ((i8)63u)), (i8)((i8)(p0) | ((i8)237u))));
        }
        default: {
            p2 = mul_u64(((mul_i8(((i8)16u), ((i8)250u)) > (i8)(((i8)191u) & ((i8)7u))) ? mul_u64(p2, p2) : add_u64((u64)bits_f32(p1), p0)), p0);
        }
        
        }
        u32 v23 = set_and((- min_f64(1.0, 1e10)), add_f64(16777215.0, mul_f64(3.0e5, 0.1)), add_u32(rot_u32(((u32)123u), (u32)(p2)), ((u32)1833943256u)));
    }
    break;
    case 8:
    case 9:
    {
        u16 v24 = max_u16(min_u16((u16)(((u16)9u) & ((u16)210u)), shr_u16(((u16)179u), ((u32)3u))), ((u16)4u));
    }
    break;
    case 10:
    {
        p2 = (u64)(p2 & brev_u64(bfe_s64((u64)bits_f32(p1), shr_u32(((u32)3u), ((u32)1813312822u)), (u32)(((i32)93u)))));
        u8 v25 = (u8)(mul_u128(min_u128((u128)(p0), ((u128)1048575u)), (u128)((u128)(p0) & ((u128)281474976710655ull))));
    }
    case 11:
    {
        f64 v26 = add_f64((- (f64)(p2)), div_f64(add_f64(0.1, (f64)(p2)), ((add_u32(((u32)4u), ((u32)2640650802u)) & 3u) ? -7.25e-20 : 1e10)));
    }
    break;
    default: {
        if ((max_f64(floor_f64(-7.25e-20), div_f64((f64)(p0), -7.25e-20)) < floor_f64(mul_f64(1e10, 0.1)))) {
            u32 v27 = ((((lop3_or(((u32)128u), ((u32)1056255474u), (u32)(p0)) & 3u) ? (u128)bits_f32(p1) : min_u128(((u128)7981652602347399495ull), ((u128)100u))) >= (u128)((u128)bits_f32(p1) ^ ((u128)233u))) ? ((u32)16u) : (u32)(f3(1u, ((i16)163u), ((u32)255u), (u64)bits_f32(p1), ((i32)195u)) | mul_u32(((u32)0u), ((u32)4u))));
            p1 = p1;
            v27 = (u32)(v27 | v27);
            i8 v28 = i8_of_f32((f32)(div_i16(((i16)16410u), ((i16)3u))));
        } else {
            u32 v29 = ((table0[((u32)(((u32)1693697548u) | (u32)(p2)) & 7u)] >= ((((u16)3u) != (u16)(p2)) ? shr_i16((i16)(p0), ((u32)7u)) : ((i16)1u))) ? ((u32)131071u) : sad_i32((i32)(((i32)33u) & ((i32)131071u)), add_i32(((i32)107u), ((i32)242u)), (u32)(((u32)3675071922u) ^ ((u32)1u))));
            i8 v30 = shr_i8(min_i8((i8)(((u16)5u)), (i8)(((i8)198u) ^ ((i8)125u))), byte_perm(bfi(v29, v29, v29, v29), ((table1[((u32)(p0) & 7u)] & 2u) ? v29 : (u32)bits_f32(p1)), v29));
        }
    }
    
    }
    return sub_f64(floor_f64(((((u16)73u) == (u16)(p0)) ? 0.0 : 3.0e5)), min_f64(add_f64(-1e-3, 16777215.0), (- -1.5)));
}
NOINLINE f64 g1_1(u64 p0, f32 p1, u64 p2)
{
    i32 v1 = ((i32)2723931417u);
    u32 v2 = (u32)(~sub_u32((u32)(((u32)87u) ^ ((u32)949535489u)), (u32)(((u32)2112790444u) ^ ((u32)3u))));
    return (f64)(v1);
}
NOINLINE f64 g1_2(u64 p0, f32 p1, u64 p2)
{
    u32 v1 = hless(max_u16((u16)(((u16)60u) | ((u16)182u)), mul_u16(((u16)32u), ((u16)1u))), (u16)bits_f64(round_f64((f64)(p1))));
    return add_f64((f64)(p0), fma_f64(16777215.0, 0.1, (- 1e10)));
}
NOINLINE f64 g1_3(u64 p0, f32 p1, u64 p2)
{
    u32 v1 = sub_u32(((funnel_r((u32)(p0), ((u32)186u), ((u32)16383u)) & 2u) ? add_u32(((u32)67u), ((u32)973650577u)) : ((add_u32(((u32)71u), ((u32)1672623930u)) & 12u) ? (u32)bits_f32(p1) : ((u32)3247047509u))), (u32)(((u128)49u)));
    if (((shl_u32(((u32)524287u), ((u32)7u)) & 3u) && (sub_u32(v1, v1) <= table1[(((u32)0u) & 7u)])) && table1[(v1 & 7u)] % 3u == 0u) return (f64)(v1);
    return (- -1.5);
}
typedef f64 (*type1)(u64, f32, u64);
TABLE type1 functions1[4] = {g1_0, g1_1, g1_2, g1_3};
enum { gridDim_0 = 1 };
RANDOM kernel_0(const u64 *__restrict__ in, u64 *__restrict__ out, u8 *memory, const struct given given)
{
    u32 t = TID, gid = BLOCK * THREADS + t;
    u8 *own = memory + gid * 64u;
    struct tallies *common = (struct tallies *)(void *)(memory + gridDim_0 * THREADS * 64u);
    SHARED u32 all_tally_add[4];
    SHARED u64 all_tally_add64[4];
    SHARED u32 all_tally_xor[4];
    SHARED u64 all_tally_or[4];
    SHARED i32 all_tally_max[4];
    SHARED u64 all_tally_min[4];
    SHARED u64 all_tally_loop[4];
    if (t < 4u) {
        all_tally_add[t] = 0;
        all_tally_add64[t] = 0;
        all_tally_xor[t] = 0;
        all_tally_or[t] = 0;
        all_tally_max[t] = 0;
        all_tally_min[t] = 0;
        all_tally_loop[t] = 0;
    }
    SHARED f64 h20[256];
    for (u32 j = TID; j < 256u; j += THREADS) h20[j] = (f64)j;
    sync_block();
    u32 m0 = (t | 31u) < THREADS ? 0xffffffffu : (1u << (THREADS & 31u)) - 1u;
    u32 v1 = (u32)((u32)(((i8)23u)) ^ (u32)(hadd(((u16)3u), ((u16)42563u))));
    u64 v2 = add_u64((u64)(add_u64(((u64)12389475507455707302ull), (u64)(gid)) | max_u64(((u64)14467365204353995705ull), ((u64)97u))), u64s_at[((u32)(((u32)1u) ^ v1) & 3u)][((u32)((add_u32(((u32)1918727856u), t) & 3u)) & 3u)]);
    f32 v3 = div_f32(f32_of_half(((u16)7u)), add_f32(mul_f32(1e10f, -1e-3f), 0.1f));
    f64 v4 = mul_f64((- round_f64((f64)(v3))), (- ((compare_both(((i32)8191u), (i32)(v2), v3, v3) & 2u) ? 1e10 : 16777215.0)));
    i32 v5 = add_i32((i32)(rem_i32(((i32)3007416078u), ((i32)524288u)) & (i32)(t)), mul24_i32((i32)((i32)bits_f32(v3) | (i32)(t)), ((i32)205u)));
    i16 a6[16];
    for (u32 i = 0; i < 16u; i++) a6[i] = (i16)(i + funnel_r(t, gid, (u32)(v2)));
    tally_add(&all_tally_add[(shr_u32(gid, gid) & 3u)], rot_u32(u32_of_f64((f64)(gid)), ((((u128)4u) == ((u128)288230376151711743ull)) ? t : v1)));
    u32 q7 = table1[((u32)(t | gid) & 7u)] % 6u;
    for (u32 k8 = 0; k8 < 9u; k8++) {
    switch (q7) {
    case 0: {
        f32 v10 = (f32)(((i8)84u));
    q7 = ((u32)(((u32)122u) ^ q7) <= (u32)(~t)) ? 3u : ((slct(k8, ((u32)64u), v5) & 5u) ? q7 : k8) % 6u;
    }
    case 1: {
        if ((v2 < (u64)(add_u64((u64)bits_f32(v3), v2) & (u64)(gid)))) {
            a6[(t & 15u)] = (i16)(rem_i8(add_i8(((i8)2u), ((i8)16u)), rot_i8(((i8)164u), v1)));
            v3 = f32_of_half((((u32)(((u32)800322335u) | gid) < prmt_rc16(t, ((u32)5u), v1)) ? (u16)(((u8)138u)) : mul_u16(((u16)6u), ((u16)0u))));
        }
        u32 n12 = ((popc_u32(((u32)151u)) & 3u) ? (u32)((((i16)12221u) != ((i16)8u))) : sub_u32(v1, ((u32)2436422714u))) % 9u;
        for (u32 k11 = 0; k11 < n12; k11++) {
            store_u16(((load_u32(own + (((u32)675976082u) & 60u)) & 12u) ? own : own) + (div_u32(narrow_sat(((i64)45u)), ((u32)35u)) & 62u), (u16)((i64)((i64)in[(gid & 63u)] | mul_i64(((i64)6u), ((i64)181u)))));
            if ((i32_of_f64(max_f64(v4, v4)) > i32_of_f32(mul_f32((f32)(v4), 3.0e5f)))) {
                v1 = add_u32(v1, q7);
                v1 = (u32)(v1 ^ (((- (f32)(((u8)151u))) <= mul_f32(min_f32(v3, v3), (f32)((u8)(v5)))) ? (u32)(((((i32)1244407144u) != v5) ? ((u16)42u) : ((u16)5u))) : add_u32(((rem_u32(((u32)40u), ((u32)114u)) & 2u) ? v1 : k8), (u32)(((u128)5052314490835754391ull)))));
                v1 = mul_u32(v1, (u32)((i32)bits_f32(v3)));
            } else {
                i16 v13 = load_i16(((sub_f64(v4, v4) != mul_f64((f64)(gid), v4)) ? own : own) + (byte_perm(prmt_rc16(k11, ((u32)7u), (u32)bits_f32(v3)), sub_u32(((u32)186u), ((u32)2370397951u)), k8) & 62u));
                v1 = add_u32(v1, popc_u32(((u32)4u)));
                v3 = v3;
                v4 = add_f64(v4, v4);
            }
            u32 v14 = own_dec((u32 *)(void *)(own + ((u32)(gid & ((u32)60u)) & 60u)), rot_u32(funnel_rc(((u32)1u), k11, ((u32)237u)), gid));
        }
    if ((i64_of_f64(-7.25e-20) < load_i64(own + (v1 & 56u)))) goto out9;
    q7 = (((v5 >= (i32)(v2)) ? ((u8)47u) : ((u8)127u)) != ((u8)176u)) ? 0u : sub_u32(((u32)5u), ((u32)7u)) % 6u;
    }
    break;
    case 2: {
        i64 v15 = shl_i64((i64)(((i64)4503599627370495ull) & mul_i64((i64)bits_f64(v4), ((i64)176u))), (u32)(shr_i64((i64)bits_f32(v3), v1)));
        if ((add_f32((f32)(((u8)159u)), mul_f32(-1.5f, v3)) >= mul_f32((f32)((u64)(v1)), root_f32(v3)))) {
            f32 v16 = mul_f32((f32)(mul_u16((u16)(k8), (u16)(gid))), div_f32(add_f32(v3, 1e10f), fma_f32((f32)(v1), v3, v3)));
            store_i64(own + (add_u32(table1[(q7 & 7u)], (u32)((((i16)137u) >= ((i16)744u)))) & 56u), max_i64((i64)(min_i64(v15, v15) ^ (i64)(((u8)25u))), shl_i64(div_i64((i64)bits_f32(v3), v15), (u32)((u32)(v2) & (u32)(v15)))));
            u64 v17 = own_and((u64 *)(void *)(own + ((u32)(((u16)32u)) & 56u)), functions0[(add_u32((((u128)(k8) > ((u128)7465333685763659662ull)) ? (u32)(v5) : ((u32)59u)), (u32)bits_f64(1.0)) & 3u)](div_u8((u8)bits_f32(v16), ((u8)118u)), (u32)(q7 | ((u32)55u)), (u8)(((u32)(v2) & 1u))));
            v3 = -1.5f;
        }
    q7 = ((u16)(((u32)7u)) == half_of_f32((f32)(v5))) ? 2u : (u32)bits_f32((f32)(v2)) % 6u;
    }
    case 3: {
        u32 v18 = (u32)(((u32)((hsub(((u16)8040u), ((u16)4u)) > (u16)(~((u16)32767u)))) >= table1[((u32)(~k8) & 7u)]));
        i8 v19 = load_i8(own + (load_u32(own + (mul_u32(((u32)2048u), q7) & 60u)) & 63u));
    q7 = (((table1[(q7 & 7u)] & 12u) ? (u32)(v5) : ((u32)2u)) & 1u) ? 1u : (u32)(q7 & k8) % 6u;
    }
    break;
    case 4: {
        store_i8(((((u128)46u) > ((u128)18014398509481984ull)) ? own : own) + (sad_i32((i32)(v5 & (i32)(v2)), max_i32(v5, v5), sub_u32(q7, (u32)bits_f64(v4))) & 63u), (i8)((i8)((i8)((i8)(t) & ((i8)2u)) | div_i8(((i8)148u), ((i8)199u))) ^ add_i8((i8)(((i16)27274u)), add_i8(((i8)4u), ((i8)182u)))));
    q7 = (sub_f64(v4, v4) != sub_f64(v4, (f64)(v5))) ? 2u : q7 % 6u;
    }
    break;
    case 5: {
        v2 = add_u64(v2, add_u64(((u64)160u), div_u64(bits_f64(v4), min_u64(((u64)3448998163167992172ull), (u64)(q7)))));
        a6[(clz_u64((u64)(v2 ^ v2)) & 15u)] = table0[(rot_u32(((((u8)1u) > ((u8)20u)) ? (u32)(v5) : t), (u32)(v2)) & 7u)];
    q7 = (((u32)(k8 & v1) & 2u) && (v4 <= v4)) ? 1u : ((add_u32(v1, gid) & 12u) ? k8 : (u32)bits_f64(v4)) % 6u;
    }
    continue;
    default: ;
    }
    }
    out9: ;
    h20[(TID * 175u + 255u) & 255u] = fma_f64(v4, round_f64(mul_f64(v4, v4)), add_f64(-7.25e-20, max_f64(v4, v4)));
    sync_block();
    f64 v21 = h20[(rot_u32(f3(4u, ((i16)15u), t, ((u64)1715278200933522848ull), v5), sub_u32(v1, (u32)bits_f64(v4))) & 255u)];
    sync_block();
    u32 c23 = ((load_i16(own + ((u32)(v2) & 62u)) < shr_i16(((i16)63u), (u32)bits_f64(v4))) != (root_f64(v21) == (f64)((i16)(v1)))) && (u32)bits_f32(v3) % 5u == 0u;
    u32 m22 = ballot(m0, !c23);
    if (c23)
        { out[gid] = mix(mul_u64((u64)(((u128)23u)), ((u64)134217728u)), 45839u); return; }
    v1 = (u32)(f3(1u, (i16)(((i16)8547u) | ((i16)139u)), (u32)(v1 & gid), v2, load_i32(((((u8)7u) >= ((u8)2u)) ? own : own) + (t & 60u))) | table1[(((((u8)155u) > (u8)bits_f64(v4)) ? ((u32)67108863u) : gid) & 7u)]);
    tally_xor(&all_tally_xor[(brev_u32(gid) & 3u)], compare_both(v5, rot_i32(((i32)0u), v1), div_f32(v3, 1.0f), mul_f32(0.0f, (f32)(v4))));
    v3 = mul_f32(v3, v3);
    v4 = mul_f64(v4, v21);
    tally_xor(&common->tally_xor[(t & 3u)], byte_perm(prmt_rc16(gid, gid, (u32)bits_f64(v21)), bits_f32((f32)(v1)), add_u32(v1, (u32)bits_f32(v3))));
    u32 v24 = any_block(((- v4) != (f64)(rot_u8(((u8)18u), (u32)(v5)))));
    u32 w25 = reduce_xor(m22, popc_u32(rot_u32((u32)(((u32)210u) | (u32)(v2)), add_u32(v24, gid))));
    u32 w26 = shfl_u32(m22, gid, pick(m22, (u32)(~t)));
    u32 v27 = own_dec((u32 *)(void *)(own + (ffs_u64(v2) & 60u)), bfind((u32)(t ^ t)));
    v2 = add_u64(v2, carry(load_u64(own + (rot_u32(((u32)2u), v27) & 56u)), ((table1[(v1 & 7u)] & 2u) ? brev_u64(v2) : functions0[(f3(3u, (i16)((w26 & 5u)), load_u32(own + ((u32)bits_f64(v4) & 60u)), (u64)(v2 ^ v2), div_i32(v5, (i32)(v27))) & 3u)](((u8)6u), v24, ((u8)6u)))));
    u64 w28 = shfl_u64(m22, v2, pick(m22, add_u32((u32)bits_f64(v21), v27)));
    u32 c31 = (table3[(set_and(v4, -1e-3, v24) & 15u)] != (u8)(add_u128(((u128)2u), ((u128)3u)))) ? 1u : 0u;
    u32 m29 = ballot(m22, c31), m30 = m22 & ~m29;
    if (c31) {
        switch (add_u32(vadd4((u32)bits_f64(v4), gid), w26) % 4u) {
        case 0:
        case 1:
        {
            v24 = (u32)(v24 & v1);
            u32 q32 = table1[(bfind_shift(v2) & 7u)] % 3u;
            for (u32 k33 = 0; k33 < 9u; k33++) {
            switch (q32) {
            case 0: {
                v5 = add_i32(v5, (i32)bits_f64(fma_f64(fma_f64(v4, v21, -1.5), min_f64(v4, v21), (- 0.1))));
            q32 = ((((i8)248u) >= ((i8)162u)) && (v21 != v21)) ? 0u : (((i16)bits_f64(v21) > (i16)(v27)) ? v27 : w25) % 3u;
            }
            case 1: {
                w26 = add_u32(w26, rot_u32((u32)(rot_u32(w25, w25) ^ rem_u32(k33, w26)), ((add_i64(((i64)8589934592ull), (i64)(w26)) > (i64)((i64)(v2) | ((i64)17592186044415ull))) ? ((((u128)4096u) <= (u128)(q32)) ? q32 : (u32)bits_f64(v4)) : w25)));
            q32 = (((i32)1944995834u) < (i32)(~v5)) ? 1u : (u32)(m29 ^ ((u32)231u)) % 3u;
            }
            case 2: {
                u16 v35 = (u16)((u16)((u16)((u16)(k33) & ((u16)13u)) ^ (u16)(((i16)134u))) | mul_u16((u16)((u16)(k33) ^ (u16)bits_f64(v21)), (u16)(((u16)227u) & ((u16)0u))));
            q32 = ((mul_u32(q32, ((u32)4096u)) & 5u) && (f3(1u, ((i16)2u), ((u32)2279310011u), v2, (i32)(w26)) & 3u)) ? 1u : (u32)(~m29) % 3u;
            }
            break;
            default: ;
            }
            }
            out34: ;
        }
        case 2:
        {
            u16 v36 = (u16)(w25);
            u32 v37 = own_inc((u32 *)(void *)(own + (w26 & 60u)), load_u32(own + (funnel_rc(v1, w25, ((u32)8388607u)) & 60u)));
        }
        default: {
            i64 v38 = i64_of_f64(min_f64(add_f64((f64)(w26), v4), trunc_f64(v4)));
        }
        
        }
        a6[(popc_u64(mul_u64(((u64)232u), (u64)bits_f64(v4))) & 15u)] = add_i16(((add_f32(v3, 3.0e5f) != add_f32(v3, v3)) ? (((f32)(t) <= v3) ? ((i16)2u) : ((i16)63u)) : table0[(m29 & 7u)]), table0[((u32)(w25 ^ w25) & 7u)]);
        i16 v39 = min_i16(a6[(vadd4(((u32)1073741824u), v24) & 15u)], (i16)bits_f64((f64)(v27)));
        copy_quad(own + ((u32)bits_f32(v3) & 48u), own + (add_u32(v27, w26) & 48u));
    }
    i8 v40 = (i8)((u64)(brev_u64((u64)bits_f64(v4)) & (((u32)bits_f32(v3) & 1u) ? w28 : v2)));
    a6[((u32)(max_u32(w25, ((u32)1u)) ^ w26) & 15u)] = (i16)(w25);
    copy_quad(own + ((u32)(((u8)60u)) & 48u), (((u32)bits_f64((f64)(v3)) & 12u) ? own : own) + (f3(2u, ((i16)58798u), w25, v2, ((i32)32u)) & 48u));
    f64 w41 = f1(m22, u64_of_f32((((u128)(v2) == ((u128)1u)) ? v3 : v3)), (f32)(((i64)18014398509481984ull)), (i16)(a6[(v27 & 15u)] ^ ((i16)5u)), v5);
    v3 = add_f32(sub_f32(f32_of_half(((u16)41424u)), fma_f32(v3, 0.1f, (f32)(v5))), root_f32(div_f32(v3, v3)));
    tally_or(&common->tally_or[(shr_u32(v24, w26) & 3u)], min_u64(v2, w28));
    u32 w42 = ballot(m22, (add_i64(((bfind(w26) & 2u) ? ((i64)72057594037927936ull) : ((i64)6u)), ((i64)5u)) == rem_i64((i64)(((i64)9395843569534361901ull) ^ (i64)(w25)), mulhi_i64(((i64)188u), (i64)(m29)))));
    a6[(((mul_u32(((u32)5u), (u32)bits_f64(w41)) & 3u) ? brev_u32((u32)bits_f64(w41)) : (((i8)(v27) < v40) ? w26 : v24)) & 15u)] = add_i16(add_i16((i16)(v5), shl_i16((i16)(v1), (u32)bits_f64(v21))), (i16)(((i64)576460752303423488ull)));
    v2 = mul_u64(v2, rot_u64((u64)(rem_u64(w28, (u64)(v5)) ^ carry(v2, v2)), add_u32(funnel_r(w25, m29, v27), dot4(w25, v1, (u32)bits_f32(v3)))));
    u64 h = t;
    h = mix(h, (u64)t);
    h = mix(h, (u64)gid);
    h = mix(h, (u64)v1);
    h = mix(h, (u64)v2);
    h = mix(h, (u64)bits_f32(v3));
    h = mix(h, (u64)bits_f64(v4));
    h = mix(h, (u64)v5);
    h = mix(h, (u64)bits_f64(v21));
    h = mix(h, (u64)v24);
    h = mix(h, (u64)w25);
    h = mix(h, (u64)w26);
    h = mix(h, (u64)v27);
    h = mix(h, (u64)w28);
    h = mix(h, (u64)m29);
    h = mix(h, (u64)v40);
    h = mix(h, (u64)bits_f64(w41));
    h = mix(h, (u64)w42);
    h = mix(h, (u64)a6[0]);
    h = mix(h, (u64)a6[3]);
    h = mix(h, (u64)a6[6]);
    h = mix(h, (u64)a6[9]);
    h = mix(h, (u64)a6[12]);
    h = mix(h, (u64)a6[15]);
    h = mix(h, load_u64(own + 0));
    h = mix(h, load_u64(own + 8));
    h = mix(h, load_u64(own + 16));
    h = mix(h, load_u64(own + 24));
    h = mix(h, load_u64(own + 32));
    h = mix(h, load_u64(own + 40));
    h = mix(h, load_u64(own + 48));
    h = mix(h, load_u64(own + 56));
    sync_block();
    h = mix(h, (u64)all_tally_add[h & 3u]);
    h = mix(h, (u64)all_tally_add64[h & 3u]);
    h = mix(h, (u64)all_tally_xor[h & 3u]);
    h = mix(h, (u64)all_tally_or[h & 3u]);
    h = mix(h, (u64)all_tally_max[h & 3u]);
    h = mix(h, (u64)all_tally_min[h & 3u]);
    h = mix(h, (u64)all_tally_loop[h & 3u]);
    out[gid] = h;
}
enum { gridDim_1 = 3 };
RANDOM kernel_1(const u64 *__restrict__ in, u64 *__restrict__ out, u8 *memory, const struct given given)
{
    u32 t = TID, gid = BLOCK * THREADS + t;
    u8 *own = memory + gid * 64u;
    struct tallies *common = (struct tallies *)(void *)(memory + gridDim_1 * THREADS * 64u);
    SHARED u32 all_tally_add[4];
    SHARED u64 all_tally_add64[4];
    SHARED u32 all_tally_xor[4];
    SHARED u64 all_tally_or[4];
    SHARED i32 all_tally_max[4];
    SHARED u64 all_tally_min[4];
    SHARED u64 all_tally_loop[4];
    if (t < 4u) {
        all_tally_add[t] = 0;
        all_tally_add64[t] = 0;
        all_tally_xor[t] = 0;
        all_tally_or[t] = 0;
        all_tally_max[t] = 0;
        all_tally_min[t] = 0;
        all_tally_loop[t] = 0;
    }
    SHARED u64 kept_[256 * 4];
    SHARED i8 h10[256];
    for (u32 j = TID; j < 256u; j += THREADS) h10[j] = (i8)j;
    sync_block();
    u32 m0 = 0xffffffffu;
    u32 v1 = (u32)((((u128)4u) > rem_u128((u128)(((i16)155u)), mul_u128(((u128)1315723344605612531ull), ((u128)1152921504606846975ull)))));
    u64 v2 = (((u64)(((u64)17385625555274542041ull) & (u64)in[(gid & 63u)]) != functions0[(narrow_sat(min_i64(((i64)10097278004522035135ull), ((i64)128u))) & 3u)](((u8)140u), rot_u32(gid, gid), ((u8)15u))) ? (u64)(prmt_rc16(((u32)161u), v1, gid)) : (u64)(t));
    f32 v3 = -1e-3f;
    f64 v4 = (f64)(u64)(((u128)2u));
    i32 v5 = min_i32(sub_i32((i32)(((u8)155u)), ((0.0f < v3) ? ((i32)3027015378u) : ((i32)3u))), add_sat(((i32)96u), ((i32)9u)));
    i16 a6[4];
    for (u32 i = 0; i < 4u; i++) a6[i] = (i16)(i + rot_u32((u32)(v2), gid));
    u8 *kept = (u8 *)kept_ + t * 32u;
    for (u32 i = 0; i < 32u; i++) kept[i] = (u8)(i ^ t);
    u32 c9 = (((u32)(v1 & t) & 3u) || (mulhi_i32(v5, v5) > (i32)bits_f32(v3))) ? 1u : 0u;
    u32 m7 = ballot(m0, c9), m8 = m0 & ~m7;
    if (c9) {
        h10[TID] = rem_i8(max_i8(mul_i8(((i8)216u), ((i8)22u)), max_i8((i8)(gid), ((i8)6u))), (i8)(min_i8(((i8)52u), ((i8)6u)) & div_i8((i8)(m7), (i8)(v1))));
        sync_warp(m7);
        i8 v11 = h10[((TID & ~31u) + pick(m7, (((u32)(((i8)8u)) <= t) ? (u32)(((u128)17866643286282480200ull)) : (u32)(t ^ t))))];
        sync_warp(m7);
        tally_min(&all_tally_min[(f3(2u, ((i16)4096u), (u32)bits_f32(v3), v2, (i32)(t)) & 3u)], sub_u64((u64)(((u128)11719769403217744100ull)), mul_u64(v2, v2)));
    }
    if (((u32)(v2) & 2u)) {
        v3 = (- fma_f32(v3, (f32)((u32)bits_f32(v3)), add_f32(-1e-3f, v3)));
        v2 = sub_u64(v2, add_u64(min_u64(brev_u64(((u64)316121541781560688ull)), u64_of_f64((f64)(m7))), mul_u64(add_u64(v2, ((u64)2199023255552ull)), (((u32)(v2) & 2u) ? v2 : ((u64)1024u)))));
        store_u64(own + (load_u32(own + (load_u32(((((i64)18361239250478917433ull) == ((i64)238u)) ? own : kept) + (gid & 28u)) & 60u)) & 56u), ((u64)10134164983960172621ull));
        v4 = mul_f64(mul_f64(add_f64((f64)(v1), v4), max_f64(v4, v4)), (- div_f64(v4, (f64)(v3))));
    }
    a6[(m7 & 3u)] = sub_i16((i16)(div_u16(((u16)1u), ((u16)63714u))), (i16)(~((i16)18911u)));
    u32 n13 = sad_u32(((add_u32(t, v1) & 2u) ? ((u32)32767u) : ((u32)4063426843u)), shl_u32(v1, gid), load_u32(((((u8)114u) >= ((u8)85u)) ? own : own) + (((u32)65535u) & 60u))) % 8u;
    for (u32 k12 = 0; k12 < n13; k12++) {
        if ((((u8)(((u8)15u) | ((u8)115u)) > (u8)(((u8)44u) & ((u8)4u))) != (rem_u128(((u128)7u), ((u128)124u)) == (u128)(~((u128)4304350251236850229ull))))) {
            f32 v14 = (f32)((i64)(min_i64(((i64)27u), ((i64)0u)) ^ min_i64(((i64)1993581163880181899ull), ((i64)2097152u))));
            u64 v15 = brev_u64(shr_u64(add_u64(v2, v2), (u32)in[(gid & 63u)]));
            u32 q16 = (u32)(add_u32(m7, gid) & v1) % 6u;
            for (u32 k17 = 0; k17 < 5u; k17++) {
            switch (q16) {
            case 0: {
                v1 = (u32)((u64)(v2 & rot_u64(v2, q16)));
            q16 = ((u32)((((u32)3314938700u) & 12u)) & 3u) ? 5u : (u32)(t ^ (u32)(v5)) % 6u;
            }
            break;
            case 1: {
                i64 v19 = ((table0[((u32)(v5) & 7u)] <= max_i16(mul_i16(((i16)0u), ((i16)0u)), (i16)(((i16)4096u) ^ ((i16)4095u)))) ? rot_i64(load_i64(kept + (k12 & 24u)), (u32)(v15)) : min_i64(i64_of_f32(v3), (i64)(((u16)57420u))));
            q16 = ((i8)bits_f64(v4) >= div_i8(((i8)177u), ((i8)160u))) ? 4u : mul_u32((u32)bits_f32(v14), v1) % 6u;
            }
            break;
            case 2: {
                v3 = mul_f32(v3, (((((i8)(k17) <= (i8)(k12)) && (sad_i32(((i32)887756828u), v5, v1) & 2u)) || (shr_i32((i32)bits_f32(v3), (u32)(v5)) != i32_of_f32(v3))) ? sub_f32(max_f32(1e10f, 1e10f), ((((u32)1073741824u) & 5u) ? v14 : 3.0e5f)) : (f32)(v4)));
                i16 v20 = mul_i16(max_i16((i16)((m7 <= gid)), ((i16)128u)), add_i16(rem_i16(((i16)7u), ((i16)6u)), max_i16(((i16)25u), ((i16)91u))));
            if (((i64)in[(q16 & 63u)] <= (i64)(((i64)6u) | (i64)(k17)))) goto out18;
            q16 = (fma_f32((f32)(v2), (f32)(k12), 0.0f) <= v14) ? 0u : (((u32)(((u32)3505094421u) & k12) & 2u) ? (u32)(v2) : gid) % 6u;
            }
            break;
            case 3: {
                v1 = u32_of_f32(round_f32(sub_f32(v14, v14)));
                i64 v21 = (i64)(min_i64(((i64)4u), ((i64)16223123066271511306ull)) ^ shl_i64((i64)(((i64)223u) ^ ((i64)223u)), (u32)(k12 ^ k17)));
            if (((v14 == v14) != (v4 >= 3.0e5))) goto out18;
            q16 = (((((u16)58503u) >= ((u16)0u)) ? q16 : m7) & 3u) ? 1u : vcmpgtu4(k17, q16) % 6u;
            }
            continue;
            case 4: {
                i8 v22 = ((rem_i16(min_i16(((i16)32768u), ((i16)157u)), (i16)bits_f32(v3)) >= (i16)(shr_i8((i8)(k12), v1))) ? (i8)(~((((u8)97u) >= ((u8)121u)) ? ((i8)68u) : ((i8)240u))) : shl_i8(div_i8(((i8)0u), (i8)bits_f32(v3)), ((((u16)256u) != ((u16)228u)) ? m7 : gid)));
            q16 = (((((u32)134217728u) & 3u) ? ((i16)204u) : ((i16)1023u)) != add_i16((i16)(k17), ((i16)4u))) ? 2u : m7 % 6u;
            }
            continue;
            case 5: {
                v1 = mul_u32(v1, div_u32(div_u32(add_u32(q16, ((u32)189u)), (u32)((u8)(k12))), load_u32(own + (add_u32(((u32)90u), q16) & 60u))));
                v3 = add_f32(v3, add_f32(mul_f32(v14, v3), v14));
            if (((((i16)53871u) > ((i16)1u)) && ((u32)((u32)(v2) | (u32)bits_f32(v3)) & 3u))) goto out18;
            q16 = (add_u128(((u128)14225997880391859977ull), ((u128)233u)) == (u128)(((u8)7u))) ? 3u : (u32)(k17 & k17) % 6u;
            }
            break;
            default: ;
            }
            }
            out18: ;
        }
        u8 v23 = (u8)(given.bytes[((u32)(((u128)242u)) & 31u)] & ((u8)4u));
        v1 = (u32)(load_u32(own + (table1[((u32)(v2) & 7u)] & 60u)) | (((max_u32(gid, ((u32)1369077536u)) & 3u) && (((i16)54882u) >= ((i16)6u))) ? (u32)((u32)(v23) ^ v1) : (u32)((v2 <= (u64)(v5)))));
        tally_or(&common->tally_or[(add_u32((u32)(v2), m7) & 3u)], rem_u64(v2, ((u64)34359738368ull)));
    }
    f64 w24 = f1(m0, mulhi_u64(mul_u64(v2, v2), shr_u64(v2, m7)), (- trunc_f32(16777215.0f)), (i16)bits_f64(mul_f64(v4, -1e-3)), shl_i32(load_i32(kept + (v1 & 28u)), (u32)(t ^ t)));
    i64 v25 = mul_i64((i64)(max_i64((i64)bits_f64(w24), (i64)bits_f32(v3)) & (i64)((u32)bits_f64(v4))), i64_of_f64(mul_f64(0.0, (f64)(v3))));
    u8 v26 = (u8)(v5);
    tally_loop(&common->tally_loop[((u32)((((u64)14073181533570741028ull) < v2)) & 3u)], (u64)((((u32)in[(((u32)3u) & 63u)] & 1u) ? (u64)bits_f64(v4) : ((u64)268435455u)) ^ v2));
    i8 v27 = (i8)((i8)((i8)((u8)(v1)) ^ load_i8(kept + (t & 31u))) ^ add_i8(shr_i8(((i8)85u), ((u32)2147483648u)), load_i8(own + ((u32)bits_f64(v4) & 63u))));
    u32 v28 = (u32)(rot_u32(m7, (u32)(v2)) | bfi(sub_u32(((u32)0u), m7), byte_perm(m7, ((u32)4u), ((u32)4112629104u)), t, table1[(t & 7u)]));
    u32 q29 = add_u32(u32s_at[(t & 3u)][(v28 & 3u)], funnel_rc(t, gid, (u32)(v25))) % 4u;
    for (u32 k30 = 0; k30 < 5u; k30++) {
    switch (q29) {
    case 0: {
        u32 k32 = 0;
        do {
            store_u16(kept + ((u32)(((m7 <= q29) != ((u128)bits_f64(w24) >= ((u128)0u)))) & 30u), (u16)(~shr_u16((u16)(((u128)3651138490107492669ull)), ((((hless(((u16)2u), ((u16)219u)) & 12u) ? t : v28) & 5u) ? gid : (u32)(v2)))));
            f32 v33 = max_f32((f32)(mul_f64(w24, w24)), v3);
            if ((((((i16)8594u) < ((i16)6u)) || (v28 & 5u)) && (((((u128)9562865236414940925ull) == ((u128)7u)) ? v27 : ((i8)249u)) < (i8)(v26))) && compare_both(v5, v5, (f32)(m7), v3) % 3u == 0u) { out[gid] = mix(rot_u64((u64)bits_f32(v3), shl_u32(((u32)33554431u), q29)), 38699u); return; }
        } while (++k32 < 15u && (((u16)6u) >= hfma((u16)(((u16)33254u) ^ ((u16)4u)), shr_u16(((u16)128u), (u32)bits_f32(v3)))));
        v5 = mul_i32(v5, shr_i32(min_i32(mul_i32(v5, v5), sub_i32(v5, v5)), shr_u32((u32)((u32)(v5) ^ k30), shl_u32(m7, ((u32)5u)))));
    q29 = (((u32)3233638145u) & 12u) ? 1u : bfind(v1) % 4u;
    }
    break;
    case 1: {
        v28 = (u32)(v28 | popc_u64(add_u64(((v3 != v3) ? v2 : (u64)bits_f64(v4)), brev_u64(((u64)65535u)))));
    if ((add_f32(-1e-3f, v3) <= root_f32(v3))) goto out31;
    q29 = ((u32)(v1 ^ ((u32)241u)) & 1u) ? 1u : clz_u32((u32)bits_f64(w24)) % 4u;
    }
    break;
    case 2: {
        u32 k34 = 0;
        do {
            if (((u32)bits_f64(v4) & 1u) && slct(v1, k30, (i32)bits_f64(w24)) % 3u == 0u) { out[gid] = mix((u64)(((i16)222u)), 61200u); return; }
            v26 = (u8)(((- 0.1f) != mul_f32((- 3.0e5f), v3)));
        } while (++k34 < 15u && (bfind(((u32)1354575711u)) & 12u));
        v28 = sub_u32(v28, vadd4(table1[((u32)((i8)(v25)) & 7u)], q29));
    q29 = (t & 5u) ? 0u : f3(3u, ((i16)63u), k30, v2, v5) % 4u;
    }
    case 3: {
        i32 v35 = (i32)((i32)(i32_of_f32(v3) | (i32)(v27)) & add_i32(((i32)935369044u), ((i32)6u)));
        u64 v36 = (u64)(u64_of_f64((f64)(((i16)7u))) ^ carry(mad_wide_hi(k30, gid, ((u64)9223372036854775808ull)), v2));
    q29 = (((i16)24u) < (((u32)(v26) & 1u) ? ((i16)151u) : (i16)(v27))) ? 0u : add_u32(v28, m7) % 4u;
    }
    continue;
    default: ;
    }
    }
    out31: ;
    u64 h = t;
    h = mix(h, (u64)t);
    h = mix(h, (u64)gid);
    h = mix(h, (u64)v1);
    h = mix(h, (u64)v2);
    h = mix(h, (u64)bits_f32(v3));
    h = mix(h, (u64)bits_f64(v4));
    h = mix(h, (u64)v5);
    h = mix(h, (u64)m7);
    h = mix(h, (u64)bits_f64(w24));
    h = mix(h, (u64)v25);
    h = mix(h, (u64)v26);
    h = mix(h, (u64)v27);
    h = mix(h, (u64)v28);
    h = mix(h, (u64)a6[0]);
    h = mix(h, (u64)a6[3]);
    h = mix(h, load_u64(own + 0));
    h = mix(h, load_u64(own + 8));
    h = mix(h, load_u64(own + 16));
    h = mix(h, load_u64(own + 24));
    h = mix(h, load_u64(own + 32));
    h = mix(h, load_u64(own + 40));
    h = mix(h, load_u64(own + 48));
    h = mix(h, load_u64(own + 56));
    h = mix(h, load_u64(kept + 0));
    h = mix(h, load_u64(kept + 8));
    h = mix(h, load_u64(kept + 16));
    h = mix(h, load_u64(kept + 24));
    sync_block();
    h = mix(h, (u64)all_tally_add[h & 3u]);
    h = mix(h, (u64)all_tally_add64[h & 3u]);
    h = mix(h, (u64)all_tally_xor[h & 3u]);
    h = mix(h, (u64)all_tally_or[h & 3u]);
    h = mix(h, (u64)all_tally_max[h & 3u]);
    h = mix(h, (u64)all_tally_min[h & 3u]);
    h = mix(h, (u64)all_tally_loop[h & 3u]);
    out[gid] = h;
}

#ifndef DEVICE_CODE
CASE(random_5)
{
    random_compare("kernel_0", kernel_0, 1, (struct size3){33, 1, 1});
    random_compare("kernel_1", kernel_1, 3, (struct size3){16, 3, 2});
}
#endif
