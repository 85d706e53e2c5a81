// Tests of driver calls, for libcuda.so.1 on a GPU and for the software device alike:
// GSHARE_CUDA_LIB names the library. Each test runs in a process of its own, since a kernel's fault
// ends its process's CUDA, and since CUDA does not survive a fork.
#ifndef CONFORM_H
#define CONFORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/abi.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

// The library's functions: cu.MemAlloc_v2 would hide where a name comes from, so they keep it
// whole.
struct driver {
#define DRIVER_MEMBER(name, arguments) CUresult(*name) arguments;
    CUDA_ABI_FUNCTIONS(DRIVER_MEMBER)
    CUDA_ABI_TEXTURE_FUNCTIONS(DRIVER_MEMBER)
#undef DRIVER_MEMBER
};
extern struct driver cu;
extern bool on_software; // the library is the software device

struct test {
    const char *name; // what must hold
    void (*run)(void);
    bool bare; // without a context: the test makes its own, or none
};

// Runs them and prints TAP. Returns the status for main.
int conform_main(const struct test *tests, size_t count);

// Ends a test.
void fail_at(const char *file, int line, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn));
void skip(const char *why) __attribute__((noreturn));

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_at(__FILE__, __LINE__, #condition, " " __VA_ARGS__);                              \
    } while (0)

// The call must give just this result.
#define EXPECT(expected, call)                                                                     \
    do {                                                                                           \
        CUresult expect_got = (call);                                                              \
        if (expect_got != (expected))                                                              \
            fail_at(__FILE__, __LINE__, #call, "gave %s, not %s", result_name(expect_got),         \
                    result_name(expected));                                                        \
    } while (0)
#define OK(call) EXPECT(CUDA_SUCCESS, call)

const char *result_name(CUresult result);

// ---- What most tests need

extern CUdevice device;
extern CUcontext primary; // current, unless the test is bare
extern const char kernels_ptx[];

void context_open(void); // for bare tests and their children

CUmodule module_open(void);
CUfunction kernel(const char *name);   // of the module above, loaded once
CUdeviceptr device_alloc(size_t size); // zeroed
uint32_t device_word(CUdeviceptr address);
// Registered host memory, zeroed, a page.
_Atomic uint64_t *host_words(void);

// Launches one block of one thread, or GRID blocks of BLOCK threads; up to four 8-byte parameters.
void launch(CUstream stream, const char *name, uint64_t a, uint64_t b, uint64_t c);
void launch_wide(CUstream stream, const char *name, uint32_t grid, uint32_t block, uint64_t a,
                 uint64_t b, uint64_t c);
CUstream stream_open(void); // non-blocking

uint64_t now_ns(void);
unsigned int time_scale(void); // deadlines are multiplied by it: sanitizers are slow
// Until WORD is VALUE; fails the test after 20 s.
void host_wait(_Atomic uint64_t *word, uint64_t value);

#endif
