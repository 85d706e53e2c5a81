/*
 * run_case.c - runs one case of test/corpus as a CUDA program: the file that it is given is a
 * library of both halves of a case, the CPU's by the C compiler and the kernels by nvcc. What the
 * case calls (corpus.h) calls the CUDA runtime. A kernel is launched by the address of its stub, as
 * kernel<<<>>> does, and found, as variables are, among what nvcc's code registers.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "corpus/corpus.h"

enum { NAMES_MAX = 256 };

static void (*run)(void);
static struct {
    char name[128];
    const void *address; /* of the stub, or the shadow */
} names[NAMES_MAX];
static unsigned name_count;

void corpus_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    exit(1);
}

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        corpus_fail("%s: %s", what, cudaGetErrorString(error));
}

/* ---- What the compiler's code registers ------------------------------------------------------ */

#pragma GCC visibility push(default)

static void name_add(const char *name, const void *address)
{
    if (name_count == NAMES_MAX)
        corpus_fail("more than %d kernels and variables", NAMES_MAX);
    snprintf(names[name_count].name, sizeof(names[name_count].name), "%s", name);
    names[name_count++].address = address;
}

static const void *name_find(const char *name)
{
    for (unsigned i = 0; i < name_count; i++) {
        if (!strcmp(names[i].name, name))
            return names[i].address;
    }
    corpus_fail("nothing is registered as %s", name);
}

void __cudaRegisterFunction(void **image, const char *stub, char *device, const char *name,
                            int threads, void *tid, void *bid, void *bdim, void *gdim, int *warp);
void __cudaRegisterFunction(void **image, const char *stub, char *device, const char *name,
                            int threads, void *tid, void *bid, void *bdim, void *gdim, int *warp)
{
    void (*real)(void **, const char *, char *, const char *, int, void *, void *, void *, void *,
                 int *) = dlsym(RTLD_NEXT, "__cudaRegisterFunction");

    name_add(name, stub);
    real(image, stub, device, name, threads, tid, bid, bdim, gdim, warp);
}

void __cudaRegisterVar(void **image, char *shadow, char *address, const char *name, int external,
                       size_t size, int constant, int global);
void __cudaRegisterVar(void **image, char *shadow, char *address, const char *name, int external,
                       size_t size, int constant, int global)
{
    void (*real)(void **, char *, char *, const char *, int, size_t, int, int) =
        dlsym(RTLD_NEXT, "__cudaRegisterVar");

    name_add(name, shadow);
    real(image, shadow, address, name, external, size, constant, global);
}

#pragma GCC visibility pop

/* ---- Memory ---------------------------------------------------------------------------------- */

void corpus_add(const char *name, void (*function)(void), const char *refused_for)
{
    (void)name, (void)refused_for;
    run = function;
}

device_ptr zeros(size_t bytes)
{
    void *p = NULL;

    check(cudaMalloc(&p, bytes), "cudaMalloc");
    check(cudaMemset(p, 0, bytes), "cudaMemset");
    return (uintptr_t)p;
}

device_ptr upload(const void *data, size_t bytes)
{
    device_ptr p = zeros(bytes);

    check(cudaMemcpy((void *)(uintptr_t)p, data, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    return p;
}

void download(void *to, device_ptr from, size_t bytes)
{
    check(cudaMemcpy(to, (void *)(uintptr_t)from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

device_ptr global_address(const char *name)
{
    void *address = NULL;

    check(cudaGetSymbolAddress(&address, name_find(name)), name);
    return (uintptr_t)address;
}

void write_global(const char *name, const void *data, size_t bytes)
{
    check(cudaMemcpyToSymbol(name_find(name), data, bytes, 0, cudaMemcpyHostToDevice), name);
}

/* ---- Arrays, textures, surfaces -------------------------------------------------------------- */

static struct cudaChannelFormatDesc format_of(enum texel texel, unsigned channels)
{
    const int bits = texel == TEXEL_U8 ? 8 : texel == TEXEL_U16 ? 16 : 32;
    const enum cudaChannelFormatKind kind = texel == TEXEL_F32   ? cudaChannelFormatKindFloat
                                            : texel == TEXEL_S32 ? cudaChannelFormatKindSigned
                                                                 : cudaChannelFormatKindUnsigned;

    return cudaCreateChannelDesc(bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                 channels > 2 ? bits : 0, kind);
}

/* All of an array, beside rows of memory one behind the other. */
static struct cudaMemcpy3DParms whole(cudaArray_t array, void *memory,
                                      struct cudaPitchedPtr *beside)
{
    struct cudaMemcpy3DParms copy = {0};
    struct cudaChannelFormatDesc desc;
    unsigned flags;

    check(cudaArrayGetInfo(&desc, &copy.extent, &flags, array), "cudaArrayGetInfo");
    copy.extent.height += copy.extent.height == 0;
    copy.extent.depth += copy.extent.depth == 0;
    *beside = (struct cudaPitchedPtr){
        memory, copy.extent.width * (size_t)(desc.x + desc.y + desc.z + desc.w) / 8,
        copy.extent.width, copy.extent.height};
    return copy;
}

static uint64_t array_make(const void *data, enum texel texel, unsigned channels, struct size3 size,
                           unsigned flags)
{
    const struct cudaChannelFormatDesc desc = format_of(texel, channels);
    struct cudaMemcpy3DParms copy;
    struct cudaPitchedPtr beside;
    cudaArray_t array = NULL;

    check(cudaMalloc3DArray(&array, &desc, (struct cudaExtent){size.x, size.y, size.z},
                            flags | cudaArraySurfaceLoadStore),
          "cudaMalloc3DArray");
    copy = whole(array, (void *)(uintptr_t)data, &beside);
    copy.srcPtr = beside;
    copy.dstArray = array;
    copy.kind = cudaMemcpyHostToDevice;
    check(cudaMemcpy3D(&copy), "cudaMemcpy3D");
    return (uintptr_t)array;
}

uint64_t array_upload(const void *data, enum texel texel, unsigned channels, struct size3 size)
{
    /* only flat arrays can be gathered from */
    return array_make(data, texel, channels, size,
                      size.y && !size.z ? cudaArrayTextureGather : cudaArrayDefault);
}

uint64_t array_upload_layers(const void *data, enum texel texel, unsigned channels,
                             struct size3 size)
{
    return array_make(data, texel, channels, size, cudaArrayLayered);
}

uint64_t array_upload_cube(const void *data, enum texel texel, unsigned channels, unsigned edge)
{
    return array_make(data, texel, channels, (struct size3){edge, edge, 6}, cudaArrayCubemap);
}

void array_download(void *to, uint64_t array)
{
    struct cudaPitchedPtr beside;
    struct cudaMemcpy3DParms copy = whole((cudaArray_t)(uintptr_t)array, to, &beside);

    copy.srcArray = (cudaArray_t)(uintptr_t)array;
    copy.dstPtr = beside;
    copy.kind = cudaMemcpyDeviceToHost;
    check(cudaMemcpy3D(&copy), "cudaMemcpy3D");
}

static uint64_t texture_make(const struct cudaResourceDesc *resource, unsigned flags)
{
    const enum cudaTextureAddressMode mode = flags & TEXTURE_BORDER   ? cudaAddressModeBorder
                                             : flags & TEXTURE_MIRROR ? cudaAddressModeMirror
                                                                      : cudaAddressModeClamp;
    struct cudaTextureDesc desc = {.addressMode = {mode, mode, mode}};
    cudaTextureObject_t made = 0;
    bool fraction = false;

    if (!(flags & TEXTURE_INTEGER)) {
        struct cudaChannelFormatDesc texels = resource->res.linear.desc;
        struct cudaExtent extent;
        unsigned unused;

        if (resource->resType == cudaResourceTypeArray)
            check(cudaArrayGetInfo(&texels, &extent, &unused, resource->res.array.array),
                  "cudaArrayGetInfo");
        fraction = texels.f != cudaChannelFormatKindFloat && texels.x <= 16;
    }
    desc.filterMode = flags & TEXTURE_LINEAR ? cudaFilterModeLinear : cudaFilterModePoint;
    desc.readMode = fraction ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    desc.normalizedCoords = (flags & TEXTURE_NORMALIZED) != 0;
    check(cudaCreateTextureObject(&made, resource, &desc, NULL), "cudaCreateTextureObject");
    return made;
}

uint64_t texture(uint64_t array, unsigned flags)
{
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};

    resource.res.array.array = (cudaArray_t)(uintptr_t)array;
    return texture_make(&resource, flags);
}

uint64_t linear_texture(device_ptr at, enum texel texel, unsigned channels, size_t bytes)
{
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeLinear};

    resource.res.linear.devPtr = (void *)(uintptr_t)at;
    resource.res.linear.desc = format_of(texel, channels);
    resource.res.linear.sizeInBytes = bytes;
    return texture_make(&resource, 0);
}

uint64_t surface(uint64_t array)
{
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};
    cudaSurfaceObject_t made = 0;

    resource.res.array.array = (cudaArray_t)(uintptr_t)array;
    check(cudaCreateSurfaceObject(&made, &resource), "cudaCreateSurfaceObject");
    return made;
}

/* ---- Launches -------------------------------------------------------------------------------- */

static const void *stub_of(const char *kernel, unsigned shared)
{
    const void *stub = name_find(kernel);

    if (shared > 48 * 1024)
        check(cudaFuncSetAttribute(stub, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
              kernel);
    return stub;
}

void launch(const char *kernel, struct size3 grid, struct size3 block, unsigned shared, void **args)
{
    check(cudaLaunchKernel(stub_of(kernel, shared), (dim3){grid.x, grid.y, grid.z},
                           (dim3){block.x, block.y, block.z}, args, shared, NULL),
          kernel);
    check(cudaDeviceSynchronize(), kernel);
}

void launch_cooperative(const char *kernel, struct size3 grid, struct size3 block, unsigned shared,
                        void **args)
{
    check(cudaLaunchCooperativeKernel(stub_of(kernel, shared), (dim3){grid.x, grid.y, grid.z},
                                      (dim3){block.x, block.y, block.z}, args, shared, NULL),
          kernel);
    check(cudaDeviceSynchronize(), kernel);
}

/* Scratch memory, each block behind the address of the one before. */
union block {
    union block *before;
    max_align_t aligned;
};
static union block *blocks;

void *scratch(size_t bytes)
{
    union block *block = calloc(1, sizeof(*block) + bytes);

    if (block == NULL)
        corpus_fail("out of memory");
    block->before = blocks;
    blocks = block;
    return block + 1;
}

static void scratch_free(void)
{
    while (blocks != NULL) {
        union block *before = blocks->before;

        free(blocks);
        blocks = before;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 || dlopen(argv[1], RTLD_NOW) == NULL)
        corpus_fail("usage: run_case LIBRARY: %s", argc == 2 ? dlerror() : "which?");
    if (run == NULL)
        corpus_fail("%s has no case", argv[1]);
    random_restart();
    run();
    scratch_free();
    printf("right\n");
    return 0;
}
