/* Each line of table.txt as a kernel of one warp-sized grid over edge and random operands, on the driver library that
 * GSHARE_CUDA_LIB names.
 *
 *   test_instructions                 compares with expected.bin, what an NVIDIA H200 answered; speaks TAP
 *   test_instructions --record FILE   writes such a file
 *   test_instructions NAME...         these only, with every difference
 *
 * A line that the device refuses to load is recorded as such, and not asked of another. */
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_abi.h"

enum { COUNT = 256, MAX_LINE = 1024 };

static struct {
#define MEMBER(name, arguments) CUresult(*name) arguments;
    CUDA_ABI_FUNCTIONS(MEMBER)
#undef MEMBER
} cu;

struct instruction {
    char name[128], result[16], operands[4][16], ptx[512];
    unsigned noperands;
    int tolerance;
};

static const char *open_driver(void)
{
    const char *name = getenv("GSHARE_CUDA_LIB");
    void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CUdevice device;
    CUcontext context;

    if (!library)
        return dlerror();
#define RESOLVE(function, arguments)                                                                                   \
    *(void **)&cu.function = dlsym(library, #function);                                                                \
    if (!cu.function)                                                                                                  \
        return #function;
    CUDA_ABI_FUNCTIONS(RESOLVE)
#undef RESOLVE
    if (cu.cuInit(0) || cu.cuDeviceGet(&device, 0) || cu.cuDevicePrimaryCtxRetain(&context, device) ||
        cu.cuCtxSetCurrent(context))
        return "no context";
    return NULL;
}

static bool read_line(char *line, struct instruction *i)
{
    char *part[5];

    memset(i, 0, sizeof *i);
    line[strcspn(line, "\n")] = 0;
    for (unsigned k = 0; k < 5; k++) {
        part[k] = line;
        if (k < 4) {
            line = strchr(line, ';');
            if (!line)
                return false;
            *line++ = 0;
        }
    }
    snprintf(i->name, sizeof i->name, "%s", part[0]);
    snprintf(i->result, sizeof i->result, "%s", part[1]);
    snprintf(i->ptx, sizeof i->ptx, "%s", part[4]);
    i->tolerance = atoi(part[3]);
    for (char *o = strtok(part[2], ","); o && i->noperands < 4; o = strtok(NULL, ","))
        snprintf(i->operands[i->noperands++], sizeof i->operands[0], "%s", o);
    return true;
}

/* ---- Types ---- */

static unsigned type_bits(const char *t)
{
    static const struct {
        const char *name;
        unsigned bits;
    } odd[] = {{"shift", 32}, {"lane", 32}, {"small", 32}, {"clamp", 32}, {"angle", 32}, {"f16x2", 32}, {"bf16x2", 32},
               {"bf16", 16}, {"u8", 32}, {"s8", 32}};

    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        if (!strcmp(odd[i].name, t))
            return odd[i].bits;
    return (unsigned)atoi(t + 1);
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

static uint64_t pick(const uint64_t *edges, size_t n, uint64_t random, unsigned i)
{
    return i % 4 != 3 ? edges[random % n] : mix(random + 77);
}

#define PICK(...)                                                                                                      \
    pick((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), r, i)

static uint64_t bits_of(float x)
{
    uint32_t b;

    memcpy(&b, &x, 4);
    return b;
}

static uint64_t half_edge(uint64_t r, unsigned i)
{
    return PICK(0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x8400, 0x3c00, 0xbc00, 0x3bff, 0x3c01, 0x4248, 0x7bff, 0xfbff, 0x7c00,
                0xfc00, 0x7e00, 0x7c01, 0xfe55, 0x4000, 0x3800, 0x5640, 0x6400) & 0xffff;
}

static uint64_t brain_edge(uint64_t r, unsigned i)
{
    return PICK(0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x8080, 0x3f80, 0xbf80, 0x3f7f, 0x3f81, 0x4049, 0x7f7f, 0xff7f, 0x7f80,
                0xff80, 0x7fc0, 0x7f81, 0xffd5, 0x4000, 0x3f00, 0x42c8, 0x4780) & 0xffff;
}

/* The value of operand K of lane I. */
static uint64_t operand(const char *t, unsigned k, unsigned i)
{
    uint64_t r = mix((uint64_t)i * 5 + k * 1000003 + 17);

    if (!strcmp(t, "shift"))
        return i % 5 == 4 ? PICK(32, 33, 63, 64, 65, 100, 255, 256, 0xffffffff, 0x80000000) : r % 36;
    if (!strcmp(t, "lane"))
        return r % 32;
    if (!strcmp(t, "small"))
        return (uint32_t)(int32_t)(r % 9) - 4u;
    if (!strcmp(t, "clamp"))
        return (uint64_t[]){0x1f, 0, 0x181f, 0x1800, 0x1c1f, 0x1003, 7}[r % 7];
    if (!strcmp(t, "angle"))
        return bits_of((float)((double)(r >> 11) * 0x1p-53 * 6.28 - 3.14));
    if (!strcmp(t, "f16"))
        return half_edge(r, i);
    if (!strcmp(t, "bf16"))
        return brain_edge(r, i);
    if (!strcmp(t, "f16x2"))
        return half_edge(r, i) | half_edge(mix(r), i + 1) << 16;
    if (!strcmp(t, "bf16x2"))
        return brain_edge(r, i) | brain_edge(mix(r), i + 1) << 16;
    if (!strcmp(t, "f32")) {
        if (i % 8 == 6) /* ordinary numbers */
            return bits_of((float)((double)(r >> 11) * 0x1p-53 * 20 - 10));
        return PICK(0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x807fffff, 0x800000, 0x80800000, 0x3f800000, 0xbf800000,
                    0x3f7fffff, 0x3f800001, 0x40490fdb, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                    0x7f800001, 0xffc12345, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x3f000000,
                    0x3fc00000, 0x40200000, 0xc0200000, 0x477fe000, 0x477ff000, 0x33000000, 0x33800001, 0x387fc000) &
               0xffffffff;
    }
    if (!strcmp(t, "f64")) {
        double x = (double)(r >> 11) * 0x1p-53 * 2000 - 1000;
        uint64_t b;

        memcpy(&b, &x, 8);
        if (i % 8 == 6)
            return b;
        return PICK(0, 1ull << 63, 1, 0x8000000000000001, 0xfffffffffffff, 0x10000000000000, 0x3ff0000000000000,
                    0xbff0000000000000, 0x3fefffffffffffff, 0x3ff0000000000001, 0x400921fb54442d18, 0x7fefffffffffffff,
                    0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001,
                    0xfff8000012345678, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000200000, 0x43e0000000000000,
                    0x43f0000000000000, 0x3fe0000000000000, 0x4004000000000000, 0x47efffffe0000000, 0x47efffffefffffff,
                    0x36a0000000000000, 0x380fffffc0000000, 0x40effc0000000000, 0x3e60000000000000);
    }
    unsigned bits = type_bits(t);
    uint64_t all = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (t[1] == '8')
        all = 0xffffffff; /* what lies above the byte must not matter */
    return PICK(0, 1, 2, 3, UINT64_MAX, UINT64_MAX - 1, 1ull << (bits - 1), (1ull << (bits - 1)) - 1, (1ull << (bits - 1)) + 1,
                0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 7, 10, 0x55555555, 0x12345678, 1ull << 31, 1ull << 32) &
           all;
}

/* ---- A kernel for one line ---- */

static void append(char *out, size_t size, const char *text)
{
    size_t n = strlen(out);

    snprintf(out + n, size - n, "%s", text);
}

static void write_kernel(const struct instruction *in, char *out, size_t size)
{
    static const char *const names[] = {"a", "b", "c", "e"};
    char line[256];
    unsigned bits = type_bits(in->result);

    snprintf(out, size, ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n"
                        ".reg .b32 %%t; .reg .b64 %%x, %%in, %%out;\n.reg .b%u %%d;\n", bits);
    for (unsigned k = 0; k < in->noperands; k++) {
        snprintf(line, sizeof line, ".reg .b%u %%%s;\n", type_bits(in->operands[k]), names[k]);
        append(out, size, line);
    }
    append(out, size, "ld.param.u64 %in, [p0];\nld.param.u64 %out, [p1];\nmov.u32 %t, %ctaid.x;\nshl.b32 %t, %t, 5;\n"
                      "{.reg .b32 %l; mov.u32 %l, %tid.x; add.u32 %t, %t, %l;}\nmul.wide.u32 %x, %t, 8;\n"
                      "add.u64 %in, %in, %x;\nadd.u64 %out, %out, %x;\n");
    for (unsigned k = 0; k < in->noperands; k++) {
        snprintf(line, sizeof line, "ld.global.b%u %%%s, [%%in+%u];\n", type_bits(in->operands[k]), names[k], k * COUNT * 8);
        append(out, size, line);
    }
    append(out, size, in->ptx);
    snprintf(line, sizeof line, "\nst.global.b%u [%%out], %%d;\nret;\n}\n", bits);
    append(out, size, line);
}

/* False where the device does not take it. */
static bool run(const struct instruction *in, CUdeviceptr input, CUdeviceptr output, uint64_t *results)
{
    static uint64_t values[4][COUNT];
    char ptx[4096];
    CUmodule module;
    CUfunction f;
    void *args[] = {&input, &output};

    write_kernel(in, ptx, sizeof ptx);
    if (cu.cuModuleLoadData(&module, ptx))
        return false;
    for (unsigned k = 0; k < in->noperands; k++)
        for (unsigned i = 0; i < COUNT; i++)
            values[k][i] = operand(in->operands[k], k, i);
    bool ok = !cu.cuMemcpyHtoD_v2(input, values, sizeof values) && !cu.cuMemsetD8_v2(output, 0, COUNT * 8) &&
              !cu.cuModuleGetFunction(&f, module, "k") &&
              !cu.cuLaunchKernel(f, COUNT / 32, 1, 1, 32, 1, 1, 0, NULL, args, NULL) && !cu.cuCtxSynchronize() &&
              !cu.cuMemcpyDtoH_v2(results, output, COUNT * 8);
    cu.cuModuleUnload(module);
    return ok;
}

/* ---- Comparing ---- */

static double as_double(const char *t, uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float f;
    double d;

    if (!strcmp(t, "f64")) {
        memcpy(&d, &bits, 8);
        return d;
    }
    if (!strcmp(t, "f16")) {
        int e = low >> 10 & 31;
        double m = e == 31 ? ((low & 1023) ? NAN : INFINITY) : e ? ldexp(1024 + (low & 1023), e - 25) : ldexp(low & 1023, -24);
        return low & 0x8000 ? -m : m;
    }
    if (!strcmp(t, "bf16"))
        low <<= 16;
    memcpy(&f, &low, 4);
    return (double)f;
}

static bool is_close_one(const char *t, int tolerance, uint64_t got, uint64_t want)
{
    double g = as_double(t, got), w = as_double(t, want);

    if (isnan(g) || isnan(w))
        return isnan(g) && isnan(w);
    if (isinf(w) || isinf(g))
        return g == w;
    if (tolerance < 0)
        return fabs(g - w) <= ldexp(1.0, tolerance) * (fabs(w) > 1 ? fabs(w) : 1);
    int64_t distance = (int64_t)(got & 0x7fffffff) - (int64_t)(want & 0x7fffffff);
    if ((got ^ want) & 0x80000000)
        return (got & 0x7fffffff) + (want & 0x7fffffff) <= (uint64_t)tolerance;
    return distance <= tolerance && distance >= -tolerance;
}

static bool is_close(const struct instruction *in, uint64_t got, uint64_t want)
{
    if (got == want)
        return true;
    if (!in->tolerance)
        return false;
    if (strstr(in->result, "x2")) {
        const char *half = in->result[0] == 'b' ? "bf16" : "f16";
        return is_close_one(half, in->tolerance, got & 0xffff, want & 0xffff) &&
               is_close_one(half, in->tolerance, got >> 16 & 0xffff, want >> 16 & 0xffff);
    }
    return is_close_one(in->result, in->tolerance, got, want);
}

/* Records: name, NUL, one byte 1 where it ran, then the results, each as long as its type. */
struct expected {
    const unsigned char *at, *end;
};

static bool find(struct expected e, const char *name, unsigned bytes, const unsigned char **results)
{
    while (e.at < e.end) {
        const char *here = (const char *)e.at;
        size_t length = strlen(here) + 1;
        unsigned size = e.at[length + 1];
        bool ran = e.at[length];
        if (!strcmp(here, name) && (!ran || size == bytes)) {
            *results = ran ? e.at + length + 2 : NULL;
            return true;
        }
        e.at += length + 2 + (ran ? size * COUNT : 0);
    }
    return false;
}

static void record(FILE *out, const struct instruction *in, bool ran, const uint64_t *results)
{
    unsigned bytes = type_bits(in->result) / 8;

    fwrite(in->name, 1, strlen(in->name) + 1, out);
    fputc(ran, out);
    fputc((int)bytes, out);
    for (unsigned i = 0; ran && i < COUNT; i++)
        fwrite(&results[i], 1, bytes, out);
}

static unsigned compare(const struct instruction *in, const uint64_t *results, const unsigned char *expected, bool loud)
{
    unsigned bytes = type_bits(in->result) / 8, wrong = 0;

    for (unsigned i = 0; i < COUNT; i++) {
        uint64_t want = 0;

        memcpy(&want, expected + i * bytes, bytes);
        if (is_close(in, results[i], want))
            continue;
        if (loud || !wrong) {
            printf("# %s:", in->name);
            for (unsigned k = 0; k < in->noperands; k++)
                printf(" %llx", (unsigned long long)operand(in->operands[k], k, i));
            printf(" gave %llx, not %llx\n", (unsigned long long)results[i], (unsigned long long)want);
        }
        wrong++;
    }
    return wrong;
}

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    unsigned char *data = NULL;
    long n = -1;

    if (f && !fseek(f, 0, SEEK_END))
        n = ftell(f);
    if (n >= 0)
        data = calloc(1, (size_t)n + 1);
    if (data) {
        rewind(f);
        *size = fread(data, 1, (size_t)n, f);
    }
    if (f)
        fclose(f);
    return data;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]))
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    static uint64_t results[COUNT];
    char path[512], line[MAX_LINE];
    const char *folder = getenv("GSHARE_INSTRUCTIONS"), *problem = open_driver();
    FILE *table, *out = NULL;
    struct expected expected = {0};
    size_t size = 0;
    CUdeviceptr input, output;
    unsigned n = 0, failed = 0;
    bool recording = argc == 3 && !strcmp(argv[1], "--record");

    folder = folder ? folder : INSTRUCTIONS;
    snprintf(path, sizeof path, "%s/table.txt", folder);
    table = fopen(path, "r");
    if (recording)
        out = fopen(argv[2], "wb");
    snprintf(path, sizeof path, "%s/expected.bin", folder);
    if (!recording)
        expected.at = read_file(path, &size);
    expected.end = expected.at + size;
    if (problem || !table || (recording ? !out : !expected.at) || cu.cuMemAlloc_v2(&input, 4 * COUNT * 8) ||
        cu.cuMemAlloc_v2(&output, COUNT * 8)) {
        printf("Bail out! %s\n", problem ? problem : path);
        return 1;
    }
    while (fgets(line, sizeof line, table)) {
        struct instruction in;
        const unsigned char *want = NULL;

        if (!read_line(line, &in) || (!recording && !is_wanted(in.name, argc, argv)))
            continue;
        if (recording) {
            bool ran = run(&in, input, output, results);
            record(out, &in, ran, results);
            n++;
            failed += !ran;
            if (!ran)
                printf("# refused: %s\n", in.ptx);
            continue;
        }
        if (!find(expected, in.name, type_bits(in.result) / 8, &want)) {
            printf("not ok %u - %s was never recorded\n", ++n, in.name);
            failed++;
        } else if (want) {
            bool ran = run(&in, input, output, results);
            unsigned wrong = ran ? compare(&in, results, want, argc > 1) : COUNT;
            printf("%sok %u - %s", wrong ? "not " : "", ++n, in.name);
            printf(wrong ? (ran ? ": %u of %u differ\n" : ": does not run (%u of %u)\n") : "\n", wrong, COUNT);
            failed += wrong != 0;
        }
    }
    fclose(table);
    if (out && fclose(out))
        return 1;
    printf(recording ? "# %u recorded, %u refused\n" : "1..%u\n# %u failed\n", n, failed);
    return !recording && failed ? 1 : 0;
}
