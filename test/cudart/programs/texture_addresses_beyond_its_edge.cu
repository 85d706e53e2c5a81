// Beyond a texture's edge: clamp and border in texels; wrap and mirror with normalized coordinates.
#include "show.h"

__global__ void fetch(cudaTextureObject_t t, const float *x, float *out)
{
    out[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]);
}

static void tell(cudaArray_t array, cudaTextureAddressMode mode, bool normalized, float *x, float *out)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaTextureObject_t texture;
    float host[6];

    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    desc.addressMode[0] = mode;
    desc.normalizedCoords = normalized;
    desc.borderColor[0] = -1;
    MUST(cudaCreateTextureObject(&texture, &resource, &desc, NULL));
    fetch<<<1, 6>>>(texture, x, out);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    MUST(cudaDestroyTextureObject(texture));
    for (int i = 0; i < 6; i++)
        printf("%g%c", host[i], i < 5 ? ' ' : '\n');
}

int main()
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    float texels[4] = {10, 20, 30, 40}, in_texels[6] = {-3, -0.5f, 0.5f, 3.5f, 4.5f, 100};
    float normalized[6] = {-0.125f, -0.375f, 0.375f, 0.875f, 1.125f, 2.625f}, *x, *out;
    cudaArray_t array;

    MUST(cudaMallocArray(&array, &desc, 4));
    MUST(cudaMemcpy2DToArray(array, 0, 0, texels, 16, 16, 1, cudaMemcpyHostToDevice));
    MUST(cudaMalloc(&x, sizeof(in_texels)));
    MUST(cudaMalloc(&out, sizeof(in_texels)));
    MUST(cudaMemcpy(x, in_texels, sizeof(in_texels), cudaMemcpyHostToDevice));
    tell(array, cudaAddressModeClamp, false, x, out);  //> 10 10 10 40 40 40
    tell(array, cudaAddressModeBorder, false, x, out); //> -1 -1 10 40 -1 -1
    MUST(cudaMemcpy(x, normalized, sizeof(normalized), cudaMemcpyHostToDevice));
    tell(array, cudaAddressModeWrap, true, x, out);   //> 40 30 20 40 10 30
    tell(array, cudaAddressModeMirror, true, x, out); //> 10 20 20 40 40 30
    tell(array, cudaAddressModeClamp, true, x, out);  //> 10 10 20 40 40 40
}
