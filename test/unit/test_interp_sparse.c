/* test_interp_sparse.c - mma.sp of the interpreter, in each type and shape: random numbers, random
 * halves of a's chunks, and the lanes' registers as the ISA's tables have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interp_rig.h"

enum { LANES = 32, ROWS = 16, COLUMNS = 8, MAX_K = 128, RECORD = 16 };

/* What a lane loads and stores: four words each. */
enum { A = 0, B = 4, C = 8, D = 8, METADATA = 12 };

static uint32_t next_random(void)
{
    static uint32_t state = 2463534242;

    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

struct element {
    const char *name;
    unsigned bits, mantissa; /* no mantissa: a whole number */
    bool is_signed;
};

static const struct element F16 = {"f16", 16, 10, true}, BF16 = {"bf16", 16, 7, true},
                            TF32 = {"tf32", 32, 23, true}, F32 = {"f32", 32, 23, true},
                            E4M3 = {"e4m3", 8, 3, true}, E5M2 = {"e5m2", 8, 2, true},
                            S8 = {"s8", 8, 0, true}, U8 = {"u8", 8, 0, false},
                            S4 = {"s4", 4, 0, true}, U4 = {"u4", 4, 0, false},
                            S32 = {"s32", 32, 0, true};

/* Whole numbers that every type holds. */
static int small(const struct element *e)
{
    return (int)(next_random() % 7) - (e->is_signed ? 3 : 0);
}

static uint32_t encode(const struct element *e, int value)
{
    unsigned magnitude = (unsigned)abs(value), power = 0;
    unsigned bias = (1u << (e->bits - e->mantissa - 2)) - 1;

    if (!e->mantissa)
        return (uint32_t)value & (UINT32_MAX >> (32 - e->bits));
    if (!value)
        return 0;
    while (magnitude >> power > 1)
        power++;
    return (value < 0 ? 1u : 0) << (e->bits - 1) | (power + bias) << e->mantissa |
           (magnitude - (1u << power)) << (e->mantissa - power);
}

struct product {
    const struct element *a, *b, *sum;
    unsigned k, holders; /* lanes of four that hold metadata */
};

struct matrices {
    int kept[ROWS][MAX_K / 2], whole[ROWS][MAX_K], b[MAX_K][COLUMNS], c[ROWS][COLUMNS];
    unsigned nibble[ROWS][MAX_K / 2];
};

static void fill(const struct product *p, struct matrices *m, bool ordered)
{
    unsigned chunk = p->a->bits == 32 ? 2 : p->a->bits == 4 ? 8 : 4, half = chunk / 2;

    memset(m, 0, sizeof(*m));
    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned c = 0; c < p->k / chunk; c++) {
            unsigned first = next_random() % 4, second = (first + 1 + next_random() % 3) % 4;

            if (chunk == 2) {
                first = first / 2 * 2;
                second = first + 1;
            } else if (ordered && first > second) {
                unsigned other = first;
                first = second;
                second = other;
            }
            m->nibble[r][c] = first | second << 2;
            for (unsigned i = 0; i < half; i++) {
                unsigned quarter = i < (half + 1) / 2 ? first : second;
                unsigned column = chunk == 2   ? first / 2
                                  : chunk == 4 ? quarter
                                               : quarter * 2 + i % 2;

                m->whole[r][c * chunk + column] = m->kept[r][c * half + i] = small(p->a);
            }
        }
    for (unsigned i = 0; i < p->k; i++)
        for (unsigned j = 0; j < COLUMNS; j++)
            m->b[i][j] = small(p->b);
    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned j = 0; j < COLUMNS; j++)
            m->c[r][j] = small(&S8);
}

/* Places element I of its kind into a lane's registers from *WORDS on. */
static void put(uint32_t *words, const struct element *e, unsigned i, int value)
{
    unsigned per = 32 / e->bits;

    words[i / per] |= encode(e, value) << i % per * e->bits;
}

static uint32_t metadata(const struct product *p, const struct matrices *m, unsigned lane,
                         unsigned holder)
{
    unsigned g = lane / 4;
    uint32_t word = 0;

    for (unsigned i = 0; i < 8; i++)
        if (p->a->bits >= 16) /* bits 0-15: row g, 16-31: row g + 8 */
            word |= m->nibble[g + i / 4 * 8][holder * 4 + i % 4] << 4 * i;
        else /* the first two lanes: the first 32 bits of rows g and g + 8 */
            word |= m->nibble[g + holder % 2 * 8][holder / 2 * 8 + i] << 4 * i;
    return word;
}

static void give(const struct product *p, const struct matrices *m, unsigned selector,
                 uint32_t (*lanes)[RECORD])
{
    unsigned a_per = 32 / p->a->bits, b_per = 32 / p->b->bits;

    for (unsigned l = 0; l < LANES; l++) {
        unsigned g = l / 4, t = l % 4, first = selector * p->holders;

        memset(lanes[l], 0, sizeof(lanes[l]));
        for (unsigned i = 0; i < ROWS * p->k / 2 / LANES; i++)
            put(&lanes[l][A], p->a, i,
                m->kept[g + i / a_per % 2 * 8][t * a_per + i % a_per + i / a_per / 2 * 4 * a_per]);
        for (unsigned i = 0; i < p->k * COLUMNS / LANES; i++)
            put(&lanes[l][B], p->b, i, m->b[t * b_per + i % b_per + i / b_per * 4 * b_per][g]);
        for (unsigned i = 0; i < 4; i++)
            put(&lanes[l][C], p->sum, i, m->c[g + i / 2 * 8][t * 2 + i % 2]);
        lanes[l][METADATA] =
            t >= first && t < first + p->holders ? metadata(p, m, l, t - first) : next_random();
    }
}

static void list(char *text, unsigned first, unsigned count)
{
    text += sprintf(text, "{%%r%u", first);
    for (unsigned i = 1; i < count; i++)
        text += sprintf(text, ", %%r%u", first + i);
    strcpy(text, "}");
}

/* One warp; the lanes' sums stand in place of what was added to them. */
static struct rig *multiply(const struct product *p, const char *variant, unsigned selector,
                            const char *more, uint32_t (*lanes)[RECORD],
                            uint32_t (**result)[RECORD])
{
    char a[64], b[64], c[64], text[2048];
    unsigned sums = p->sum->bits / 8;
    struct rig *r;

    list(a, 1, p->k / 2 * ROWS * p->a->bits / 1024);
    list(b, 5, p->k * COLUMNS * p->b->bits / 1024);
    list(c, 9, sums);
    snprintf(
        text, sizeof(text),
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %%r<20>; .reg .b64 %%y<3>;\nld.param.u64 %%y0, [p];\nmov.u32 %%r0, %%tid.x;\n"
        "mul.wide.u32 %%y1, %%r0, 64;\nadd.u64 %%y0, %%y0, %%y1;\n"
        "ld.global.v4.b32 {%%r1, %%r2, %%r3, %%r4}, [%%y0];\n"
        "ld.global.v4.b32 {%%r5, %%r6, %%r7, %%r8}, [%%y0+16];\n"
        "ld.global.v4.b32 {%%r9, %%r10, %%r11, %%r12}, [%%y0+32];\n"
        "ld.global.b32 %%r13, [%%y0+48];\n"
        "mma.%s.sync.aligned.m16n8k%u.row.col%s.%s.%s.%s.%s %s, %s, %s, %s, %%r13, %u;\n"
        "st.global.v4.b32 [%%y0+32], {%%r9, %%r10, %%r11, %%r12};\nret;\n}\n",
        variant, p->k, more, p->sum->name, p->a->name, p->b->name, p->sum->name, c, a, b, c,
        selector);
    r = rig_new(text, strlen(text));
    assert_non_null(r);
    *result = rig_alloc(r, LANES * sizeof(**result));
    memcpy(*result, lanes, LANES * sizeof(**result));
    assert_int_equal(rig_launch(r, "k", 1, LANES, 0, result), EXEC_DONE);
    return r;
}

static void expect_product(const struct product *p, const struct matrices *m,
                           uint32_t (*lanes)[RECORD])
{
    for (unsigned l = 0; l < LANES; l++) {
        uint32_t want[4] = {0};

        for (unsigned i = 0; i < 4; i++) {
            unsigned row = l / 4 + i / 2 * 8, column = l % 4 * 2 + i % 2;
            int sum = m->c[row][column];

            for (unsigned k = 0; k < p->k; k++)
                sum += m->whole[row][k] * m->b[k][column];
            put(want, p->sum, i, sum);
        }
        for (unsigned i = 0; i < p->sum->bits / 8; i++)
            if (lanes[l][D + i] != want[i])
                fail_msg("%s by %s, k %u: word %u of lane %u is 0x%x, not 0x%x", p->a->name,
                         p->b->name, p->k, i, l, lanes[l][D + i], want[i]);
    }
}

static void half_of_a_row_is_multiplied(void **state)
{
    static const struct product products[] = {
        {&F16, &F16, &F16, 16, 1},   {&F16, &F16, &F32, 16, 1},   {&F16, &F16, &F16, 32, 2},
        {&F16, &F16, &F32, 32, 2},   {&BF16, &BF16, &F32, 16, 1}, {&BF16, &BF16, &F32, 32, 2},
        {&TF32, &TF32, &F32, 8, 1},  {&TF32, &TF32, &F32, 16, 2}, {&S8, &S8, &S32, 32, 2},
        {&S8, &U8, &S32, 32, 2},     {&U8, &S8, &S32, 64, 4},     {&U8, &U8, &S32, 64, 4},
        {&S4, &S4, &S32, 64, 2},     {&U4, &S4, &S32, 64, 2},     {&S4, &U4, &S32, 128, 4},
        {&U4, &U4, &S32, 128, 4},    {&E4M3, &E4M3, &F32, 64, 4}, {&E4M3, &E5M2, &F32, 64, 4},
        {&E5M2, &E4M3, &F32, 64, 4}, {&E5M2, &E5M2, &F32, 64, 4},
    };
    static const char *const variants[] = {"sp", "sp::ordered_metadata"};
    static struct matrices m;
    uint32_t lanes[LANES][RECORD], (*result)[RECORD];

    (void)state;
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
        for (unsigned round = 0; round < 16; round++) {
            const struct product *p = &products[i];
            unsigned selector = round / 2 % (4 / p->holders);
            struct rig *r;

            fill(p, &m, round % 2);
            give(p, &m, selector, lanes);
            r = multiply(p, variants[round % 2], selector, "", lanes, &result);
            expect_product(p, &m, result);
            rig_free(r);
        }
}

/* The first two of each chunk are kept, and the others' rows of b are infinite. */
static void what_is_left_out_of_b_counts_for_nothing(void **state)
{
    static const struct product p = {&F16, &F16, &F32, 16, 1};
    static struct matrices m;
    uint32_t lanes[LANES][RECORD], (*result)[RECORD];
    struct rig *r;

    (void)state;
    fill(&p, &m, true);
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned c = 0; c < p.k / 4; c++) {
            m.nibble[row][c] = 4;
            m.whole[row][4 * c] = m.kept[row][2 * c];
            m.whole[row][4 * c + 1] = m.kept[row][2 * c + 1];
            m.whole[row][4 * c + 2] = m.whole[row][4 * c + 3] = 0;
        }
    give(&p, &m, 0, lanes);
    for (unsigned l = 0; l < LANES; l++) /* lanes 1 and 3 of four hold rows 2, 3 and 6, 7 */
        if (l & 1)
            lanes[l][B] = lanes[l][B + 1] = 0x7c007c00;
    r = multiply(&p, "sp", 0, "", lanes, &result);
    expect_product(&p, &m, result);
    rig_free(r);
}

static void sums_of_whole_numbers_are_clamped(void **state)
{
    static const struct product p = {&S8, &S8, &S32, 32, 2};
    static struct matrices m;
    uint32_t lanes[LANES][RECORD], (*result)[RECORD];
    struct rig *r;

    (void)state;
    fill(&p, &m, true);
    give(&p, &m, 0, lanes);
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; i < 4; i++) {
            lanes[l][A + i] = lanes[l][B + i] = 0x01010101;
            lanes[l][C + i] = 0x7ffffff8;
        }
    r = multiply(&p, "sp", 0, ".satfinite", lanes, &result);
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(result[l][D + i], 0x7fffffff);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_a_row_is_multiplied),
        cmocka_unit_test(what_is_left_out_of_b_counts_for_nothing),
        cmocka_unit_test(sums_of_whole_numbers_are_clamped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
