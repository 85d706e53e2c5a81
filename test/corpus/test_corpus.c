/* Runs every case of the corpus in every variant of its PTX on one driver library, and speaks TAP:
 * as it is, again with kernels that signal their own end (lib/ptx/rewrite/completion_pass.c), and
 * again behind the address fence (fence_pass.c), in a window of 4 GiB. On the software device a
 * warp gives way after few instructions, so that the paths of divergent warps run in turns
 * everywhere. Arguments, if any, are names of cases to run. See corpus.h. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#include "completing.h"
#include "corpus.h"
#include "cuda/abi.h"
#include "fencing.h"
#include "ptx/rewrite/rewrite.h"

enum { MAX_CASES = 256, MAX_BLOCKS = 64, STACK = 16 * 1024 };

static struct {
    const char *name;
    void (*run)(void);
    const char *refused_for; /* what the log names, of a module that must not load */
} cases[MAX_CASES];
static unsigned ncases;

static struct {
#define MEMBER(name, arguments) CUresult(*name) arguments;
    CUDA_ABI_FUNCTIONS(MEMBER)
    CUDA_ABI_TEXTURE_FUNCTIONS(MEMBER)
#undef MEMBER
} cu;

/* Of the case that runs. */
static jmp_buf end_of_case;
static char failure[512];
static CUmodule module;
static CUdeviceptr blocks[MAX_BLOCKS];
static void *scratches[MAX_BLOCKS];
static CUarray arrays[MAX_BLOCKS];
static CUtexObject textures[MAX_BLOCKS];
static CUsurfObject surfaces[MAX_BLOCKS];
static unsigned nblocks, nscratches, narrays, ntextures, nsurfaces;
static CUdeviceptr counter; /* of kernels that signal their own end */

void corpus_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(failure, sizeof failure, format, args);
    va_end(args);
    longjmp(end_of_case, 1);
}

static void check(CUresult result, const char *what)
{
    const char *name = "?";

    if (result == CUDA_SUCCESS)
        return;
    cu.cuGetErrorName(result, &name);
    corpus_fail("%s: %s", what, name);
}

/* ---- Behind the fence ---- */

static bool is_fenced; /* the case that runs */
/* Where its memory lies: a window is a power of two in size, with a guard at both ends. */
static const uint64_t arena_bytes = 64 << 20, window_bytes = 1ull << 32;
static CUdeviceptr arena;
static uint64_t arena_used, window_base;

static const char *open_arena(void)
{
    for (int i = 0; i < 2; i++) { /* one may lie across a window's end */
        if (cu.cuMemAlloc_v2(&arena, arena_bytes))
            break;
        window_base = arena & ~(window_bytes - 1);
        if (arena - window_base >= FENCE_GUARD &&
            arena - window_base + arena_bytes <= window_bytes - FENCE_GUARD)
            return NULL;
    }
    return "no memory for what is fenced";
}

static CUdeviceptr arena_take(size_t bytes)
{
    const CUdeviceptr p = arena + arena_used;

    arena_used += (bytes + 4095) & ~(uint64_t)4095;
    if (arena_used > arena_bytes)
        corpus_fail("more than %llu bytes of fenced memory", (unsigned long long)arena_bytes);
    return p;
}

/* ---- What cases call ---- */

void corpus_add(const char *name, void (*run)(void), const char *refused_for)
{
    if (ncases == MAX_CASES)
        abort();
    cases[ncases].name = name;
    cases[ncases].run = run;
    cases[ncases++].refused_for = refused_for;
}

device_ptr zeros(size_t bytes)
{
    CUdeviceptr p = 0;

    if (nblocks == MAX_BLOCKS)
        corpus_fail("more than %d blocks of device memory", MAX_BLOCKS);
    if (is_fenced) {
        p = arena_take(bytes);
    } else {
        check(cu.cuMemAlloc_v2(&p, bytes), "cuMemAlloc");
        blocks[nblocks++] = p;
    }
    check(cu.cuMemsetD8_v2(p, 0, bytes), "cuMemsetD8");
    return p;
}

device_ptr upload(const void *data, size_t bytes)
{
    device_ptr p = zeros(bytes);

    check(cu.cuMemcpyHtoD_v2(p, data, bytes), "cuMemcpyHtoD");
    return p;
}

void download(void *to, device_ptr from, size_t bytes)
{
    check(cu.cuMemcpyDtoH_v2(to, from, bytes), "cuMemcpyDtoH");
}

device_ptr global_address(const char *name)
{
    CUdeviceptr p = fencing_address(name);
    size_t bytes;

    if (p)
        return p;
    check(cu.cuModuleGetGlobal_v2(&p, &bytes, module, name), name);
    return p;
}

void write_global(const char *name, const void *data, size_t bytes)
{
    check(cu.cuMemcpyHtoD_v2(global_address(name), data, bytes), name);
}

/* ---- Arrays, textures, surfaces ---- */

static CUarray_format format_of(enum texel texel)
{
    static const CUarray_format formats[] = {
        [TEXEL_U8] = CU_AD_FORMAT_UNSIGNED_INT8,
        [TEXEL_U16] = CU_AD_FORMAT_UNSIGNED_INT16,
        [TEXEL_S32] = CU_AD_FORMAT_SIGNED_INT32,
        [TEXEL_F32] = CU_AD_FORMAT_FLOAT,
    };

    return formats[texel];
}

/* A copy of all of an array, with rows of HOST's one behind the other. */
static CUDA_MEMCPY3D whole(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    size_t each = d->Format == CU_AD_FORMAT_UNSIGNED_INT8    ? 1
                  : d->Format == CU_AD_FORMAT_UNSIGNED_INT16 ? 2
                                                             : 4;
    size_t row = d->Width * d->NumChannels * each, height = d->Height ? d->Height : 1;

    return (CUDA_MEMCPY3D){.srcPitch = row,
                           .srcHeight = height,
                           .dstPitch = row,
                           .dstHeight = height,
                           .WidthInBytes = row,
                           .Height = height,
                           .Depth = d->Depth ? d->Depth : 1};
}

static uint64_t array_make(const void *data, enum texel texel, unsigned channels, struct size3 size,
                           unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = size.x,
                                    .Height = size.y,
                                    .Depth = size.z,
                                    .Format = format_of(texel),
                                    .NumChannels = channels,
                                    .Flags = flags | CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_MEMCPY3D copy = whole(&desc);
    CUarray a;

    if (narrays == MAX_BLOCKS)
        corpus_fail("more than %d arrays", MAX_BLOCKS);
    check(cu.cuArray3DCreate_v2(&a, &desc), "cuArray3DCreate");
    arrays[narrays++] = a;
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = data;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = a;
    check(cu.cuMemcpy3D_v2(&copy), "cuMemcpy3D");
    return (uintptr_t)a;
}

uint64_t array_upload(const void *data, enum texel texel, unsigned channels, struct size3 size)
{
    /* only flat arrays can be gathered from */
    return array_make(data, texel, channels, size,
                      size.y && !size.z ? CUDA_ARRAY3D_TEXTURE_GATHER : 0);
}

uint64_t array_upload_layers(const void *data, enum texel texel, unsigned channels,
                             struct size3 size)
{
    return array_make(data, texel, channels, size, CUDA_ARRAY3D_LAYERED);
}

uint64_t array_upload_cube(const void *data, enum texel texel, unsigned channels, unsigned edge)
{
    return array_make(data, texel, channels, (struct size3){edge, edge, 6}, CUDA_ARRAY3D_CUBEMAP);
}

void array_download(void *to, uint64_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    CUDA_MEMCPY3D copy;

    check(cu.cuArray3DGetDescriptor_v2(&desc, (CUarray)(uintptr_t)array), "cuArray3DGetDescriptor");
    copy = whole(&desc);
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = (CUarray)(uintptr_t)array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = to;
    check(cu.cuMemcpy3D_v2(&copy), "cuMemcpy3D");
}

static int fencing_allocate(uint64_t *at, size_t bytes)
{
    *at = zeros(bytes);
    return 0;
}

static struct fencing_driver driver(void)
{
    return (struct fencing_driver){fencing_allocate, cu.cuMemcpyHtoD_v2, cu.cuMemcpyDtoH_v2,
                                   cu.cuModuleGetGlobal_v2, module};
}

/* The geometry of what a texture, or a surface, shows. */
static enum texture_column column_of(const CUDA_RESOURCE_DESC *resource, bool is_surface)
{
    CUDA_ARRAY3D_DESCRIPTOR d;

    if (resource->resType == CU_RESOURCE_TYPE_LINEAR)
        return TEXTURE_LINE;
    check(cu.cuArray3DGetDescriptor_v2(&d, resource->res.array.hArray), "cuArray3DGetDescriptor");
    if (is_surface)
        return d.Flags & CUDA_ARRAY3D_LAYERED ? (d.Height ? SURFACE_A2D : SURFACE_A1D)
               : d.Depth                      ? SURFACE_3D
               : d.Height                     ? SURFACE_2D
                                              : SURFACE_1D;
    return d.Flags & CUDA_ARRAY3D_CUBEMAP   ? TEXTURE_CUBE
           : d.Flags & CUDA_ARRAY3D_LAYERED ? (d.Height ? TEXTURE_A2D : TEXTURE_A1D)
           : d.Depth                        ? TEXTURE_3D
           : d.Height                       ? TEXTURE_2D
                                            : TEXTURE_1D;
}

/* What the case's kernels take for it. */
static uint64_t number_of(uint64_t object, const CUDA_RESOURCE_DESC *resource, bool is_surface)
{
    const struct fencing_driver at = driver();

    return fencing_object(&at, object, column_of(resource, is_surface));
}

static uint64_t texture_make(const CUDA_RESOURCE_DESC *resource, unsigned flags)
{
    CUaddress_mode mode = flags & TEXTURE_BORDER   ? CU_TR_ADDRESS_MODE_BORDER
                          : flags & TEXTURE_MIRROR ? CU_TR_ADDRESS_MODE_MIRROR
                                                   : CU_TR_ADDRESS_MODE_CLAMP;
    CUDA_TEXTURE_DESC desc = {
        .addressMode = {mode, mode, mode},
        .filterMode = flags & TEXTURE_LINEAR ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT,
        .flags = (flags & TEXTURE_NORMALIZED ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
                 (flags & TEXTURE_INTEGER ? CU_TRSF_READ_AS_INTEGER : 0u)};
    CUtexObject t;

    if (ntextures == MAX_BLOCKS)
        corpus_fail("more than %d textures", MAX_BLOCKS);
    check(cu.cuTexObjectCreate(&t, resource, &desc, NULL), "cuTexObjectCreate");
    textures[ntextures++] = t;
    return number_of(t, resource, false);
}

uint64_t texture(uint64_t array, unsigned flags)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                   .res.array.hArray = (CUarray)(uintptr_t)array};

    return texture_make(&resource, flags);
}

uint64_t linear_texture(device_ptr at, enum texel texel, unsigned channels, size_t bytes)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                   .res.linear = {at, format_of(texel), channels, bytes}};

    return texture_make(&resource, 0);
}

uint64_t surface(uint64_t array)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                   .res.array.hArray = (CUarray)(uintptr_t)array};
    CUsurfObject s;

    if (nsurfaces == MAX_BLOCKS)
        corpus_fail("more than %d surfaces", MAX_BLOCKS);
    check(cu.cuSurfObjectCreate(&s, &resource), "cuSurfObjectCreate");
    surfaces[nsurfaces++] = s;
    return number_of(s, &resource, true);
}

/* ---- Launches ---- */

static CUfunction function(const char *kernel, unsigned shared)
{
    CUfunction f = NULL;

    check(cu.cuModuleGetFunction(&f, module, kernel), kernel);
    if (shared > 48 * 1024)
        check(
            cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared),
            kernel);
    return f;
}

/* Whether the end was signalled is known before the driver is asked, and the counter is zero again.
 */
static void wait_for_end(const char *kernel)
{
    const char *wrong = completing_wait();
    uint32_t left = 0;

    check(cu.cuCtxSynchronize(), kernel);
    if (wrong)
        corpus_fail("%s: %s", kernel, wrong);
    if (completing_signalled())
        download(&left, counter, sizeof left);
    if (left)
        corpus_fail("%s: the counter is %u behind the kernel", kernel, left);
}

void launch(const char *kernel, struct size3 grid, struct size3 block, unsigned shared, void **args)
{
    CUfunction f = function(kernel, shared);

    check(cu.cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, NULL,
                            fencing_args(kernel, completing_args(kernel, grid, block, args)), NULL),
          kernel);
    wait_for_end(kernel);
}

void launch_cooperative(const char *kernel, struct size3 grid, struct size3 block, unsigned shared,
                        void **args)
{
    CUfunction f = function(kernel, shared);

    check(cu.cuLaunchCooperativeKernel(
              f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, NULL,
              fencing_args(kernel, completing_args(kernel, grid, block, args))),
          kernel);
    wait_for_end(kernel);
}

void *scratch(size_t bytes)
{
    if (nscratches == MAX_BLOCKS)
        corpus_fail("more than %d blocks of memory", MAX_BLOCKS);
    scratches[nscratches] = calloc(1, bytes);
    if (!scratches[nscratches])
        corpus_fail("out of memory");
    return scratches[nscratches++];
}

/* ---- Running ---- */

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long size = -1;

    if (f && !fseek(f, 0, SEEK_END))
        size = ftell(f);
    if (size >= 0)
        text = calloc(1, (size_t)size + 1);
    if (text) {
        rewind(f);
        if (fread(text, 1, (size_t)size, f) != (size_t)size) {
            free(text);
            text = NULL;
        }
    }
    if (f)
        fclose(f);
    return text;
}

static void clean_up(void)
{
    while (nsurfaces)
        cu.cuSurfObjectDestroy(surfaces[--nsurfaces]);
    while (ntextures)
        cu.cuTexObjectDestroy(textures[--ntextures]);
    while (narrays)
        cu.cuArrayDestroy(arrays[--narrays]);
    while (nblocks)
        cu.cuMemFree_v2(blocks[--nblocks]);
    while (nscratches)
        free(scratches[--nscratches]);
    if (module)
        cu.cuModuleUnload(module);
    module = NULL;
    arena_used = 0;
}

static void place(void)
{
    const struct fencing_driver at = driver();
    const char *wrong = fencing_place(&at, window_base, window_bytes);

    if (wrong)
        corpus_fail("cannot place %s", wrong);
}

/* Of the module by a GPU's driver; the software device leaves the kernel out. Either says why. */
static void expect_refusal(const char *text, const char *word)
{
    char error[1024] = "", info[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error, (void *)(sizeof error - 1), info, (void *)(sizeof info - 1)};
    bool loads = cu.cuModuleLoadDataEx(&module, text, 4, options, values) == CUDA_SUCCESS;

    if (!strstr(loads ? info : error, word))
        corpus_fail("the log does not name %s: %s", word, loads ? info : error);
}

static bool run_case(unsigned i, const char *text)
{
    random_restart();
    failure[0] = 0;
    if (!setjmp(end_of_case)) {
        if (cases[i].refused_for) {
            expect_refusal(text, cases[i].refused_for);
        } else {
            check(cu.cuModuleLoadData(&module, text), "cuModuleLoadData");
            if (is_fenced)
                place();
            cases[i].run();
        }
    }
    clean_up();
    return !failure[0];
}

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
    CUDA_ABI_TEXTURE_FUNCTIONS(RESOLVE)
#undef RESOLVE
    if (cu.cuInit(0) || cu.cuDeviceGet(&device, 0) ||
        cu.cuDevicePrimaryCtxRetain(&context, device) || cu.cuCtxSetCurrent(context) ||
        cu.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, STACK))
        return "no context";
    return NULL;
}

/* What kernels that signal their own end write. */
static const char *open_words(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr device_page;

    if (page == MAP_FAILED || cu.cuMemHostRegister_v2(page, 4096, CU_MEMHOSTREGISTER_DEVICEMAP) ||
        cu.cuMemHostGetDevicePointer_v2(&device_page, page, 0) ||
        cu.cuMemAlloc_v2(&counter, sizeof(uint32_t)) ||
        cu.cuMemsetD8_v2(counter, 0, sizeof(uint32_t)))
        return "no memory for the ends of kernels";
    completing_at(page, device_page, counter);
    return NULL;
}

static unsigned ran, failed;

static bool run_and_say(unsigned i, const char *variant, char *text, const char *how)
{
    const bool ok = run_case(i, text);

    printf("%sok %u - %s, %s%s%s%s\n", ok ? "" : "not ", ++ran, cases[i].name, variant, how,
           ok ? "" : ": ", failure);
    fflush(stdout);
    failed += !ok;
    return ok;
}

static bool run_fenced(unsigned i, const char *variant, char *text, const char *how)
{
    is_fenced = true;
    const bool ok = run_and_say(i, variant, text, how);
    is_fenced = false;
    return ok;
}

/* What a compiler has made of the case: as it is, and behind each pass by itself. */
static void run_variant(unsigned i, const char *variant, char *text)
{
    bool ok = run_and_say(i, variant, text, "");
    char *rewritten;

    if (!ok || cases[i].refused_for)
        return;
    rewritten = completing_begin(text);
    if (rewritten)
        ok = run_and_say(i, variant, rewritten, ", signalling its end");
    completing_end();
    free(rewritten);
    if (!ok)
        return;
    rewritten = fencing_begin(text);
    if (rewritten)
        ok = run_fenced(i, variant, rewritten, ", fenced");
    else
        printf("# %s, %s: refused by the fence: %s\n", cases[i].name, variant, fencing_reason());
    fencing_end();
    free(rewritten);
    if (!ok)
        return;
    rewritten = fencing_begin_variables(text);
    if (rewritten)
        run_fenced(i, variant, rewritten, ", with its variables moved");
    fencing_end();
    free(rewritten);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name))
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    static const char *const variants[] = {"O3", "O0", "G", "clang"};
    const char *folder = getenv("GSHARE_CORPUS"), *problem;

    setenv("GSHARE_SOFT_TURN", "5", 0);
    problem = open_driver();

    if (!problem)
        problem = open_words();
    if (!problem)
        problem = open_arena();
    if (problem) {
        printf("Bail out! %s\n", problem);
        return 1;
    }
    for (unsigned i = 0; i < ncases; i++) {
        unsigned found = 0;

        if (!is_wanted(cases[i].name, argc, argv))
            continue;
        for (unsigned v = 0; v < sizeof variants / sizeof variants[0]; v++) {
            char path[512];
            char *text;

            snprintf(path, sizeof path, "%s/%s.%s.ptx", folder ? folder : CORPUS_PTX, cases[i].name,
                     variants[v]);
            text = read_file(path);
            if (!text)
                continue;
            found++;
            run_variant(i, variants[v], text);
            free(text);
        }
        if (!found) {
            printf("not ok %u - %s has no PTX\n", ++ran, cases[i].name);
            failed++;
        }
    }
    printf("1..%u\n", ran);
    return failed ? 1 : 0;
}
