// cudaMemcpy3D fills volumes and layered arrays, with extents in texels; a volume filters between its slices, a layered
// array does not between its layers.
#include "show.h"

__global__ void look(cudaTextureObject_t volume, cudaTextureObject_t layers, float *out)
{
    out[0] = tex3D<float>(volume, 2.5f, 1.5f, 3.5f);
    out[1] = tex3D<float>(volume, 2.5f, 1.5f, 3.0f);
    out[2] = tex2DLayered<float>(layers, 2.5f, 1.5f, 3);
    out[3] = tex2DLayered<float>(layers, 2.0f, 1.5f, 2);
}

static cudaTextureObject_t filled(unsigned flags)
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaMemcpy3DParms copy = {};
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaTextureObject_t texture;
    float texels[5][3][4];
    cudaArray_t array;

    for (int i = 0; i < 60; i++)
        texels[i / 12][i / 4 % 3][i % 4] = i / 12 * 100 + i / 4 % 3 * 10 + i % 4;
    MUST(cudaMalloc3DArray(&array, &channels, make_cudaExtent(4, 3, 5), flags));
    copy.srcPtr = make_cudaPitchedPtr(texels, sizeof(texels[0][0]), 4, 3);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(4, 3, 5);
    copy.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&copy));
    /* One slice again: z counts slices or layers. */
    for (int i = 0; i < 12; i++)
        texels[0][i / 4][i % 4] = 900 + i;
    copy.dstPos = make_cudaPos(0, 0, 4);
    copy.extent = make_cudaExtent(4, 3, 1);
    MUST(cudaMemcpy3D(&copy));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    desc.filterMode = cudaFilterModeLinear;
    desc.addressMode[0] = desc.addressMode[1] = desc.addressMode[2] = cudaAddressModeClamp;
    MUST(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    /* Back through device memory. */
    float back[2][2], *memory;
    cudaMemcpy3DParms out = {};
    MUST(cudaMalloc(&memory, sizeof(back)));
    out.srcArray = array;
    out.srcPos = make_cudaPos(1, 2, 3);
    out.dstPtr = make_cudaPitchedPtr(memory, 8, 2, 1);
    out.extent = make_cudaExtent(2, 1, 2);
    out.kind = cudaMemcpyDeviceToDevice;
    MUST(cudaMemcpy3D(&out));
    MUST(cudaMemcpy(back, memory, sizeof(back), cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", back[0][0], back[0][1], back[1][0], back[1][1]);
    out.srcPos = make_cudaPos(3, 2, 3);
    SHOW(cudaMemcpy3D(&out));
    return texture;
}

int main()
{
    float host[4], *out;
    cudaTextureObject_t volume = filled(0);
    //> 321 322 909 910
    //> cudaMemcpy3D(&out): cudaErrorInvalidValue
    cudaTextureObject_t layers = filled(cudaArrayLayered);
    //> 321 322 909 910
    //> cudaMemcpy3D(&out): cudaErrorInvalidValue

    MUST(cudaMalloc(&out, sizeof(host)));
    look<<<1, 1>>>(volume, layers, out);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", host[0], host[1], host[2], host[3]); //> 312 262 312 211.5
}
