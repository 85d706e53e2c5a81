/*
 * test_worker_image.c - what a module image is, and the sizes that it states: of a bundle of
 * images, no size leads outside of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/image_bundle.h"
#include "worker/module/image.h"

/* A bundle of two texts, on the heap, where a sanitizer sees a byte read behind it. */
static unsigned char *bundle_new(uint64_t *size)
{
    static const char *const texts[] = {"first", "the second"};
    uint64_t at = bundle_head(2);
    struct image_bundle *bundle;

    *size = at;
    for (int i = 0; i < 2; i++)
        *size = bundle_next(*size, strlen(texts[i]));
    bundle = calloc(1, *size);
    assert_non_null(bundle);
    bundle->magic = BUNDLE_MAGIC;
    bundle->count = 2;
    for (int i = 0; i < 2; i++) {
        bundle->size[i] = strlen(texts[i]);
        memcpy((char *)bundle + at, texts[i], strlen(texts[i]));
        at = bundle_next(at, strlen(texts[i]));
    }
    return (unsigned char *)bundle;
}

static void a_bundle_is_its_images(void **state)
{
    (void)state;
    uint64_t size, bytes;
    unsigned char *image = bundle_new(&size);

    assert_true(image_is_bundle(image, size));
    assert_true(image_binary(image, size));
    assert_null(image_fault(image, size));
    assert_memory_equal(image_bundled(image, 0, &bytes), "first", 5);
    assert_int_equal(bytes, 5);
    assert_memory_equal(image_bundled(image, 1, &bytes), "the second", 10);
    assert_int_equal(bytes, 10);
    free(image);
}

static void a_bundle_that_is_cut_off_anywhere_is_refused(void **state)
{
    (void)state;
    uint64_t size;
    unsigned char *image = bundle_new(&size);

    for (uint64_t less = 4; less < bundle_head(2) + 8 + 10; less++) {
        unsigned char *cut = malloc(less);

        assert_non_null(cut);
        memcpy(cut, image, less);
        assert_non_null(image_fault(cut, less));
        free(cut);
    }
    free(image);
}

static void expect_fault(size_t at, const void *bytes, size_t count)
{
    uint64_t size;
    unsigned char *image = bundle_new(&size);

    memcpy(image + at, bytes, count);
    assert_non_null(image_fault(image, size));
    free(image);
}

static void numbers_that_lead_outside_are_refused(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 3, 1000, BUNDLE_IMAGES + 1, UINT32_MAX};
    static const uint64_t sizes[] = {
        0, 100, UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 31, UINT64_C(1) << 63};
    static const uint32_t inner[] = {BUNDLE_MAGIC, 0x466243b1u, 0x464c457fu, 0xba55ed50u};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        expect_fault(offsetof(struct image_bundle, count), &counts[i], sizeof(counts[i]));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        expect_fault(bundle_head(0), &sizes[i], sizeof(sizes[i]));
        expect_fault(bundle_head(1), &sizes[i], sizeof(sizes[i]));
    }
    /* No bundle within a bundle, and no image whose own sizes do not fit. */
    for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++)
        expect_fault(bundle_head(2), &inner[i], sizeof(inner[i]));
    expect_fault(bundle_head(2) + 1, "", 1); /* a NUL within a text */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bundle_is_its_images),
        cmocka_unit_test(a_bundle_that_is_cut_off_anywhere_is_refused),
        cmocka_unit_test(numbers_that_lead_outside_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
