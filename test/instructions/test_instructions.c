/* Each line of table.txt as a kernel of one warp-sized grid over edge and random operands, on the
 * driver library that GSHARE_CUDA_LIB names.
 *
 *   test_instructions                 compares with expected.bin, what an NVIDIA H200 answered;
 * speaks TAP test_instructions --record FILE   writes such a file test_instructions --write FOLDER
 * writes the kernels, as N.ptx test_instructions NAME...         these only, with every difference
 *
 * Instructions that address memory run again behind the address fence
 * (lib/ptx/rewrite/fence_pass.c), with all of the address space as its window, and must answer the
 * same.
 *
 * A line that the device refuses to load is recorded as such, and not asked of another. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/fencing.h"
#include "cuda/abi.h"
#include "instructions.h"

static struct {
#define MEMBER(name, arguments) CUresult(*name) arguments;
    CUDA_ABI_FUNCTIONS(MEMBER)
#undef MEMBER
} cu;

static uint64_t handles[MAX_OBJECTS]; // of textures and surfaces

static const char *open_driver(void)
{
    const char *name = getenv("GSHARE_CUDA_LIB");
    void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    CUdevice device;
    CUcontext context;

    if (!library)
        return dlerror();
#define RESOLVE(function, arguments)                                                               \
    *(void **)&cu.function = dlsym(library, #function);                                            \
    if (!cu.function)                                                                              \
        return #function;
    CUDA_ABI_FUNCTIONS(RESOLVE)
#undef RESOLVE
    if (cu.cuInit(0) || cu.cuDeviceGet(&device, 0) ||
        cu.cuDevicePrimaryCtxRetain(&context, device) || cu.cuCtxSetCurrent(context))
        return "no context";
    return objects_make(library, handles);
}

static bool has_objects(const struct instruction *in)
{
    for (unsigned k = 0; k < object_count(); k++)
        if (!handles[k] && instruction_names(in, object_name(k)))
            return false;
    return true;
}

/* ---- Behind the fence ---- */

static CUmodule module;
static CUdeviceptr variables; /* of a fenced module, and its texture table */
static size_t variables_used;
enum { VARIABLES_BYTES = 1 << 18 };

static int fencing_allocate(uint64_t *at, size_t bytes)
{
    if (bytes > VARIABLES_BYTES - variables_used)
        return -1;
    *at = variables + variables_used;
    variables_used += (bytes + 255) / 256 * 256;
    return (int)cu.cuMemsetD8_v2(*at, 0, bytes);
}

static struct fencing_driver driver(void)
{
    return (struct fencing_driver){fencing_allocate, cu.cuMemcpyHtoD_v2, cu.cuMemcpyDtoH_v2,
                                   cu.cuModuleGetGlobal_v2, module};
}

/* Addresses of user space have 47 bits, on the host and on the device. */
static bool load(const char *ptx, bool fenced)
{
    if (cu.cuModuleLoadData(&module, ptx))
        return false;
    const struct fencing_driver at = driver();

    variables_used = 0;
    return !fenced || !fencing_place(&at, 0, 1ull << 47);
}

/* False where the device does not take PTX, the kernel of IN. */
static bool run(const struct instruction *in, const char *ptx, bool fenced, CUdeviceptr input,
                CUdeviceptr output, uint64_t results[][COUNT])
{
    static uint64_t values[MAX_OPERANDS][COUNT];
    CUfunction f;
    uint64_t numbers[MAX_OBJECTS] = {0};
    void *args[] = {&input, &output, numbers};

    if (!has_objects(in) || !load(ptx, fenced))
        return false;
    const struct fencing_driver at = driver();
    for (unsigned k = 0; k < object_count(); k++)
        numbers[k] = fencing_object(&at, handles[k], object_column(k));
    for (unsigned k = 0; k < in->noperands; k++)
        for (unsigned i = 0; i < COUNT; i++)
            values[k][i] = operand(in->operands[k], k, i);
    bool ok =
        !cu.cuMemcpyHtoD_v2(input, values, sizeof values) &&
        !cu.cuMemsetD8_v2(output, 0, MAX_RESULTS * COUNT * 8) &&
        !cu.cuModuleGetFunction(&f, module, "k") &&
        !cu.cuLaunchKernel(f, COUNT / 32, 1, 1, 32, 1, 1, 0, NULL, fencing_args("k", args), NULL) &&
        !cu.cuCtxSynchronize() && !cu.cuMemcpyDtoH_v2(results, output, MAX_RESULTS * COUNT * 8);
    cu.cuModuleUnload(module);
    return ok;
}

/* Its place in the table for a name: instructions' names are not for files. */
static bool write_file(const struct instruction *in, const char *folder, unsigned n)
{
    char path[512], ptx[8192];
    FILE *f;

    snprintf(path, sizeof path, "%s/%04u.ptx", folder, n);
    f = fopen(path, "w");
    if (!f)
        return false;
    kernel_write(in, ptx, sizeof ptx);
    fprintf(f, "// %s\n%s", in->name, ptx);
    return !fclose(f);
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
        double m = e == 31 ? ((low & 1023) ? NAN : INFINITY)
                   : e     ? ldexp(1024 + (low & 1023), e - 25)
                           : ldexp(low & 1023, -24);
        return low & 0x8000 ? -m : m;
    }
    if (!strcmp(t, "bf16"))
        low <<= 16;
    memcpy(&f, &low, 4);
    return (double)f;
}

static bool is_close_one(const struct instruction *in, const char *t, uint64_t got, uint64_t want)
{
    double g = as_double(t, got), w = as_double(t, want);
    int tolerance = in->tolerance;

    if (isnan(g) || isnan(w))
        return isnan(g) && isnan(w);
    if (isinf(w) || isinf(g))
        return g == w;
    if (in->is_relative && got - want + 1 <= 2) // neighbours, for subnormal results
        return true;
    if (tolerance < 0)
        return fabs(g - w) <= ldexp(in->is_relative || fabs(w) > 1 ? fabs(w) : 1, tolerance);
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
        return is_close_one(in, half, got & 0xffff, want & 0xffff) &&
               is_close_one(in, half, got >> 16 & 0xffff, want >> 16 & 0xffff);
    }
    return is_close_one(in, in->result, got, want);
}

/* Records: name, NUL, one byte 1 where it ran, then the results, each as long as its type. */
struct expected {
    const unsigned char *at, *end;
};

static unsigned result_bytes(const struct instruction *in)
{
    return type_bits(in->result) / 8;
}

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

static void record(FILE *out, const struct instruction *in, bool ran, uint64_t results[][COUNT])
{
    fwrite(in->name, 1, strlen(in->name) + 1, out);
    fputc(ran, out);
    fputc((int)(result_bytes(in) * in->nresults), out);
    for (unsigned k = 0; ran && k < in->nresults; k++)
        for (unsigned i = 0; i < COUNT; i++)
            fwrite(&results[k][i], 1, result_bytes(in), out);
}

static void print_difference(const struct instruction *in, unsigned k, unsigned i, uint64_t got,
                             uint64_t want)
{
    printf("# %s:", in->name);
    for (unsigned o = 0; o < in->noperands; o++)
        printf(" %llx", (unsigned long long)operand(in->operands[o], o, i));
    printf(" gave %llx, not %llx, as %%%s of thread %u\n", (unsigned long long)got,
           (unsigned long long)want, result_name(k), i);
}

static unsigned compare(const struct instruction *in, uint64_t results[][COUNT],
                        const unsigned char *expected, bool loud)
{
    unsigned bytes = result_bytes(in), wrong = 0;

    for (unsigned k = 0; k < in->nresults; k++)
        for (unsigned i = 0; i < COUNT; i++) {
            uint64_t want = 0;

            memcpy(&want, expected + (k * COUNT + i) * bytes, bytes);
            if (is_close(in, results[k][i], want))
                continue;
            if (loud || !wrong)
                print_difference(in, k, i, results[k][i], want);
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

static CUdeviceptr input, output;

/* False where it is not as expected. */
static bool check(const struct instruction *in, unsigned n, struct expected expected, bool loud)
{
    static uint64_t results[MAX_RESULTS][COUNT];
    const unsigned char *want = NULL;
    unsigned wrong;

    char ptx[8192];
    bool recorded = find(expected, in->name, result_bytes(in) * in->nresults, &want);

    kernel_write(in, ptx, sizeof ptx);
    if (recorded && !want) {
        printf("not ok %u - %s: an H200 refused it\n", n, in->name);
        return false;
    }
    if (!run(in, ptx, false, input, output, results)) {
        printf("not ok %u - %s: does not run\n", n, in->name);
        return false;
    }
    if (!recorded) {
        printf("ok %u - %s # SKIP not recorded yet\n", n, in->name);
        return true;
    }
    wrong = compare(in, results, want, loud);
    if (wrong && in->is_known) {
        printf("ok %u - %s # SKIP differs from an H200, as doc/softcuda.md says\n", n, in->name);
        return true;
    }
    if (wrong)
        printf("not ok %u - %s: %u of %u differ\n", n, in->name, wrong, in->nresults * COUNT);
    else
        printf("ok %u - %s\n", n, in->name);
    return !wrong;
}

/* As check, with a line that has passed there. Nothing to say of instructions without an address.
 */
static bool check_fenced(const struct instruction *in, unsigned *n, struct expected expected,
                         bool loud)
{
    static uint64_t results[MAX_RESULTS][COUNT];
    const unsigned char *want = NULL;
    char ptx[8192], *fenced;
    unsigned wrong;

    if (!strchr(in->ptx, '[') || in->is_known ||
        !find(expected, in->name, result_bytes(in) * in->nresults, &want) || !want)
        return true;
    kernel_write(in, ptx, sizeof ptx);
    fenced = fencing_begin(ptx);
    if (!fenced) {
        printf("# %s: refused by the fence: %s\n", in->name, fencing_reason());
        return true;
    }
    wrong = run(in, fenced, true, input, output, results) ? compare(in, results, want, loud)
                                                          : COUNT * in->nresults;
    printf("%sok %u - %s, fenced\n", wrong ? "not " : "", ++*n, in->name);
    free(fenced);
    fencing_end();
    return !wrong;
}

/* False where the device refuses it. */
static bool ask(const struct instruction *in, FILE *out)
{
    static uint64_t results[MAX_RESULTS][COUNT];
    char ptx[8192];

    kernel_write(in, ptx, sizeof ptx);
    bool ran = run(in, ptx, false, input, output, results);

    record(out, in, ran, results);
    if (!ran)
        printf("# refused: %s\n", in->ptx);
    return ran;
}

int main(int argc, char **argv)
{
    char path[512], line[MAX_LINE];
    const char *folder = getenv("GSHARE_INSTRUCTIONS"), *problem = NULL;
    FILE *table, *out = NULL;
    unsigned char *recorded = NULL;
    struct expected expected = {0};
    size_t size = 0;
    unsigned n = 0, failed = 0;
    bool recording = argc == 3 && !strcmp(argv[1], "--record"),
         writing = argc == 3 && !strcmp(argv[1], "--write");

    folder = folder ? folder : INSTRUCTIONS;
    if (!writing)
        problem = open_driver();
    if (!problem && !writing &&
        (cu.cuMemAlloc_v2(&input, MAX_OPERANDS * COUNT * 8) ||
         cu.cuMemAlloc_v2(&output, MAX_RESULTS * COUNT * 8) ||
         cu.cuMemAlloc_v2(&variables, VARIABLES_BYTES)))
        problem = "no memory on the device";
    snprintf(path, sizeof path, "%s/table.txt", folder);
    table = fopen(path, "r");
    if (recording)
        out = fopen(argv[2], "wb");
    snprintf(path, sizeof path, "%s/expected.bin", folder);
    if (!recording && !writing)
        recorded = read_file(path, &size);
    expected = (struct expected){recorded, recorded ? recorded + size : NULL};
    if (problem || !table || (recording && !out) || (!recording && !writing && !expected.at)) {
        printf("Bail out! %s\n", problem ? problem : path);
        return 1;
    }
    while (fgets(line, sizeof line, table)) {
        struct instruction in;

        if (!instruction_read(&in, line)) {
            printf("not ok %u - a line of the table cannot be read: %s\n", ++n, line);
            failed++;
        } else if (recording) {
            n++;
            failed += !ask(&in, out);
        } else if (writing) {
            failed += !write_file(&in, argv[2], ++n);
        } else if (is_wanted(in.name, argc, argv)) {
            bool ok = check(&in, ++n, expected, argc > 1);

            failed += !ok || !check_fenced(&in, &n, expected, argc > 1);
        }
    }
    fclose(table);
    free(recorded);
    if (out && fclose(out))
        return 1;
    if (recording)
        printf("# %u recorded, %u refused\n", n, failed);
    else if (!writing)
        printf("1..%u\n# %u failed\n", n, failed);
    return !recording && failed ? 1 : 0;
}
