/*
 * runtime12.c - a program of CUDA 12, as its compiler and linker would leave it: it asks for
 * libcudart.so.12 and the symbol version of that name, and has 12's structures. It needs no
 * toolkit; test_programs.c runs it by gshare-run and compares what it prints with these comments.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dim3 {
    unsigned x, y, z;
};

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry fill(.param .u64 p, .param .u32 value)\n{\n"
                          "    .reg .b32 %r<4>;\n    .reg .b64 %d<4>;\n"
                          "    ld.param.u64 %d1, [p];\n    ld.param.u32 %r1, [value];\n"
                          "    cvta.to.global.u64 %d1, %d1;\n    mov.u32 %r2, %tid.x;\n"
                          "    mul.wide.u32 %d2, %r2, 4;\n    add.s64 %d1, %d1, %d2;\n"
                          "    st.global.u32 [%d1], %r1;\n    ret;\n}\n";
static const struct {
    int magic, version;
    const void *data, *unused;
} wrapper = {0x466243b1, 1, ptx, NULL};
static char stub; /* its address stands for the kernel */

static void *library;

/* The function of that name, with the version that a program of CUDA 12 asks for. */
static void *find(const char *name)
{
    void *function = dlvsym(library, name, "libcudart.so.12");

    if (function != NULL)
        return function;
    printf("%s\n", dlerror());
    exit(1);
}
#define CALL(name, types, ...) ((int(*) types)find(#name))(__VA_ARGS__)

/* The bytes of an object that a call has written, of an object filled with another value. */
static size_t written(const unsigned char *object, size_t size)
{
    while (size > 0 && object[size - 1] == 0xa5)
        size--;
    return size;
}

int main(void)
{
    int version, host[32], value = 7, *p;
    unsigned char properties[2048], attributes[256];
    void *args[] = {&p, &value}, **module;
    struct dim3 one = {1, 1, 1}, threads = {32, 1, 1}, many = {4096, 1, 1};

    library = dlopen("libcudart.so.12", RTLD_NOW);
    if (library == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    CALL(cudaRuntimeGetVersion, (int *), &version);
    printf("%d\n", version / 1000); //> 12

    module = ((void **(*)(const void *))find("__cudaRegisterFatBinary"))(&wrapper);
    ((void (*)(void **, const char *, char *, const char *, int, void *, void *, void *, void *,
               int *))find("__cudaRegisterFunction"))(module, &stub, (char *)"fill", "fill", -1,
                                                      NULL, NULL, NULL, NULL, NULL);
    ((void (*)(void **))find("__cudaRegisterFatBinaryEnd"))(module);
    CALL(cudaMalloc, (int **, size_t), &p, sizeof(host));
    printf("%d\n",
           CALL(cudaLaunchKernel, (const void *, struct dim3, struct dim3, void **, size_t, void *),
                &stub, one, threads, args, 0, NULL)); //> 0
    printf("%d\n", CALL(cudaMemcpy, (void *, const void *, size_t, int), host, p, sizeof(host),
                        2));              //> 0
    printf("%d %d\n", host[0], host[31]); //> 7 7
    /* A shape that cannot be: cudaErrorInvalidConfiguration, which 13 does not return. */
    printf("%d\n",
           CALL(cudaLaunchKernel, (const void *, struct dim3, struct dim3, void **, size_t, void *),
                &stub, one, many, args, 0, NULL)); //> 9
    CALL(cudaGetLastError, (void));

    /* Of cudaDeviceProp the later form fills 1,032 bytes, the earlier one fewer. */
    memset(properties, 0xa5, sizeof(properties));
    printf("%d\n", CALL(cudaGetDeviceProperties_v2, (void *, int), properties, 0)); //> 0
    printf("%zu\n", written(properties, sizeof(properties)));                       //> 1032
    printf("%d\n", *(int *)(properties + 320));                                     //> 1024
    memset(properties, 0xa5, sizeof(properties));
    CALL(cudaGetDeviceProperties, (void *, int), properties, 0);
    printf("%d\n", written(properties, sizeof(properties)) < 1032); //> 1
    /* cudaPointerAttributes ends after its two pointers. */
    memset(attributes, 0xa5, sizeof(attributes));
    printf("%d\n", CALL(cudaPointerGetAttributes, (void *, const void *), attributes, p)); //> 0
    printf("%zu\n", written(attributes, sizeof(attributes)));                              //> 24
    printf("%d\n", CALL(cudaThreadSynchronize, (void)));                                   //> 0
    printf("%d\n", CALL(cudaFree, (void *), p));                                           //> 0
    printf("%d\n", dlvsym(library, "cudaMemGetMemPool", "libcudart.so.12") != NULL);       //> 0
    return 0;
}
