/* picture.c - see picture.h. */
#include "picture.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#define JPEG_QUALITY 92
#define PIXELS_MAX   (400u * 1000 * 1000) /* 1.2 GB of memory */

/* libjpeg's way to fail is a function that does not return. */
struct jpeg_failure {
    struct jpeg_error_mgr manager; /* first: libjpeg knows this part only */
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
};

static void __attribute__((noreturn)) jpeg_fail(j_common_ptr jpeg)
{
    struct jpeg_failure *failure = (struct jpeg_failure *)jpeg->err;

    failure->manager.format_message(jpeg, failure->message);
    longjmp(failure->back, 1);
}

/* Warnings of slightly broken files are not for the table. */
static void jpeg_silent(j_common_ptr jpeg, int level)
{
    (void)jpeg, (void)level;
}

static struct jpeg_error_mgr *jpeg_failure_init(struct jpeg_failure *failure)
{
    jpeg_std_error(&failure->manager);
    failure->manager.error_exit = jpeg_fail;
    failure->manager.emit_message = jpeg_silent;
    return &failure->manager;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void choose_scale(struct jpeg_decompress_struct *jpeg, unsigned least_width,
                         unsigned least_height)
{
    jpeg->scale_denom = 8;
    for (jpeg->scale_num = 1; jpeg->scale_num < 8; jpeg->scale_num++) {
        jpeg_calc_output_dimensions(jpeg);
        if (jpeg->output_width >= least_width && jpeg->output_height >= least_height)
            return;
    }
}

/* What longjmp passes over lives in the structs, so nothing here is lost by it. */
static bool decode(struct jpeg_decompress_struct *jpeg, struct jpeg_failure *failure, FILE *file,
                   unsigned least_width, unsigned least_height, struct picture *picture)
{
    if (setjmp(failure->back) != 0)
        return false;
    jpeg_create_decompress(jpeg);
    jpeg_stdio_src(jpeg, file);
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = JCS_RGB;
    choose_scale(jpeg, least_width, least_height);
    jpeg_start_decompress(jpeg);
    if ((uint64_t)jpeg->output_width * jpeg->output_height > PIXELS_MAX) {
        snprintf(failure->message, sizeof(failure->message), "more than %u pixels", PIXELS_MAX);
        return false;
    }
    picture->width = jpeg->output_width;
    picture->height = jpeg->output_height;
    picture->rgb = malloc((size_t)picture->width * picture->height * 3);
    if (picture->rgb == NULL) {
        snprintf(failure->message, sizeof(failure->message), "not enough memory");
        return false;
    }
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = picture->rgb + (size_t)jpeg->output_scanline * picture->width * 3;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    return true;
}

bool picture_read(const char *path, unsigned least_width, unsigned least_height,
                  struct picture *picture)
{
    struct jpeg_decompress_struct jpeg = {0};
    struct jpeg_failure failure;
    struct picture made = {0, 0, NULL};
    FILE *file = fopen(path, "rb");
    bool good;

    if (file == NULL) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
        return false;
    }
    jpeg.err = jpeg_failure_init(&failure);
    good = decode(&jpeg, &failure, file, least_width, least_height, &made);
    jpeg_destroy_decompress(&jpeg);
    fclose(file);
    if (!good) {
        fprintf(stderr, "demo: %s: %s\n", path, failure.message);
        picture_free(&made);
        return false;
    }
    *picture = made;
    return true;
}

/* ---- Drawing --------------------------------------------------------------------------------- */

#define HILLS 5

/* -8 to 7, another one for each pixel. */
static int grain(unsigned x, unsigned y)
{
    uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca6bu;

    h = (h ^ h >> 15) * 0x2c1b3c6du;
    return (int)(h >> 28) - 8;
}

/* How far down the crest of a hill is, of 0 to 1; later hills are nearer. */
static double crest(unsigned hill, double across)
{
    const double waves = 2.5 + 1.7 * hill;

    return 0.38 + 0.12 * hill + 0.06 * sin(waves * across + 1.9 * hill) +
           0.015 * sin(7 * waves * across + hill);
}

static uint8_t shade(double value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

bool picture_draw(struct picture *picture, unsigned width, unsigned height)
{
    uint8_t *at = malloc((size_t)width * height * 3);

    if (at == NULL) {
        fprintf(stderr, "demo: not enough memory for %u x %u pixels\n", width, height);
        return false;
    }
    *picture = (struct picture){width, height, at};
    for (unsigned y = 0; y < height; y++) {
        for (unsigned x = 0; x < width; x++) {
            const double across = 6.0 * x / width, down = (double)y / height;
            unsigned hills = 0;
            double light;

            while (hills < HILLS && down > crest(hills, across))
                hills++;
            light = 1 - (double)hills / (HILLS + 1) + grain(x, y) / 120.0;
            *at++ = shade(hills > 0 ? 150 * light : 120 + 220 * down);
            *at++ = shade(hills > 0 ? 200 * light : 150 + 150 * down);
            *at++ = shade(hills > 0 ? 170 * light * light : 235 - 60 * down);
        }
    }
    return true;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static bool encode(struct jpeg_compress_struct *jpeg, struct jpeg_failure *failure, FILE *file,
                   const uint8_t *rgb, unsigned width, unsigned height)
{
    if (setjmp(failure->back) != 0)
        return false;
    jpeg_create_compress(jpeg);
    jpeg_stdio_dest(jpeg, file);
    jpeg->image_width = width;
    jpeg->image_height = height;
    jpeg->input_components = 3;
    jpeg->in_color_space = JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, JPEG_QUALITY, TRUE);
    jpeg_start_compress(jpeg, TRUE);
    while (jpeg->next_scanline < height) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(rgb + (size_t)jpeg->next_scanline * width * 3);
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
    return true;
}

bool picture_write(const char *path, const uint8_t *rgb, unsigned width, unsigned height)
{
    struct jpeg_compress_struct jpeg = {0};
    struct jpeg_failure failure;
    FILE *file = fopen(path, "wb");
    bool good;

    if (file == NULL) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
        return false;
    }
    snprintf(failure.message, sizeof(failure.message), "the disk is full, or the file too large");
    jpeg.err = jpeg_failure_init(&failure);
    good = encode(&jpeg, &failure, file, rgb, width, height);
    jpeg_destroy_compress(&jpeg);
    if (fclose(file) != 0)
        good = false;
    if (!good)
        fprintf(stderr, "demo: writing %s: %s\n", path, failure.message);
    return good;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static uint8_t sample(const struct picture *p, double x, double y, unsigned colour)
{
    unsigned x0 = (unsigned)x, y0 = (unsigned)y;
    unsigned x1 = x0 + 1 < p->width ? x0 + 1 : x0, y1 = y0 + 1 < p->height ? y0 + 1 : y0;
    double fx = x - x0, fy = y - y0;
    const uint8_t *a = p->rgb + (size_t)y0 * p->width * 3 + colour;
    const uint8_t *b = p->rgb + (size_t)y1 * p->width * 3 + colour;
    double above = a[x0 * 3] * (1 - fx) + a[x1 * 3] * fx;
    double below = b[x0 * 3] * (1 - fx) + b[x1 * 3] * fx;

    return (uint8_t)(above * (1 - fy) + below * fy + 0.5);
}

bool picture_cover(struct picture *picture, unsigned width, unsigned height)
{
    double across = (double)width / picture->width, down = (double)height / picture->height;
    double factor = across > down ? across : down;
    struct picture large;

    if (factor <= 1)
        return true;
    large.width = across > down ? width : (unsigned)(picture->width * factor + 0.5);
    large.height = across > down ? (unsigned)(picture->height * factor + 0.5) : height;
    large.rgb = malloc((size_t)large.width * large.height * 3);
    if (large.rgb == NULL) {
        fprintf(stderr, "demo: not enough memory for %u x %u pixels\n", large.width, large.height);
        return false;
    }
    for (unsigned y = 0; y < large.height; y++) {
        for (unsigned x = 0; x < large.width; x++) {
            double from_x = (double)x * (picture->width - 1) / (large.width - 1);
            double from_y = (double)y * (picture->height - 1) / (large.height - 1);
            for (unsigned colour = 0; colour < 3; colour++)
                large.rgb[((size_t)y * large.width + x) * 3 + colour] =
                    sample(picture, from_x, from_y, colour);
        }
    }
    picture_free(picture);
    *picture = large;
    return true;
}

void picture_crop(const struct picture *picture, double across, unsigned width, unsigned height,
                  uint8_t *rgb)
{
    size_t left = (size_t)((picture->width - width) * across);
    size_t top = (picture->height - height) / 2;

    for (unsigned y = 0; y < height; y++)
        memcpy(rgb + (size_t)y * width * 3, picture->rgb + ((top + y) * picture->width + left) * 3,
               (size_t)width * 3);
}

void picture_free(struct picture *picture)
{
    free(picture->rgb);
    picture->rgb = NULL;
}
