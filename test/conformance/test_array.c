// Arrays: what they are, copies to, from and between them, and the objects made of them.
#include <string.h>

#include "texels.h"

static CUresult create(CUarray *a, size_t width, size_t height, size_t depth, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {width, height, depth, CU_AD_FORMAT_FLOAT, 4, flags};

    return cu.cuArray3DCreate_v2(a, &desc);
}

static void arrays_tell_what_they_are(void)
{
    static const struct {
        size_t width, height, depth;
        unsigned flags;
    } shapes[] = {
        {100, 0, 0, 0},
        {100, 30, 0, 0},
        {10, 20, 30, CUDA_ARRAY3D_SURFACE_LDST},
        {100, 0, 7, CUDA_ARRAY3D_LAYERED},
        {33, 20, 7, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST},
        {16, 16, 6, CUDA_ARRAY3D_CUBEMAP},
        {16, 16, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
        {64, 64, 0, CUDA_ARRAY3D_TEXTURE_GATHER},
    };
    CUDA_ARRAY_DESCRIPTOR flat = {7, 5, CU_AD_FORMAT_SIGNED_INT16, 2}, told_flat;
    CUDA_ARRAY3D_DESCRIPTOR told;
    CUarray a;

    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        OK(create(&a, shapes[i].width, shapes[i].height, shapes[i].depth, shapes[i].flags));
        OK(cu.cuArray3DGetDescriptor_v2(&told, a));
        CHECK(told.Width == shapes[i].width && told.Height == shapes[i].height &&
                  told.Depth == shapes[i].depth && told.Flags == shapes[i].flags &&
                  told.Format == CU_AD_FORMAT_FLOAT && told.NumChannels == 4,
              "shape %zu", i);
        OK(cu.cuArrayDestroy(a));
    }
    OK(cu.cuArrayCreate_v2(&a, &flat));
    OK(cu.cuArrayGetDescriptor_v2(&told_flat, a));
    CHECK(told_flat.Width == 7 && told_flat.Height == 5 &&
          told_flat.Format == CU_AD_FORMAT_SIGNED_INT16 && told_flat.NumChannels == 2);
    OK(cu.cuArrayDestroy(a));
}

static void impossible_arrays_are_refused(void)
{
    CUDA_ARRAY3D_DESCRIPTOR three = {8, 8, 0, CU_AD_FORMAT_FLOAT, 3, 0};
    CUarray a;
    int most;

    EXPECT(CUDA_ERROR_INVALID_VALUE, create(&a, 0, 0, 0, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, create(&a, 0, 8, 0, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, create(&a, 16, 16, 5, CUDA_ARRAY3D_CUBEMAP));
    EXPECT(CUDA_ERROR_INVALID_VALUE, create(&a, 16, 8, 6, CUDA_ARRAY3D_CUBEMAP));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuArray3DCreate_v2(&a, &three));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuArray3DCreate_v2(NULL, &three));
    OK(cu.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, device));
    CHECK(most >= 65536);
    EXPECT(CUDA_ERROR_INVALID_VALUE, create(&a, (size_t)most + 1, 0, 0, 0));
    OK(create(&a, (size_t)most, 0, 0, 0));
    OK(cu.cuArrayDestroy(a));
    OK(cu.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, device));
    EXPECT(CUDA_ERROR_INVALID_VALUE, create(&a, 1, (size_t)most + 1, 0, 0));
}

static void sizes_are_those_of_the_architecture(void)
{
    static const struct {
        CUdevice_attribute attribute;
        int value;
    } sizes[] = {
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 131072},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 16384},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 28},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
        {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    };

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        int value;

        OK(cu.cuDeviceGetAttribute(&value, sizes[i].attribute, device));
        CHECK(value == sizes[i].value, "attribute %d is %d", sizes[i].attribute, value);
    }
}

// ---- Copies

static void whole_arrays_come_back(void)
{
    static const struct {
        unsigned dims, flags;
        size_t width, height, depth;
    } shapes[] = {{1, 0, 1000, 1, 1},
                  {2, 0, 33, 17, 1},
                  {3, 0, 9, 8, 7},
                  {1, CUDA_ARRAY3D_LAYERED, 30, 1, 5},
                  {2, CUDA_ARRAY3D_LAYERED, 30, 4, 5},
                  {2, CUDA_ARRAY3D_CUBEMAP, 8, 8, 6}};

    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        struct texels t = texels_random(CU_AD_FORMAT_UNSIGNED_INT16, 2, shapes[i].width,
                                        shapes[i].height, shapes[i].depth, (unsigned)i);
        CUarray a = array_of(&t, shapes[i].dims, shapes[i].flags);
        unsigned char *got = malloc(texels_size(&t));

        CHECK(got);
        array_read(a, &t, got);
        CHECK(!memcmp(got, t.data, texels_size(&t)), "shape %zu", i);
        OK(cu.cuArrayDestroy(a));
        free(got);
        free(t.data);
    }
}

// Every kind of memory on both sides, part of an array, by rows.
static void parts_of_arrays_are_copied(void)
{
    enum { W = 64, H = 32, PITCH = 512 };
    struct texels t = texels_random(CU_AD_FORMAT_UNSIGNED_INT32, 1, W, H, 1, 3);
    struct texels none = texels_random(CU_AD_FORMAT_UNSIGNED_INT32, 1, W, H, 1, 4);
    CUarray a = array_of(&t, 2, 0), b = array_of(&none, 2, 0);
    CUdeviceptr p = device_alloc(PITCH * H);
    CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                         .srcArray = a,
                         .srcXInBytes = 4 * 10,
                         .srcY = 5,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = p,
                         .dstPitch = PITCH,
                         .dstXInBytes = 8,
                         .dstY = 2,
                         .WidthInBytes = 4 * 20,
                         .Height = 7};
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                        .srcDevice = p,
                        .srcPitch = PITCH,
                        .srcXInBytes = 8,
                        .srcY = 2,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = b,
                        .dstXInBytes = 4 * 3,
                        .dstY = 20,
                        .WidthInBytes = 4 * 20,
                        .Height = 7};
    CUDA_MEMCPY2D across = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                            .srcArray = a,
                            .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                            .dstArray = b,
                            .dstXInBytes = 4 * 40,
                            .WidthInBytes = 4 * 10,
                            .Height = 3};
    uint32_t got[H][W];

    OK(cu.cuMemcpy2D_v2(&out));
    OK(cu.cuMemcpy2DUnaligned_v2(&in));
    OK(cu.cuMemcpy2DAsync_v2(&across, NULL));
    array_read(b, &none, got);
    for (size_t y = 0; y < H; y++) {
        for (size_t x = 0; x < W; x++) {
            bool first = x >= 3 && x < 23 && y >= 20 && y < 27;
            bool second = x >= 40 && x < 50 && y < 3;
            int64_t want = first    ? texel_integer(&t, x - 3 + 10, y - 20 + 5, 0, 0)
                           : second ? texel_integer(&t, x - 40, y, 0, 0)
                                    : texel_integer(&none, x, y, 0, 0);

            CHECK(got[y][x] == want, "at %zu, %zu", x, y);
        }
    }
    out.srcXInBytes = 4 * 45;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpy2D_v2(&out));
    in.dstY = H - 6;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpy2D_v2(&in));
    free(t.data);
    free(none.data);
}

static void rows_are_copied_by_offset(void)
{
    enum { N = 256 };
    struct texels t = texels_random(CU_AD_FORMAT_UNSIGNED_INT32, 1, N, 1, 1, 5);
    CUarray a = array_of(&t, 1, 0), b = array_of(&t, 1, 0);
    CUdeviceptr p = device_alloc(4 * N);
    uint32_t want[N], got[N];

    memcpy(want, t.data, sizeof(want));
    OK(cu.cuMemcpyAtoD_v2(p, a, 40, 400));
    OK(cu.cuMemcpyDtoA_v2(b, 400, p, 400));
    memcpy(want + 100, t.data + 40, 400);
    OK(cu.cuMemcpyHtoA_v2(b, 0, (uint32_t[]){1, 2, 3}, 12));
    memcpy(want, (uint32_t[]){1, 2, 3}, 12);
    OK(cu.cuMemcpyAtoA_v2(b, 20, a, 8, 16));
    memcpy(want + 5, t.data + 8, 16);
    OK(cu.cuMemcpyHtoAAsync_v2(b, 48, (uint32_t[]){4, 5}, 8, NULL));
    memcpy(want + 12, (uint32_t[]){4, 5}, 8);
    OK(cu.cuMemcpyAtoHAsync_v2(got, b, 0, 4 * N / 2, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemcpyAtoH_v2(got + N / 2, b, 4 * N / 2, 4 * N / 2));
    CHECK(!memcmp(got, want, sizeof(want)));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyAtoH_v2(got, b, 4, 4 * N));
    free(t.data);
}

static void graphs_copy_to_arrays(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 1, 16, 16, 1, 6);
    CUdeviceptr p = device_alloc(texels_size(&t));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .srcPitch = 64,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = 64,
                          .Height = 16,
                          .Depth = 1};
    unsigned char got[16 * 16 * 4];
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUarray a;

    OK(create(&a, 4, 16, 0, 0)); // four channels: as many bytes a row
    copy.dstArray = a;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, primary));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuMemcpyHtoD_v2(p, t.data, texels_size(&t)));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    array_read(a, &t, got);
    CHECK(!memcmp(got, t.data, sizeof(got)));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    free(t.data);
}

// ---- Objects

static void objects_tell_what_they_are(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 4, 16, 16, 1, 7);
    CUarray a = array_of(&t, 2, CUDA_ARRAY3D_SURFACE_LDST);
    CUtexObject texture = texture_of(a, CU_TR_ADDRESS_MODE_BORDER, CU_TR_FILTER_MODE_LINEAR,
                                     CU_TRSF_NORMALIZED_COORDINATES);
    CUsurfObject surface = surface_of(a);
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;

    CHECK(texture && surface);
    OK(cu.cuTexObjectGetResourceDesc(&resource, texture));
    CHECK(resource.resType == CU_RESOURCE_TYPE_ARRAY && resource.res.array.hArray == a);
    OK(cu.cuTexObjectGetTextureDesc(&desc, texture));
    CHECK(desc.addressMode[0] == CU_TR_ADDRESS_MODE_BORDER &&
              desc.addressMode[1] == CU_TR_ADDRESS_MODE_BORDER,
          "modes %d, %d, %d", desc.addressMode[0], desc.addressMode[1], desc.addressMode[2]);
    CHECK(desc.filterMode == CU_TR_FILTER_MODE_LINEAR, "filter %d", desc.filterMode);
    CHECK(desc.flags == CU_TRSF_NORMALIZED_COORDINATES, "flags 0x%x", desc.flags);
    // NVIDIA's driver leaves the border's colour as it was.
    OK(cu.cuSurfObjectGetResourceDesc(&resource, surface));
    CHECK(resource.resType == CU_RESOURCE_TYPE_ARRAY && resource.res.array.hArray == a);
    OK(cu.cuSurfObjectDestroy(surface));
    OK(cu.cuTexObjectDestroy(texture));
    OK(cu.cuArrayDestroy(a));
    free(t.data);
}

static void impossible_objects_are_refused(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 1, 16, 16, 1, 8);
    CUarray plain = array_of(&t, 2, 0);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = plain};
    CUDA_RESOURCE_DESC pitched = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                                  .res.pitch2D = {.devPtr = device_alloc(1 << 16),
                                                  .format = CU_AD_FORMAT_FLOAT,
                                                  .numChannels = 1,
                                                  .width = 16,
                                                  .height = 16,
                                                  .pitchInBytes = 64}};
    CUDA_TEXTURE_DESC desc = {.flags = 0};
    CUtexObject texture;
    CUsurfObject surface;

    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuTexObjectCreate(&texture, &resource, NULL, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuTexObjectCreate(NULL, &resource, &desc, NULL));
    OK(cu.cuSurfObjectCreate(&surface, &resource)); // though it has no SURFACE_LDST
    OK(cu.cuSurfObjectDestroy(surface));
    OK(cu.cuTexObjectCreate(&texture, &pitched, &desc, NULL));
    OK(cu.cuTexObjectDestroy(texture));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuSurfObjectCreate(&surface, &pitched));
    pitched.res.pitch2D.pitchInBytes = 68;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuTexObjectCreate(&texture, &pitched, &desc, NULL));
    pitched.res.pitch2D.pitchInBytes = 64;
    pitched.res.pitch2D.devPtr += 4;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuTexObjectCreate(&texture, &pitched, &desc, NULL));
    free(t.data);
}

// What no driver promises to survive, and this device does.
static void wrong_handles_are_statuses(void)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC plain = {.flags = 0};
    CUtexObject texture;
    CUarray a;

    if (!on_software)
        skip("a driver may trust handles");
    OK(create(&a, 16, 16, 0, 0));
    resource.res.array.hArray = a;
    OK(cu.cuTexObjectCreate(&texture, &resource, &plain, NULL));
    OK(cu.cuArrayDestroy(a));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cu.cuArrayDestroy(a));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cu.cuArray3DGetDescriptor_v2(&desc, a));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuTexObjectCreate(&texture, &resource, &plain, NULL));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cu.cuArrayDestroy((CUarray)(uintptr_t)0xdeadbeef0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuSurfObjectDestroy(texture));
    OK(cu.cuTexObjectDestroy(texture));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuTexObjectDestroy(texture));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuTexObjectDestroy(0));
}

// Arrays of other formats are refused as such.
static void what_is_left_out_says_so(void)
{
    CUDA_ARRAY3D_DESCRIPTOR nv12 = {16, 16, 0, (CUarray_format)0xb0, 1, 0};
    CUarray a;

    if (!on_software)
        skip("a GPU has them");
    EXPECT(CUDA_ERROR_NOT_SUPPORTED, cu.cuArray3DCreate_v2(&a, &nv12));
}

static void memory_of_arrays_counts(void)
{
    size_t before, during, after, total;
    CUarray a;

    OK(cu.cuMemGetInfo_v2(&before, &total));
    OK(create(&a, 2048, 2048, 0, 0));
    OK(cu.cuMemGetInfo_v2(&during, &total));
    CHECK(before - during >= 2048u * 2048 * 16, "%zu", before - during);
    OK(cu.cuArrayDestroy(a));
    OK(cu.cuMemGetInfo_v2(&after, &total));
    CHECK(after >= during + 2048u * 2048 * 16);
}

static const struct test tests[] = {
    {"arrays tell what they are", arrays_tell_what_they_are, false},
    {"impossible arrays are refused", impossible_arrays_are_refused, false},
    {"the largest sizes are those of the architecture", sizes_are_those_of_the_architecture, false},
    {"whole arrays come back as they went in", whole_arrays_come_back, false},
    {"parts of arrays are copied from and to every kind of memory", parts_of_arrays_are_copied,
     false},
    {"rows of arrays are copied by offset", rows_are_copied_by_offset, false},
    {"a graph copies to an array", graphs_copy_to_arrays, false},
    {"textures and surfaces tell what they are", objects_tell_what_they_are, false},
    {"impossible textures and surfaces are refused", impossible_objects_are_refused, false},
    {"wrong handles are statuses", wrong_handles_are_statuses, false},
    {"what is left out says so", what_is_left_out_says_so, false},
    {"the memory of arrays counts", memory_of_arrays_counts, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
