/* What a case of the corpus sees. A case is one .cu file: kernels for nvcc and clang, and for the C
 * compiler, which reads the same file, the CPU's answer. Its PTX lies in ptx/CASE.VARIANT.ptx (see
 * compile), and test_corpus runs every variant on the driver library that GSHARE_CUDA_LIB names.
 *
 * Whatever fails inside a case (a driver call, a comparison) ends it with a message; nothing needs
 * checking. */
#ifndef GS_TEST_CORPUS_CORPUS_H
#define GS_TEST_CORPUS_CORPUS_H

#ifdef __CUDACC__
#define DEVICE_CODE 1
#define KERNEL      extern "C" __global__ void
#define INDEX       (blockIdx.x * blockDim.x + threadIdx.x)
#include <stdint.h>
#else
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t device_ptr;
struct size3 {
    unsigned x, y, z;
};

/* Device memory goes with the case. */
device_ptr upload(const void *data, size_t bytes);
device_ptr zeros(size_t bytes);
void download(void *to, device_ptr from, size_t bytes);
device_ptr global_address(const char *name);
void write_global(const char *name, const void *data, size_t bytes);

/* ARGS(&a, &b): pointers to the arguments. launch waits for the end. */
#define ARGS(...) ((void *[]){__VA_ARGS__})
void launch(const char *kernel, struct size3 grid, struct size3 block, unsigned shared,
            void **args);
void launch_cooperative(const char *kernel, struct size3 grid, struct size3 block, unsigned shared,
                        void **args);
/* One dimension. */
#define RUN(kernel, blocks, threads, ...)                                                          \
    launch(kernel, (struct size3){blocks, 1, 1}, (struct size3){threads, 1, 1}, 0,                 \
           ARGS(__VA_ARGS__))

void expect_bytes(const void *got, const void *want, size_t bytes);
void expect_u32(const uint32_t *got, const uint32_t *want, size_t n);
void expect_f32(const float *got, const float *want, size_t n, double relative, double absolute);
void expect_f64(const double *got, const double *want, size_t n, double relative, double absolute);

/* The same numbers every time; the state is the case's. */
uint32_t random_u32(void);
float random_f32(float low, float high);
void *scratch(size_t bytes); /* zeroed; freed behind the case */

void corpus_add(const char *name, void (*run)(void), const char *refused_for);
#define CASE(name)                                                                                 \
    static void name##_run(void);                                                                  \
    __attribute__((constructor)) static void name##_add(void)                                      \
    {                                                                                              \
        corpus_add(#name, name##_run, NULL);                                                       \
    }                                                                                              \
    static void name##_run(void)
/* A case whose module must not load, and the error log must name WORD. */
#define CASE_REFUSED(name, word)                                                                   \
    __attribute__((constructor)) static void name##_add(void)                                      \
    {                                                                                              \
        corpus_add(#name, NULL, word);                                                             \
    }
#endif

#endif
