// No instruction reaches outside of its texture or surface, whatever its coordinates are and
// whatever geometry it names. What a GPU gives then is its own affair; these are promises of the
// software device, where outside would be the host's memory.
#include <string.h>

#include "texels.h"

#define TEX(geometry, place) "tex." geometry ".v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {" place "}];"
#define FETCH(geometry, place)                                                                     \
    "tex." geometry ".v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {" place "}];"
#define SULD(geometry, mode, place) "suld.b." geometry ".b32." mode " {%d0}, [%t, {" place "}];"
#define SUST(geometry, mode, place) "sust.b." geometry ".b32." mode " [%t, {" place "}], {%d0};"
#define SUST4(geometry, mode, place)                                                               \
    "sust.b." geometry ".v4.b32." mode " [%t, {" place "}], {%d0, %d1, %d2, %d3};"

static const char *const textures[] = {
    TEX("1d", "%x"),
    TEX("2d", "%x, %y"),
    TEX("3d", "%x, %y, %z, %z"),
    TEX("a1d", "%c0, %y"),
    TEX("a2d", "%c0, %y, %z, %z"),
    TEX("cube", "%x, %y, %z, %z"),
    TEX("acube", "%c0, %y, %z, %w"),
    FETCH("1d", "%c0"),
    FETCH("2d", "%c0, %c1"),
    FETCH("3d", "%c0, %c1, %c2, %c2"),
    FETCH("a2d", "%c0, %c1, %c2, %c2"),
    "tld4.g.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];",
    "tld4.a.a2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %x, %y, %y}];",
};

static const char *const surfaces[] = {
    SULD("1d", "clamp", "%c0"),
    SULD("2d", "zero", "%c0, %c1"),
    SULD("3d", "clamp", "%c0, %c1, %c2, %c2"),
    SULD("a2d", "clamp", "%c2, %c0, %c1, %c1"),
    SUST("1d", "clamp", "%c0"),
    SUST("2d", "clamp", "%c0, %c1"),
    SUST("3d", "zero", "%c0, %c1, %c2, %c2"),
    SUST("a1d", "clamp", "%c2, %c0"),
    SUST("a2d", "clamp", "%c2, %c0, %c1, %c1"),
    SUST4("2d", "clamp", "%c0, %c1"),
    SUST4("2d", "zero", "%c0, %c1"),
};

enum { COUNT = 512 };

// Bits of floats and integers near every edge, and any.
static void hostile_places(union words in[COUNT])
{
    static const uint32_t edges[] = {
        0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x7f800000, 0xff800000,
        0x7fc00000, 0x7f7fffff, 0xff7fffff, 0x4f000000, 0xcf000000, 0x5f000000, 0xdf000000,
        0x5e800000, 0x00000001, 0x7fffffff, 0xffffffff, 0x44000000, 0x43ffffff, 0x47000000,
        511,        512,        1023,       1024,       2044,       2047,       2048,
        0xfffffffc, 0x7ffffffc, 0x80000004, 0x41000000, 0x40c00000};

    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned k = 0; k < 4; k++) {
            uint32_t any = (uint32_t)(random_unit() * 4294967296.0);

            in[i].u[k] = i % 4 == 3 ? any : edges[any % ARRAY_SIZE(edges)];
        }
}

// Memory with nothing mapped on either side.
static CUdeviceptr lonely_memory(size_t *size)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base;

    OK(cu.cuMemGetAllocationGranularity(size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cu.cuMemAddressReserve(&base, 3 * *size, 0, 0, 0));
    OK(cu.cuMemCreate(&handle, *size, &prop, 0));
    OK(cu.cuMemMap(base + *size, *size, 0, handle, 0));
    OK(cu.cuMemSetAccess(base + *size, *size, &access, 1));
    return base + *size;
}

static void sample_everywhere(const CUDA_RESOURCE_DESC *resource)
{
    union words in[COUNT], out[COUNT] = {0};

    hostile_places(in);
    for (int mode = CU_TR_ADDRESS_MODE_WRAP; mode <= CU_TR_ADDRESS_MODE_BORDER; mode++)
        for (int filter = CU_TR_FILTER_MODE_POINT; filter <= CU_TR_FILTER_MODE_LINEAR; filter++)
            for (unsigned normalized = 0; normalized < 2; normalized++) {
                CUtexObject texture =
                    texture_with(resource, (CUaddress_mode)mode, (CUfilter_mode)filter,
                                 normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0);

                for (size_t i = 0; i < ARRAY_SIZE(textures); i++)
                    run(textures[i], texture, in, out, COUNT);
                OK(cu.cuTexObjectDestroy(texture));
            }
}

static void linear_memory(void)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    size_t size;

    if (!on_software)
        skip("a promise of the software device");
    resource.res.linear.devPtr = lonely_memory(&size);
    resource.res.linear.format = CU_AD_FORMAT_FLOAT;
    resource.res.linear.numChannels = 4;
    resource.res.linear.sizeInBytes = size;
    sample_everywhere(&resource);
}

static void pitched_memory(void)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    size_t size;

    if (!on_software)
        skip("a promise of the software device");
    resource.res.pitch2D.devPtr = lonely_memory(&size);
    resource.res.pitch2D.format = CU_AD_FORMAT_HALF;
    resource.res.pitch2D.numChannels = 4;
    resource.res.pitch2D.width = 512;
    resource.res.pitch2D.height = size / 4096;
    resource.res.pitch2D.pitchInBytes = 4096;
    sample_everywhere(&resource);
}

// Arrays of two megabytes, which fill their part of device memory, between two such parts of
// nothing but zeros.
static const struct {
    unsigned dims, flags;
    size_t width, height, depth;
} shapes[] = {{1, 0, 8192, 1, 1},
              {2, 0, 512, 1024, 1},
              {2, 0, 1, 32768, 1}, // rows shorter than some accesses
              {3, 0, 128, 64, 64},
              {2, CUDA_ARRAY3D_LAYERED, 128, 128, 32},
              {1, CUDA_ARRAY3D_LAYERED, 512, 1, 1024},
              {2, CUDA_ARRAY3D_CUBEMAP, 256, 256, 6}};

enum { GUARD = 2 << 20 };

static void check_guard(CUdeviceptr guard)
{
    static unsigned char got[GUARD], zero[GUARD];

    OK(cu.cuMemcpyDtoH_v2(got, guard, GUARD));
    CHECK(!memcmp(got, zero, GUARD), "something was stored outside");
}

static void arrays(void)
{
    if (!on_software)
        skip("a promise of the software device");
    for (size_t k = 0; k < ARRAY_SIZE(shapes); k++) {
        struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 1, shapes[k].width, shapes[k].height,
                                        shapes[k].depth, (unsigned)k);
        CUdeviceptr before = device_alloc(GUARD), after;
        CUarray a = array_of(&t, shapes[k].dims, shapes[k].flags | CUDA_ARRAY3D_SURFACE_LDST);
        CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = a};
        union words in[COUNT], out[COUNT];
        CUsurfObject surface = surface_of(a);

        after = device_alloc(GUARD);
        sample_everywhere(&resource);
        hostile_places(in);
        for (unsigned i = 0; i < COUNT; i++)
            in[i].u[0] &= ~15u;
        memset(out, 0xff, sizeof(out));
        for (size_t i = 0; i < ARRAY_SIZE(surfaces); i++)
            run(surfaces[i], surface, in, out, COUNT);
        check_guard(before);
        check_guard(after);
        OK(cu.cuSurfObjectDestroy(surface));
        OK(cu.cuArrayDestroy(a));
        OK(cu.cuMemFree_v2(before));
        OK(cu.cuMemFree_v2(after));
        free(t.data);
    }
}

static const struct test tests[] = {
    {"textures of linear memory stay inside", linear_memory, false},
    {"textures of pitched memory stay inside", pitched_memory, false},
    {"textures and surfaces of arrays stay inside", arrays, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
