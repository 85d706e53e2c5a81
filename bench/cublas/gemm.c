/*
 * gemm.c - how fast products of matrices are, with whichever cuBLAS the dynamic linker finds:
 * NVIDIA's, or by gshare-run gshare's. It needs no toolkit to build. A line for each type and size:
 *
 *   TYPE SIZE MILLISECONDS TERAFLOPS WRONG
 *
 * WRONG counts elements of C, of those looked at, that are not what the host computes in f64.
 *
 *   gemm [SIZE...]       default: 256 512 1024 2048 4096 8192; GEMM_OPS=tn: A transposed (nn, nt,
 * tn, tt)
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HOST_TO_DEVICE = 1,
    DEVICE_TO_HOST = 2,
    R_32F = 0,
    R_64F = 1,
    R_16F = 2,
    R_16BF = 14,
    COMPUTE_32F = 68,
    COMPUTE_32F_FAST_TF32 = 77,
    COMPUTE_64F = 70,
    LOOKED_AT = 64
};

static void *cudart, *cublas;
static int (*malloc_device)(void **, size_t);
static int (*free_device)(void *);
static int (*copy)(void *, const void *, size_t, int);
static int (*event_record)(void *, void *);
static int (*event_synchronize)(void *);
static int (*event_elapsed)(float *, void *, void *);
static int (*synchronize)(void);
static int (*gemm_ex)(void *, int, int, int, int, int, const void *, const void *, int, int,
                      const void *, int, int, const void *, void *, int, int, int, int);

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);

    if (function != NULL)
        return function;
    fprintf(stderr, "gemm: %s\n", dlerror());
    exit(1);
}

static void *open_library(const char *name)
{
    static const char *const versions[] = {"13", "12"};
    char path[64];

    for (unsigned i = 0; i < 2; i++) {
        void *library;

        snprintf(path, sizeof(path), "%s.so.%s", name, versions[i]);
        library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (library != NULL)
            return library;
    }
    fprintf(stderr, "gemm: %s\n", dlerror());
    exit(1);
}

static void must(int status, const char *what)
{
    if (status == 0)
        return;
    fprintf(stderr, "gemm: %s: status %d\n", what, status);
    exit(1);
}

/* Small multiples of a sixteenth, which all types hold. */
static double number(uint32_t i)
{
    return ((int)((i * 2654435761u) >> 20 & 31) - 15) / 16.0;
}

static size_t type_size(int type)
{
    return type == R_64F ? 8 : type == R_32F ? 4 : 2;
}

/* Of the few values that number() has the rest of the fraction is zero. */
static uint16_t narrow(double x, int type)
{
    float f = (float)x;
    uint32_t bits;

    memcpy(&bits, &f, 4);
    if (type == R_16BF)
        return (uint16_t)(bits >> 16);
    if (x == 0)
        return 0;
    return (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 127 + 15) << 10) |
                      (bits >> 13 & 0x3ff));
}

static double wide(uint16_t x, int type)
{
    uint32_t bits = (uint32_t)x << 16;
    float f;

    memcpy(&f, &bits, 4);
    if (type == R_16BF)
        return f;
    return ldexp((x & 0x3ff) + (x >> 10 & 31 ? 1024 : 0), (x >> 10 & 31 ? x >> 10 & 31 : 1) - 25) *
           (x & 0x8000 ? -1 : 1);
}

static void put(void *host, size_t i, double x, int type)
{
    if (type == R_64F)
        ((double *)host)[i] = x;
    else if (type == R_32F)
        ((float *)host)[i] = (float)x;
    else
        ((uint16_t *)host)[i] = narrow(x, type);
}

static double get(const void *host, size_t i, int type)
{
    return type == R_64F   ? ((const double *)host)[i]
           : type == R_32F ? ((const float *)host)[i]
                           : wide(((const uint16_t *)host)[i], type);
}

static const struct kind {
    const char *name;
    int type, compute;
    double tolerance; /* of an element, by the root of the products summed */
} kinds[] = {
    {"f32", R_32F, COMPUTE_32F, 1e-5},  {"tf32", R_32F, COMPUTE_32F_FAST_TF32, 1e-2},
    {"f16", R_16F, COMPUTE_32F, 2e-2},  {"bf16", R_16BF, COMPUTE_32F, 1e-1},
    {"f64", R_64F, COMPUTE_64F, 1e-12},
};

static unsigned count_wrong(const void *c, const struct kind *kind, const char *ops, size_t n)
{
    unsigned wrong = 0;

    for (unsigned s = 0; s < LOOKED_AT; s++) {
        size_t i = s * 7919 % n, j = s * 104729 % n;
        double sum = 0;

        for (size_t k = 0; k < n; k++)
            sum += number((uint32_t)(ops[0] == 'n' ? i + k * n : k + i * n)) *
                   number((uint32_t)(ops[1] == 'n' ? k + j * n : j + k * n) + 77);
        if (!(fabs(get(c, i + j * n, kind->type) - sum) <= kind->tolerance * sqrt((double)n)))
            wrong++;
    }
    return wrong;
}

static void measure(void *handle, const struct kind *kind, const char *ops, size_t n, void *start,
                    void *end)
{
    size_t bytes = n * n * type_size(kind->type);
    void *host = malloc(bytes), *matrix[3];
    double one_d = 1, zero_d = 0;
    float one = 1, zero = 0, elapsed = 0;
    const void *alpha = kind->type == R_64F ? (void *)&one_d : &one;
    const void *beta = kind->type == R_64F ? (void *)&zero_d : &zero;
    unsigned repeat = 1;

    for (unsigned m = 0; m < 3; m++) {
        for (size_t i = 0; i < n * n; i++)
            put(host, i, m == 2 ? 0 : number((uint32_t)i + m * 77), kind->type);
        must(malloc_device(&matrix[m], bytes), "cudaMalloc");
        must(copy(matrix[m], host, bytes, HOST_TO_DEVICE), "cudaMemcpy");
    }
    /* From the second round on nothing is loaded any more; rounds grow to a fifth of a second. */
    for (unsigned round = 0; round < 3 || (elapsed < 200 && repeat < 4096); round++) {
        repeat = round < 2 ? 1 : elapsed <= 0 ? 2 : (unsigned)(250 * repeat / elapsed) + 1;
        repeat = repeat > 4096 ? 4096 : repeat;
        must(event_record(start, NULL), "cudaEventRecord");
        for (unsigned r = 0; r < repeat; r++)
            must(gemm_ex(handle, ops[0] == 't', ops[1] == 't', (int)n, (int)n, (int)n, alpha,
                         matrix[0], kind->type, (int)n, matrix[1], kind->type, (int)n, beta,
                         matrix[2], kind->type, (int)n, kind->compute, -1),
                 "cublasGemmEx");
        must(event_record(end, NULL), "cudaEventRecord");
        must(event_synchronize(end), "cudaEventSynchronize");
        must(event_elapsed(&elapsed, start, end), "cudaEventElapsedTime");
        if (getenv("GEMM_ONCE") != NULL)
            break;
    }
    must(copy(host, matrix[2], bytes, DEVICE_TO_HOST), "cudaMemcpy");
    printf("%s %zu %.4f %.2f %u\n", kind->name, n, elapsed / repeat,
           2.0 * (double)n * (double)n * (double)n * repeat / elapsed * 1e-9,
           count_wrong(host, kind, ops, n));
    fflush(stdout);
    for (unsigned m = 0; m < 3; m++)
        must(free_device(matrix[m]), "cudaFree");
    free(host);
}

int main(int argc, char **argv)
{
    static const char *const sizes[] = {"256", "512", "1024", "2048", "4096", "8192"};
    const char *ops = getenv("GEMM_OPS") != NULL ? getenv("GEMM_OPS") : "nn";
    unsigned count = argc > 1 ? (unsigned)argc - 1 : sizeof(sizes) / sizeof(sizes[0]);
    void *handle, *start, *end;

    cudart = open_library("libcudart");
    cublas = open_library("libcublas");
    malloc_device = (int (*)(void **, size_t))find(cudart, "cudaMalloc");
    free_device = (int (*)(void *))find(cudart, "cudaFree");
    copy = (int (*)(void *, const void *, size_t, int))find(cudart, "cudaMemcpy");
    event_record = (int (*)(void *, void *))find(cudart, "cudaEventRecord");
    event_synchronize = (int (*)(void *))find(cudart, "cudaEventSynchronize");
    event_elapsed = (int (*)(float *, void *, void *))find(cudart, "cudaEventElapsedTime");
    synchronize = (int (*)(void))find(cudart, "cudaDeviceSynchronize");
    *(void **)&gemm_ex = find(cublas, "cublasGemmEx");
    must(((int (*)(void **))find(cublas, "cublasCreate_v2"))(&handle), "cublasCreate");
    must(((int (*)(void **))find(cudart, "cudaEventCreate"))(&start), "cudaEventCreate");
    must(((int (*)(void **))find(cudart, "cudaEventCreate"))(&end), "cudaEventCreate");
    for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        for (unsigned i = 0; i < count; i++)
            measure(handle, &kinds[k], ops, (size_t)atol(argc > 1 ? argv[i + 1] : sizes[i]), start,
                    end);
    }
    must(synchronize(), "cudaDeviceSynchronize");
    return 0;
}
