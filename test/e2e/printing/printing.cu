// printing.cu - kernels that print, for test_printf.c; compiled to the files beside it by ./compile.
#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char *assertion, const char *file,
                                                                  unsigned line, const char *function,
                                                                  unsigned long char_bytes);
#define assert(condition)                                                                                     \
    ((condition) ? (void)0 : __assertfail(#condition, "printing.cu", __LINE__, __PRETTY_FUNCTION__, 1))
#define THREAD  __nvvm_read_ptx_sreg_tid_x()
#define THREADS __nvvm_read_ptx_sreg_ntid_x()
#define BLOCK   __nvvm_read_ptx_sreg_ctaid_x()
#else
#include <cassert>
#include <cstdio>
#define THREAD  threadIdx.x
#define THREADS blockDim.x
#define BLOCK   blockIdx.x
#endif

extern "C" {

// Lines that are told apart, and long enough to be torn.
__global__ void lines(int tag, int round, int count)
{
    for (int i = 0; i < count; i++)
        printf("tag %d round %d thread %u line %d ............................................ end\n", tag, round,
               BLOCK * THREADS + THREAD, i);
}

// One conversion, or several, of each class of argument.
__global__ void bare(const char *format)
{
    printf(format);
}

__global__ void integer(const char *format, int value)
{
    printf(format, value);
}

__global__ void wide(const char *format, long long value)
{
    printf(format, value);
}

__global__ void real(const char *format, double value)
{
    printf(format, value);
}

__global__ void text(const char *format, const char *value)
{
    printf(format, value);
}

__global__ void starred(const char *format, int width, int precision, double value)
{
    printf(format, width, precision, value);
}

__global__ void mixed(const char *format, char c, int i, const char *s, long long w, float f, unsigned short h, void *p)
{
    printf(format, c, i, s, w, f, h, p);
}

// 34 arguments: CUDA takes 32.
__global__ void crowd(int a)
{
    printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n",
           a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9, a + 10, a + 11, a + 12, a + 13, a + 14,
           a + 15, a + 16, a + 17, a + 18, a + 19, a + 20, a + 21, a + 22, a + 23, a + 24, a + 25, a + 26, a + 27,
           a + 28, a + 29, a + 30, a + 31, a + 32, a + 33);
}

// What printf returns.
__global__ void results(int *out, const char *none)
{
    out[0] = printf("nothing\n");
    out[1] = printf("%d and %s\n", 1, "two");
    out[2] = printf(none);
    out[3] = printf("%5.1f%%\n", 2.5);
}

__global__ void checked(int value)
{
    printf("value %d\n", value);
    assert(value < 7 && "it is small");
}

// Prints nothing, but its module could.
__global__ void silent(int *out)
{
    *out = 1;
}
}
