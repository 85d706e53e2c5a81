// A texture of a mipmapped array reads the level that a kernel names, or that its gradients choose; between two levels it
// takes the nearest or their mean, after bias and clamps.
#include "show.h"

enum { SIDE = 16, LEVELS = 5 };

/* Each level has one value: 0, 16, 32 ... */
static cudaMipmappedArray_t filled()
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    static float texels[SIDE * SIDE];
    cudaMipmappedArray_t mipmap;

    MUST(cudaMallocMipmappedArray(&mipmap, &channels, make_cudaExtent(SIDE, SIDE, 0), LEVELS));
    for (int l = 0; l < LEVELS; l++) {
        int side = SIDE >> l;
        cudaArray_t level;

        for (int i = 0; i < side * side; i++)
            texels[i] = 16 * l;
        MUST(cudaGetMipmappedArrayLevel(&level, mipmap, l));
        MUST(cudaMemcpy2DToArray(level, 0, 0, texels, side * sizeof(float), side * sizeof(float), side,
                                 cudaMemcpyHostToDevice));
    }
    return mipmap;
}

static cudaTextureDesc plain()
{
    cudaTextureDesc desc = {};

    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
    desc.normalizedCoords = 1;
    desc.disableTrilinearOptimization = 1; /* which would weigh levels otherwise */
    desc.maxMipmapLevelClamp = LEVELS - 1;
    return desc;
}

static cudaTextureObject_t texture_of(cudaMipmappedArray_t mipmap, const cudaTextureDesc &desc)
{
    cudaResourceDesc resource = {};
    cudaTextureObject_t texture;

    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    MUST(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    return texture;
}

__global__ void by_level(cudaTextureObject_t t, const float *levels, float *out)
{
    out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, levels[threadIdx.x]);
}

__global__ void by_step(cudaTextureObject_t t, const float *texels, float *out)
{
    float step = texels[threadIdx.x] / SIDE;

    out[threadIdx.x] = tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(step, 0), make_float2(0, 0));
    out[4 + threadIdx.x] = tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(0, 0), make_float2(0, step));
}

__global__ void without(cudaTextureObject_t t, float *out)
{
    out[0] = tex2D<float>(t, 0.5f, 0.5f);
}

template <int N> static void tell(cudaTextureObject_t texture, const float (&levels)[N])
{
    float *in, *out, got[N];

    MUST(cudaMalloc(&in, sizeof(levels)));
    MUST(cudaMalloc(&out, sizeof(got)));
    MUST(cudaMemcpy(in, levels, sizeof(levels), cudaMemcpyHostToDevice));
    by_level<<<1, N>>>(texture, in, out);
    MUST(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        printf("%s%g", i ? " " : "", got[i]);
    printf("\n");
    MUST(cudaFree(in));
    MUST(cudaFree(out));
}

int main()
{
    cudaMipmappedArray_t mipmap = filled();
    cudaTextureDesc desc = plain(), told;
    cudaResourceDesc resource = {};
    cudaTextureObject_t texture = texture_of(mipmap, desc), none;
    const float steps[4] = {1, 2, 4, 16};
    float *in, *out, got[8];

    tell(texture, {0, 1, 2, 3, 4});      //> 0 16 32 48 64
    tell(texture, {0.25f, 0.75f, 2.75f}); //> 0 16 48
    tell(texture, {-1, 5, 100});         //> 0 64 64
    MUST(cudaMalloc(&out, sizeof(got)));
    without<<<1, 1>>>(texture, out);
    MUST(cudaMemcpy(got, out, sizeof(float), cudaMemcpyDeviceToHost));
    printf("%g\n", got[0]); //> 0
    MUST(cudaMalloc(&in, sizeof(steps)));
    MUST(cudaMemcpy(in, steps, sizeof(steps), cudaMemcpyHostToDevice));
    by_step<<<1, 4>>>(texture, in, out);
    MUST(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
    printf("%g %g %g %g, %g %g %g %g\n", got[0], got[1], got[2], got[3], got[4], got[5], got[6], got[7]); //> 0 16 32 64, 0 16 32 64

    desc.mipmapFilterMode = cudaFilterModeLinear;
    texture = texture_of(mipmap, desc);
    tell(texture, {0, 0.5f, 1.25f, 3.75f}); //> 0 8 20 60
    desc.mipmapLevelBias = 1.5f;
    tell(texture_of(mipmap, desc), {0, 0.5f, 3}); //> 24 32 64
    desc.mipmapLevelBias = 0;
    desc.minMipmapLevelClamp = 0.5f;
    desc.maxMipmapLevelClamp = 2.25f;
    tell(texture_of(mipmap, desc), {0, 1, 2, 3}); //> 8 16 32 36
    MUST(cudaGetTextureObjectTextureDesc(&told, texture));
    HOLDS(told.mipmapFilterMode == cudaFilterModeLinear); //> told.mipmapFilterMode == cudaFilterModeLinear: yes

    /* Surfaces show levels alone. */
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    SHOW(cudaCreateSurfaceObject(&none, &resource)); //> cudaCreateSurfaceObject(&none, &resource): cudaErrorInvalidValue
    SHOW(cudaDestroyTextureObject(texture)); //> cudaDestroyTextureObject(texture): cudaSuccess
    SHOW(cudaFreeMipmappedArray(mipmap)); //> cudaFreeMipmappedArray(mipmap): cudaSuccess
}
