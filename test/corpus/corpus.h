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

/* A case in a library calls who runs it. */
#pragma GCC visibility push(default)

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

/* Arrays, which surfaces may be made of, and textures and surfaces; they go with the case too.
 * size.y is 0 in one dimension, size.z in two; of layers it is their number. */
enum texel { TEXEL_U8, TEXEL_U16, TEXEL_S32, TEXEL_F32 };
enum { /* else clamped, by texel, the nearest, a fraction where it is an integer of 8 or 16 bits */
       TEXTURE_LINEAR = 1,
       TEXTURE_NORMALIZED = 2,
       TEXTURE_INTEGER = 4,
       TEXTURE_BORDER = 8, /* black */
       TEXTURE_MIRROR = 16
};
uint64_t array_upload(const void *data, enum texel texel, unsigned channels, struct size3 size);
uint64_t array_upload_layers(const void *data, enum texel texel, unsigned channels,
                             struct size3 size);
uint64_t array_upload_cube(const void *data, enum texel texel, unsigned channels, unsigned edge);
void array_download(void *to, uint64_t array);
uint64_t texture(uint64_t array, unsigned flags);
uint64_t linear_texture(device_ptr at, enum texel texel, unsigned channels, size_t bytes);
uint64_t surface(uint64_t array);

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

/* Of who runs the case. */
void corpus_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void random_restart(void);
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
#pragma GCC visibility pop
#endif

#endif
