/* What the address fence costs: each kernel of kernels.cu as compiled and fenced, by turns, on the
 * driver library that GSHARE_CUDA_LIB names (libcuda.so.1), and on a GPU of compute capability 9.0
 * that of hopper.cu. Prints the median of each in ms, the ratio, and whether both gave the same
 * bytes.
 *
 *   build/bench/fence/measure [--small] [FILE.ptx]
 *
 * --small: sizes for the software device. FILE.ptx: kernels.cu compiled otherwise. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus/fencing.h"
#include "cuda/abi.h"

enum { MAX_RUNS = 41, WARM = 5 };

static struct {
#define MEMBER(name, arguments) CUresult(*name) arguments;
    CUDA_ABI_FUNCTIONS(MEMBER)
    CUDA_ABI_TEXTURE_FUNCTIONS(MEMBER)
#undef MEMBER
} cu;

static CUmodule modules[2]; /* as compiled, fenced */
static CUevent begin, end;
static uint64_t object, objects[2]; /* a texture or surface: that of a run, as modules take it */
static unsigned shared;             /* bytes of dynamic shared memory of a run */
static int major, minor;            /* of the compute capability */
static bool small;
static unsigned runs = MAX_RUNS;

static void check(CUresult result, const char *what)
{
    const char *name = "?";

    if (result == CUDA_SUCCESS)
        return;
    cu.cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}

static void open_driver(void)
{
    const char *name = getenv("GSHARE_CUDA_LIB");
    void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    char device_name[128] = "";
    CUdevice device;
    CUcontext context;

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define RESOLVE(function, arguments) *(void **)&cu.function = dlsym(library, #function);
    CUDA_ABI_FUNCTIONS(RESOLVE)
    CUDA_ABI_TEXTURE_FUNCTIONS(RESOLVE)
#undef RESOLVE
    check(cu.cuInit(0), "cuInit");
    check(cu.cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cu.cuDeviceGetName(device_name, sizeof(device_name), device), "cuDeviceGetName");
    check(cu.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
          "cuDeviceGetAttribute");
    check(cu.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
          "cuDeviceGetAttribute");
    check(cu.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cu.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cu.cuEventCreate(&begin, 0), "cuEventCreate");
    check(cu.cuEventCreate(&end, 0), "cuEventCreate");
    printf("# %s\n", device_name);
}

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr p = 0;

    check(cu.cuMemAlloc_v2(&p, bytes), "cuMemAlloc");
    check(cu.cuMemsetD8_v2(p, 0, bytes), "cuMemsetD8");
    return p;
}

/* ---- Modules ---- */

static int fencing_allocate(uint64_t *at, size_t bytes)
{
    *at = allocate(bytes);
    return 0;
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 16 << 20);
    size_t n = f && text ? fread(text, 1, (16 << 20) - 1, f) : 0;

    if (!n) {
        perror(path);
        exit(1);
    }
    fclose(f);
    return text;
}

static struct fencing_driver fencing_driver(void)
{
    return (struct fencing_driver){fencing_allocate, cu.cuMemcpyHtoD_v2, cu.cuMemcpyDtoH_v2,
                                   cu.cuModuleGetGlobal_v2, modules[1]};
}

static void load_modules(const char *path)
{
    char *text = read_file(path), *fenced = fencing_begin(text);
    const char *wrong;

    if (!fenced) {
        fprintf(stderr, "%s\n", fencing_reason());
        exit(1);
    }
    check(cu.cuModuleLoadData(&modules[0], text), "cuModuleLoadData");
    check(cu.cuModuleLoadData(&modules[1], fenced), "cuModuleLoadData of the fenced text");
    const struct fencing_driver driver = fencing_driver();
    wrong = fencing_place(&driver, 0, 1ull << 47); /* what the window is changes no cost */
    if (wrong) {
        fprintf(stderr, "cannot place %s\n", wrong);
        exit(1);
    }
    free(fenced);
    free(text);
}

static CUfunction function(unsigned fenced, const char *kernel)
{
    CUfunction f = NULL;

    check(cu.cuModuleGetFunction(&f, modules[fenced], kernel), kernel);
    return f;
}

/* ---- Measuring ---- */

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

struct shape {
    unsigned grid[2], threads[2];
};

/* Returns the milliseconds of each of so many launches. */
static float run(const char *kernel, CUfunction f, bool fenced, struct shape s, void **args,
                 unsigned launches)
{
    void **taken = fenced ? fencing_args(kernel, args) : args;
    float ms = 0;

    object = objects[fenced];
    check(cu.cuEventRecord(begin, NULL), "cuEventRecord");
    for (unsigned i = 0; i < launches; i++)
        check(cu.cuLaunchKernel(f, s.grid[0], s.grid[1], 1, s.threads[0], s.threads[1], 1, shared,
                                NULL, taken, NULL),
              "cuLaunchKernel");
    check(cu.cuEventRecord(end, NULL), "cuEventRecord");
    check(cu.cuEventSynchronize(end), "cuEventSynchronize");
    check(cu.cuEventElapsedTime(&ms, begin, end), "cuEventElapsedTime");
    return ms / (float)launches;
}

/* Returns how many launches take a millisecond, so that the events and the first launch's start are
 * a small part of what is measured. */
static unsigned launches_of(float ms)
{
    return small || ms >= 1 ? 1 : (unsigned)(1 / ms) + 1;
}

/* The bytes of OUT after one run of F on zeros. */
static uint8_t *result_of(const char *kernel, CUfunction f, bool fenced, struct shape s,
                          void **args, CUdeviceptr out, size_t bytes)
{
    uint8_t *host = malloc(bytes);

    check(cu.cuMemsetD8_v2(out, 0, bytes), "cuMemsetD8");
    run(kernel, f, fenced, s, args, 1);
    check(cu.cuMemcpyDtoH_v2(host, out, bytes), "cuMemcpyDtoH");
    return host;
}

static double sum;
static unsigned count;

static void measure(const char *kernel, struct shape s, void **args, CUdeviceptr out, size_t bytes)
{
    CUfunction f[2] = {function(0, kernel), function(1, kernel)};
    float ms[2][MAX_RUNS];
    unsigned launches = 1;
    uint8_t *results[2];
    double ratio;

    for (unsigned i = 0; i < 2; i++)
        results[i] = result_of(kernel, f[i], i, s, args, out, bytes);
    for (unsigned i = 0; i < WARM * 2 && !small; i++)
        launches = launches_of(run(kernel, f[i % 2], i % 2, s, args, launches));
    for (unsigned i = 0; i < runs; i++)
        for (unsigned k = 0; k < 2; k++) /* who comes first changes too */
            ms[(i + k) % 2][i] = run(kernel, f[(i + k) % 2], (i + k) % 2, s, args, launches);
    for (unsigned k = 0; k < 2; k++)
        qsort(ms[k], runs, sizeof(ms[k][0]), compare);
    ratio = (double)ms[1][runs / 2] / (double)ms[0][runs / 2];
    printf("%-22s %10.4f %10.4f %+8.2f%%  %s\n", kernel, (double)ms[0][runs / 2],
           (double)ms[1][runs / 2], 100 * (ratio - 1),
           memcmp(results[0], results[1], bytes) ? "DIFFERENT" : "same");
    fflush(stdout);
    sum += ratio;
    count++;
    free(results[0]);
    free(results[1]);
}

/* ---- Kernels ---- */

static CUdeviceptr fill(size_t words, uint32_t below, bool floats)
{
    uint32_t *host = malloc(words * 4), state = 1;
    CUdeviceptr p = allocate(words * 4);

    for (size_t i = 0; i < words; i++) {
        float f;

        state = state * 1664525 + 1013904223;
        f = (float)(state >> 8) / 16777216.0f;
        host[i] = (state >> 4) % below;
        if (floats)
            memcpy(&host[i], &f, 4);
    }
    check(cu.cuMemcpyHtoD_v2(p, host, words * 4), "cuMemcpyHtoD");
    free(host);
    return p;
}

#define ARGS(...) ((void *[]){__VA_ARGS__})

static void measure_streams(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, unsigned n)
{
    unsigned blocks = small ? 8 : 132 * 8;
    struct shape s = {{blocks, 1}, {256, 1}};
    CUdeviceptr index = fill(n, n, false), bins = allocate(4096 * 4);
    unsigned each = 32, rows = n / each;
    float factor = 3;

    measure("triad", s, ARGS(&a, &b, &c, &factor, &n), a, (size_t)n * 4);
    measure("gather", s, ARGS(&a, &b, &index, &n), a, (size_t)n * 4);
    measure("histogram", s, ARGS(&bins, &index, &n), bins, 4096 * 4);
    measure("sparse", (struct shape){{(rows + 255) / 256, 1}, {256, 1}},
            ARGS(&a, &b, &index, &c, &each, &rows), a, rows * 4);
    cu.cuMemFree_v2(bins);
    cu.cuMemFree_v2(index);
}

static void measure_matrices(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c)
{
    unsigned n = small ? 64 : 2048, width = small ? 128 : 4096, bodies = small ? 512 : 65536;
    unsigned tiled = small ? 64 : 4096;

    measure("nbody", (struct shape){{bodies / 256, 1}, {256, 1}}, ARGS(&a, &b, &bodies), a,
            bodies * 16ul);
    measure("sgemm", (struct shape){{n / 32, n / 8}, {32, 8}}, ARGS(&a, &b, &c, &n), a,
            (size_t)n * n * 4);
    measure("sgemm_signed", (struct shape){{n / 32, n / 8}, {32, 8}}, ARGS(&a, &b, &c, &n), a,
            (size_t)n * n * 4);
    measure("sgemm_tiled", (struct shape){{tiled / 64, tiled / 64}, {256, 1}},
            ARGS(&a, &b, &c, &tiled), a, (size_t)tiled * tiled * 4);
    measure("convolution", (struct shape){{width / 32, width / 8}, {32, 8}},
            ARGS(&a, &b, &width, &width), a, (size_t)width * width * 4);
    measure("convolution_unsigned", (struct shape){{width / 32, width / 8}, {32, 8}},
            ARGS(&a, &b, &width, &width), a, (size_t)width * width * 4);
}

static void measure_layers(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c)
{
    unsigned length = small ? 128 : 2048, rows = small ? 16 : 2048, width = small ? 256 : 4096;

    measure("attention", (struct shape){{rows, 1}, {256, 1}}, ARGS(&a, &b, &c, &b, &length), a,
            rows * 64ul * 4);
    measure("layernorm", (struct shape){{rows, 1}, {256, 1}}, ARGS(&a, &b, &c, &c, &width), a,
            (size_t)rows * width * 4);
}

/* A level of a random graph of 8 edges a vertex. All vertices are on it, so that each run looks at
 * all edges and changes nothing. */
static void measure_bfs(unsigned vertices)
{
    uint32_t *first = malloc((vertices + 1ul) * 4), *distance = malloc(vertices * 4ul);
    CUdeviceptr d = allocate(vertices * 4ul), f = allocate((vertices + 1ul) * 4),
                edges = fill(vertices * 8ul, vertices, false), changed = allocate(4);
    unsigned level = 1;

    for (unsigned i = 0; i <= vertices; i++)
        first[i] = i * 8;
    for (unsigned i = 0; i < vertices; i++)
        distance[i] = level;
    check(cu.cuMemcpyHtoD_v2(f, first, (vertices + 1ul) * 4), "cuMemcpyHtoD");
    check(cu.cuMemcpyHtoD_v2(d, distance, vertices * 4ul), "cuMemcpyHtoD");
    measure("bfs", (struct shape){{vertices / 256, 1}, {256, 1}},
            ARGS(&d, &f, &edges, &level, &vertices, &changed), changed, 4);
    free(first);
    free(distance);
}

/* An array of floats at A, which is as wide as it is high, in a texture or surface. */
static void show_array(CUdeviceptr a, unsigned width, bool surface)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = width,
                                          .Height = width,
                                          .Format = CU_AD_FORMAT_FLOAT,
                                          .NumChannels = 1,
                                          .Flags = surface ? CUDA_ARRAY3D_SURFACE_LDST : 0};
    const CUDA_TEXTURE_DESC linear = {
        .addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP},
        .filterMode = CU_TR_FILTER_MODE_LINEAR};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = a,
                          .srcPitch = width * 4ul,
                          .srcHeight = width,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = width * 4ul,
                          .Height = width,
                          .Depth = 1};
    const struct fencing_driver driver = fencing_driver();
    CUtexObject made = 0;

    check(cu.cuArray3DCreate_v2(&resource.res.array.hArray, &desc), "cuArray3DCreate");
    copy.dstArray = resource.res.array.hArray;
    check(cu.cuMemcpy3D_v2(&copy), "cuMemcpy3D");
    check(surface ? cu.cuSurfObjectCreate(&made, &resource)
                  : cu.cuTexObjectCreate(&made, &resource, &linear, NULL),
          "a texture or surface");
    objects[0] = made;
    objects[1] = fencing_object(&driver, made, surface ? SURFACE_2D : TEXTURE_2D);
}

static void show_memory(CUdeviceptr a, unsigned n)
{
    const CUDA_TEXTURE_DESC plain = {.flags = 0};
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                         .res.linear = {a, CU_AD_FORMAT_FLOAT, 1, (size_t)n * 4}};
    const struct fencing_driver driver = fencing_driver();
    CUtexObject made = 0;

    check(cu.cuTexObjectCreate(&made, &resource, &plain, NULL), "cuTexObjectCreate");
    objects[0] = made;
    objects[1] = fencing_object(&driver, made, TEXTURE_LINE);
}

static void measure_textures(CUdeviceptr a, CUdeviceptr b, unsigned n)
{
    unsigned width = small ? 128 : 4096, blocks = small ? 8 : 132 * 8;
    struct shape each = {{width * width / 256, 1}, {256, 1}}, strided = {{blocks, 1}, {256, 1}};
    CUdeviceptr index = fill(n, n, false);

    show_array(b, width, false);
    measure("texture_filter", each, ARGS(&a, &object, &width), a, (size_t)width * width * 4);
    show_memory(b, n);
    measure("texture_fetch", strided, ARGS(&a, &object, &index, &n), a, (size_t)n * 4);
    show_array(b, width, true);
    measure("surface_stencil", each, ARGS(&a, &object, &width), a, (size_t)width * width * 4);
    cu.cuMemFree_v2(index);
}

/* As hopper.cu has it. */
struct factors {
    CUtensorMap a, b;
    CUdeviceptr c;
    unsigned n, depth;
};

/* N rows of halves. */
static CUtensorMap map_of_rows(CUdeviceptr rows, unsigned n, unsigned depth)
{
    const uint64_t dims[] = {depth, n}, stride = depth * 2ul;
    const uint32_t box[] = {64, 128}, steps[] = {1, 1};
    CUtensorMap map;

    check(cu.cuTensorMapEncodeTiled(
              &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)(uintptr_t)rows, dims, &stride, box,
              steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
          "cuTensorMapEncodeTiled");
    return map;
}

/* Halves between -2 and 2. */
static CUdeviceptr fill_halves(size_t halves)
{
    uint16_t *host = malloc(halves * 2);
    CUdeviceptr p = allocate(halves * 2);
    uint32_t state = 1;

    for (size_t i = 0; i < halves; i++) {
        state = state * 1664525 + 1013904223;
        host[i] = (uint16_t)(state >> 16 & 0x83ff) | 0x3c00;
    }
    check(cu.cuMemcpyHtoD_v2(p, host, halves * 2), "cuMemcpyHtoD");
    free(host);
    return p;
}

/* Tensor copies and products of warpgroups, which have a text of their own. */
static void measure_hopper(CUdeviceptr out)
{
    const unsigned n = small ? 128 : 4096, depth = small ? 256 : 4096;
    struct factors f = {.c = out, .n = n, .depth = depth};

    fencing_end();
    load_modules(HOPPER);
    shared = 132 << 10; /* four times two tiles of 16 KiB, and a place that 1,024 divides */
    for (unsigned i = 0; i < 2; i++)
        check(cu.cuFuncSetAttribute(function(i, "hopper_gemm"),
                                    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared),
              "cuFuncSetAttribute");
    f.a = map_of_rows(fill_halves((size_t)n * depth), n, depth);
    f.b = map_of_rows(fill_halves((size_t)n * depth), n, depth);
    measure("hopper_gemm", (struct shape){{n / 128, n / 128}, {384, 1}}, ARGS(&f), out,
            (size_t)n * n * 4);
}

static void set_weights(void)
{
    float weights[81];
    size_t bytes;
    CUdeviceptr at;

    for (unsigned i = 0; i < 81; i++)
        weights[i] = (float)i / 81;
    for (unsigned i = 0; i < 2; i++) {
        check(cu.cuModuleGetGlobal_v2(&at, &bytes, modules[i], "weights"), "weights");
        check(cu.cuMemcpyHtoD_v2(at, weights, sizeof(weights)), "weights");
    }
}

int main(int argc, char **argv)
{
    unsigned n;
    CUdeviceptr a, b, c;

    small = argc > 1 && !strcmp(argv[1], "--small");
    runs = small ? 3 : MAX_RUNS;
    n = small ? 1 << 16 : 1 << 26;
    open_driver();
    load_modules(argc > 1 + small ? argv[1 + small] : KERNELS);
    set_weights();
    a = allocate(n * 4ul);
    b = fill(n, n, true);
    c = fill(n, n, true);
    printf("%-22s %10s %10s %9s\n", "kernel", "plain ms", "fenced ms", "cost");
    measure_streams(a, b, c, n);
    measure_matrices(a, b, c);
    measure_bfs(small ? 1 << 10 : 1 << 22);
    measure_layers(a, b, c);
    measure_textures(a, b, n);
    if (major == 9 && minor == 0)
        measure_hopper(a);
    printf("%-22s %10s %10s %+8.2f%%\n", "mean", "", "", 100 * (sum / count - 1));
    return 0;
}
