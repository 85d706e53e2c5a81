// The usual way to make a mipmap: a kernel reads a level through a texture and writes the next through a surface. The
// levels are bytes that are read as fractions of 255.
#include "show.h"

__global__ void half(cudaTextureObject_t from, cudaSurfaceObject_t to)
{
    unsigned sum = 0;

    for (int i = 0; i < 4; i++)
        sum += tex2D<uchar1>(from, 2 * threadIdx.x + i % 2 + 0.5f, 2 * threadIdx.y + i / 2 + 0.5f).x;
    surf2Dwrite<uchar1>(make_uchar1(sum / 4), to, threadIdx.x, threadIdx.y);
}

__global__ void look(cudaTextureObject_t t, float x, float y, float *out)
{
    out[threadIdx.x] = tex2DLod<float>(t, x, y, threadIdx.x);
}

static void tell(cudaTextureObject_t texture, float x, float y)
{
    float *out, got[4];

    MUST(cudaMalloc(&out, sizeof(got)));
    look<<<1, 4>>>(texture, x, y, out);
    MUST(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
    MUST(cudaFree(out));
    for (int l = 0; l < 4; l++)
        printf("%s%.0f", l ? " " : "", got[l] * 255);
    printf("\n");
}

int main()
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<unsigned char>();
    unsigned char texels[8][8];
    cudaMipmappedArray_t mipmap;
    cudaTextureObject_t texture;
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaArray_t level;

    /* Squares of 4 x 4 of 0, 40, 80 and 120. */
    for (int i = 0; i < 64; i++)
        texels[i / 8][i % 8] = (i / 32 * 2 + i % 8 / 4) * 40;
    MUST(cudaMallocMipmappedArray(&mipmap, &channels, make_cudaExtent(8, 8, 0), 4, cudaArraySurfaceLoadStore));
    MUST(cudaGetMipmappedArrayLevel(&level, mipmap, 0));
    MUST(cudaMemcpy2DToArray(level, 0, 0, texels, 8, 8, 8, cudaMemcpyHostToDevice));
    for (int l = 1; l < 4; l++) {
        cudaTextureObject_t from;
        cudaSurfaceObject_t to;

        resource = {};
        desc = {};
        resource.resType = cudaResourceTypeArray;
        MUST(cudaGetMipmappedArrayLevel(&resource.res.array.array, mipmap, l - 1));
        MUST(cudaCreateTextureObject(&from, &resource, &desc, NULL));
        MUST(cudaGetMipmappedArrayLevel(&resource.res.array.array, mipmap, l));
        MUST(cudaCreateSurfaceObject(&to, &resource));
        half<<<1, dim3(8 >> l, 8 >> l)>>>(from, to);
        MUST(cudaDeviceSynchronize());
        MUST(cudaDestroySurfaceObject(to));
        MUST(cudaDestroyTextureObject(from));
    }
    resource = {};
    desc = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
    desc.readMode = cudaReadModeNormalizedFloat;
    desc.normalizedCoords = 1;
    desc.maxMipmapLevelClamp = 3;
    MUST(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    tell(texture, 0.1f, 0.1f); //> 0 0 0 60
    tell(texture, 0.9f, 0.1f); //> 40 40 40 60
    tell(texture, 0.1f, 0.9f); //> 80 80 80 60
    tell(texture, 0.9f, 0.9f); //> 120 120 120 60
    SHOW(cudaDestroyTextureObject(texture)); //> cudaDestroyTextureObject(texture): cudaSuccess
    SHOW(cudaFreeMipmappedArray(mipmap)); //> cudaFreeMipmappedArray(mipmap): cudaSuccess
}
