// Lines, volumes, layers and cubes have levels too; all layers and faces are on each of them.
#include "show.h"

enum { SIDE = 8, LEVELS = 4 };

/* A texel is its level times 100 and its slice, layer or face. */
static cudaTextureObject_t filled(cudaExtent extent, unsigned flags)
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    bool volume = extent.depth && !(flags & (cudaArrayLayered | cudaArrayCubemap));
    static float texels[12 * SIDE * SIDE];
    cudaMipmappedArray_t mipmap;
    cudaResourceDesc resource = {};
    cudaTextureObject_t texture;
    cudaTextureDesc desc = {};

    MUST(cudaMallocMipmappedArray(&mipmap, &channels, extent, LEVELS, flags));
    for (int l = 0; l < LEVELS; l++) {
        size_t width = extent.width >> l, height = extent.height ? extent.height >> l : 1;
        size_t depth = volume ? extent.depth >> l : extent.depth ? extent.depth : 1;
        cudaMemcpy3DParms copy = {};

        for (size_t i = 0; i < width * height * depth; i++)
            texels[i] = l * 100 + i / (width * height);
        copy.srcPtr = make_cudaPitchedPtr(texels, width * sizeof(float), width, height);
        MUST(cudaGetMipmappedArrayLevel(&copy.dstArray, mipmap, l));
        copy.extent = make_cudaExtent(width, height, depth);
        copy.kind = cudaMemcpyHostToDevice;
        MUST(cudaMemcpy3D(&copy));
    }
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    for (int i = 0; i < 3; i++)
        desc.addressMode[i] = cudaAddressModeClamp;
    desc.normalizedCoords = 1;
    desc.maxMipmapLevelClamp = LEVELS - 1;
    MUST(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    return texture;
}

__global__ void look(cudaTextureObject_t line, cudaTextureObject_t lines, cudaTextureObject_t planes,
                     cudaTextureObject_t volume, cudaTextureObject_t cube, cudaTextureObject_t cubes, float *out)
{
    out[0] = tex1DLod<float>(line, 0.5f, 3);
    out[1] = tex1DLayeredLod<float>(lines, 0.5f, 2, 1);
    out[2] = tex2DLayeredLod<float>(planes, 0.5f, 0.5f, 1, 2);
    out[3] = tex3DLod<float>(volume, 0.5f, 0.5f, 0.875f, 1);
    out[4] = texCubemapLod<float>(cube, 0, -1, 0, 3);
    out[5] = texCubemapLayeredLod<float>(cubes, 0, 0, 1, 1, 2);
    out[6] = tex1DGrad<float>(line, 0.5f, 4.0f / SIDE, 0);
    out[7] = tex2DLayeredGrad<float>(planes, 0.5f, 0.5f, 2, make_float2(0, 0), make_float2(2.0f / SIDE, 0));
    out[8] = tex3DGrad<float>(volume, 0.5f, 0.5f, 0.125f, make_float4(0, 0, 2.0f / SIDE, 0), make_float4(0, 0, 0, 0));
}

int main()
{
    float host[9], *out;

    MUST(cudaMalloc(&out, sizeof(host)));
    look<<<1, 1>>>(filled(make_cudaExtent(SIDE, 0, 0), 0), filled(make_cudaExtent(SIDE, 0, 3), cudaArrayLayered),
                   filled(make_cudaExtent(SIDE, SIDE, 3), cudaArrayLayered),
                   filled(make_cudaExtent(SIDE, SIDE, SIDE), 0),
                   filled(make_cudaExtent(SIDE, SIDE, 6), cudaArrayCubemap),
                   filled(make_cudaExtent(SIDE, SIDE, 12), cudaArrayCubemap | cudaArrayLayered), out);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", host[0], host[1], host[2], host[3]); //> 300 102 201 103
    printf("%g %g\n", host[4], host[5]);                         //> 303 210
    printf("%g %g %g\n", host[6], host[7], host[8]);             //> 200 102 100
}
