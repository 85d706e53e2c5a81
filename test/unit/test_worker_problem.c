/* test_worker_problem.c - what a product's record may say, and which bytes it means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/blas/problem.h"

static struct rec_gemm product(uint32_t m, uint32_t n, uint32_t k)
{
    return (struct rec_gemm){.h = {.op = REC_GEMM, .size = sizeof(struct rec_gemm)},
                             .inputs = REC_F16,
                             .output = REC_F32,
                             .compute = REC_COMPUTE_F32,
                             .batch = 1,
                             .m = m,
                             .n = n,
                             .k = k,
                             .a = {0x1000, m, 0},
                             .b = {0x2010, k, 0},
                             .c = {0x3008, m, 0}};
}

static void extents_reach_from_the_first_element_to_the_last(void **state)
{
    struct rec_gemm r = product(5, 6, 7);
    struct problem problem;
    struct extents extents;

    (void)state;
    assert_null(problem_of(&r, &problem, &extents));
    assert_int_equal(extents.a, 2 * 5 * 7);
    assert_int_equal(extents.b, 2 * 7 * 6);
    assert_int_equal(extents.c, 4 * 5 * 6);
    r.a.ld = 10;
    r.batch = 3;
    r.c.stride = 100;
    assert_null(problem_of(&r, &problem, &extents));
    assert_int_equal(extents.a, 2 * (10 * 6 + 5)); /* the same one for all: stride 0 */
    assert_int_equal(extents.c, 4 * (5 * 5 + 5 + 200));
    r.h.flags = REC_GEMM_TRANS_A | REC_GEMM_TRANS_B;
    r.b.ld = 9;
    assert_null(problem_of(&r, &problem, &extents));
    assert_int_equal(extents.a, 2 * (10 * 4 + 7));
    assert_int_equal(extents.b, 2 * (9 * 6 + 6));
}

static void sums_that_overflow_are_refused(void **state)
{
    static const uint64_t large[] = {UINT64_MAX,     UINT64_MAX / 2, UINT64_MAX / 4,
                                     UINT64_MAX / 8, INT64_MAX,      (uint64_t)1 << 62};
    struct problem problem;
    struct extents extents;

    (void)state;
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        struct rec_gemm r = product(0x7fffffff, 0x7fffffff, 0x7fffffff);

        r.a.ld = large[i];
        assert_non_null(problem_of(&r, &problem, &extents));
        r = product(4, 4, 4);
        r.batch = 0x7fffffff;
        r.c.stride = large[i];
        assert_non_null(problem_of(&r, &problem, &extents));
    }
}

static void problems_differ_by_alignment_and_not_by_address(void **state)
{
    struct rec_gemm r = product(8, 8, 8);
    struct problem first, second;
    struct extents extents;

    (void)state;
    assert_null(problem_of(&r, &first, &extents));
    assert_int_equal(first.align[0], 256);
    assert_int_equal(first.align[1], 16);
    assert_int_equal(first.align[2], 8);
    r.a.at += 0x10000;
    r.alpha = 77;
    r.a.stride = 1234; /* of a batch of one */
    assert_null(problem_of(&r, &second, &extents));
    assert_memory_equal(&first, &second, sizeof(first));
    r.a.at += 2;
    assert_null(problem_of(&r, &second, &extents));
    assert_int_equal(second.align[0], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extents_reach_from_the_first_element_to_the_last),
        cmocka_unit_test(sums_that_overflow_are_refused),
        cmocka_unit_test(problems_differ_by_alignment_and_not_by_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
