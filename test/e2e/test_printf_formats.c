/*
 * test_printf_formats.c - a kernel's printf formats as the C library's does, whatever the compiler
 * made of it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "printed.h"

struct formats {
    gs_session session;
    gs_module module;
    gs_devptr memory; /* where formats and strings are put one after the other */
    size_t used;
    FILE *wanted; /* what the C library makes of the same */
};

static gs_devptr string_put(struct formats *f, const char *string)
{
    gs_devptr at = f->memory + f->used;
    size_t size = strlen(string) + 1;

    CHECK(f->used + size <= 1 << 20);
    CHECK_OK(gs_memcpy_htod(f->session, at, string, size));
    f->used += size;
    return at;
}

static void run(struct formats *f, const char *kernel, void **args)
{
    CHECK_OK(kernels_launch(NULL, kernels_get(f->module, kernel), 1, 1, args));
}

static void bare(struct formats *f, const char *format, const char *wanted)
{
    gs_devptr at = string_put(f, format);

    run(f, "bare", (void *[]){&at});
    fputs(wanted, f->wanted);
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void integers(struct formats *f)
{
    static const char *const formats[] = {
        "<%d>",  "<%5d>",  "<%-5d>", "<%05d>", "<%+d>",  "<% d>",   "<%i>",   "<%u>",
        "<%o>",  "<%#o>",  "<%x>",   "<%#X>",  "<%.3d>", "<%8.3d>", "<%hd>",  "<%hhd>",
        "<%hu>", "<%hhx>", "<%c>",   "<%3c>",  "<%-3c>", "<%-+5d>", "<%12u>",
    };
    static const int values[] = {65, 0, -1, 2147483647, -70000};

    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        gs_devptr at = string_put(f, formats[i]);
        for (size_t n = 0; n < ARRAY_SIZE(values); n++) {
            int value = values[n];
            run(f, "integer", (void *[]){&at, &value});
            fprintf(f->wanted, formats[i], value);
        }
    }
}

static void wide_integers(struct formats *f)
{
    static const char *const formats[] = {
        "<%ld>", "<%lld>", "<%llu>", "<%llx>", "<%#llo>", "<%24lld>", "<%zu>", "<%jd>", "<%tx>",
    };
    static const long long values[] = {0, -1, 1ll << 62, -123456789012345ll};

    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        gs_devptr at = string_put(f, formats[i]);
        for (size_t n = 0; n < ARRAY_SIZE(values); n++) {
            long long value = values[n];
            run(f, "wide", (void *[]){&at, &value});
            fprintf(f->wanted, formats[i], value);
        }
    }
}

static void reals(struct formats *f)
{
    static const char *const formats[] = {
        "<%f>",   "<%e>",     "<%E>",      "<%g>",    "<%G>",    "<%a>",      "<%A>",    "<%F>",
        "<%.0f>", "<%10.3f>", "<%-10.3f>", "<%+.2e>", "<%#.0f>", "<%010.2f>", "<% .3g>", "<%.40f>",
    };
    const double values[] = {0.0, -0.0, 1.5, -2.25e-7, 1e300, 4.9e-324, INFINITY, -INFINITY, NAN};

    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        gs_devptr at = string_put(f, formats[i]);
        for (size_t n = 0; n < ARRAY_SIZE(values); n++) {
            double value = values[n];
            run(f, "real", (void *[]){&at, &value});
            fprintf(f->wanted, formats[i], value);
        }
    }
}

static void strings(struct formats *f)
{
    static const char *const formats[] = {"<%s>",   "<%10s>",   "<%-10s>", "<%.3s>",
                                          "<%.0s>", "<%20.2s>", "<%.100s>"};
    static const char *const values[] = {"", "a", "eight by", "longer than that, with \xc3\xbc"};
    char *longest = malloc(20000);

    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        gs_devptr at = string_put(f, formats[i]);
        for (size_t n = 0; n < ARRAY_SIZE(values); n++) {
            gs_devptr value = string_put(f, values[n]);
            run(f, "text", (void *[]){&at, &value});
            fprintf(f->wanted, formats[i], values[n]);
        }
    }
    /* No string at all, and one that is longer than is taken. */
    CHECK(longest);
    memset(longest, 'x', 20000);
    longest[19999] = '\0';
    gs_devptr at = string_put(f, "<%s>\n"), nothing = 0, value = string_put(f, longest);
    run(f, "text", (void *[]){&at, &nothing});
    run(f, "text", (void *[]){&at, &value});
    fprintf(f->wanted, "<(null)>\n<%.16384s>\n", longest);
    free(longest);
}

static void widths_that_are_arguments(struct formats *f)
{
    static const char *const formats[] = {"<%*.*f>", "<%-*.*e>", "<%0*.*f>", "<%+*.*g>"};
    static const int numbers[][2] = {{12, 3}, {-12, 3}, {0, 0}, {5, -1}, {-3, -7}};
    double value = -31.0625;

    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        gs_devptr at = string_put(f, formats[i]);
        for (size_t n = 0; n < ARRAY_SIZE(numbers); n++) {
            int width = numbers[n][0], precision = numbers[n][1];
            run(f, "starred", (void *[]){&at, &width, &precision, &value});
            fprintf(f->wanted, formats[i], width, precision, value);
        }
    }
}

static void bare_formats(struct formats *f)
{
    static char longest[8000];

    bare(f, "plain\n", "plain\n");
    bare(f, "", "");
    bare(f, "100%%, %5%\n", "100%, %\n");
    bare(f, "no argument: %d %s %*d\n", "no argument: %d %s %*d\n");
    bare(f, "not known: %y %n %-q %\n", "not known: %y %n %-q %\n");
    bare(f, "cut off: %", "cut off: %");
    bare(f, "cut off: %-08.3ll", "cut off: %-08.3ll");
    memset(longest, 'y', sizeof(longest) - 1);
    bare(f, longest, longest);
}

static void mixtures(struct formats *f)
{
    static const char format[] = "%c|%6d|%-7s|%#llx|%8.3f|%hu|%p\n", word[] = "mixed";
    gs_devptr at = string_put(f, format), string = string_put(f, word);
    char c = 'm';
    int i = -42;
    long long w = 0x123456789abcdefll;
    float x = 1.0f / 3.0f;
    unsigned short h = 65535;
    void *p = (void *)0x7f0012345678;

    run(f, "mixed", (void *[]){&at, &c, &i, &string, &w, &x, &h, &p});
    fprintf(f->wanted, format, c, i, word, (unsigned long long)w, (double)x, h, p);
}

static void crowds(struct formats *f)
{
    int first = 100;

    run(f, "crowd", (void *[]){&first});
    for (int i = 0; i < 32; i++)
        fprintf(f->wanted, "%d ", first + i);
    fputs("%d %d\n", f->wanted); /* CUDA's limit */
}

static void every_conversion_is_printed_as_the_c_library_does(void)
{
    struct server *server = server_start(&server_unfenced);

    for (size_t i = 0; i < IMAGES; i++) {
        struct formats f = {0};
        struct capture out;
        char *wanted, *got;
        size_t size;

        CHECK_OK(server_attach(server, &f.session));
        CHECK_OK(gs_malloc(f.session, 1 << 20, &f.memory));
        f.module = image_load(f.session, images[i]);
        f.wanted = open_memstream(&wanted, &size);
        CHECK(f.wanted);
        capture_begin(&out, STDOUT_FILENO);
        integers(&f);
        wide_integers(&f);
        reals(&f);
        strings(&f);
        widths_that_are_arguments(&f);
        bare_formats(&f);
        mixtures(&f);
        crowds(&f);
        CHECK_OK(gs_sync(f.session));
        got = capture_end(&out);
        fclose(f.wanted);
        printf("# %s: %zu bytes\n", images[i], size);
        expect_text(got, wanted);
        free(got);
        free(wanted);
        CHECK_OK(gs_detach(f.session));
    }
    server_stop(server);
}

static void printf_returns_the_count_of_its_arguments(void)
{
    struct server *server = server_start(&server_unfenced);

    for (size_t i = 0; i < IMAGES; i++) {
        gs_devptr memory, nothing = 0;
        int results[4] = {9, 9, 9, 9};
        struct capture out;
        gs_session session;
        char *got;

        CHECK_OK(server_attach(server, &session));
        CHECK_OK(gs_malloc(session, sizeof(results), &memory));
        gs_kernel kernel = kernels_get(image_load(session, images[i]), "results");
        capture_begin(&out, STDOUT_FILENO);
        CHECK_OK(kernels_launch(NULL, kernel, 1, 1, (void *[]){&memory, &nothing}));
        CHECK_OK(gs_memcpy_dtoh(session, results, memory, sizeof(results)));
        got = capture_end(&out);
        expect_text(got, "nothing\n1 and two\n  2.5%\n");
        free(got);
        CHECK_EQUAL(results[0], 0);
        CHECK_EQUAL(results[1], 2);
        CHECK_EQUAL(results[2], -1);
        CHECK_EQUAL(results[3], 1);
        CHECK_OK(gs_detach(session));
    }
    server_stop(server);
}

static const struct test tests[] = {
    TEST(every_conversion_is_printed_as_the_c_library_does),
    TEST(printf_returns_the_count_of_its_arguments),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
