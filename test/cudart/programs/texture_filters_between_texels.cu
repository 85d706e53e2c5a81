// A linear filter gives the mean of the nearest texels; bytes may be read as fractions of 255.
#include "show.h"

__global__ void look(cudaTextureObject_t t, float x, float y, float4 *out)
{
    *out = tex2D<float4>(t, x, y);
}

static void tell(cudaTextureObject_t texture, float x, float y)
{
    float4 *out, got;

    MUST(cudaMalloc(&out, sizeof(got)));
    look<<<1, 1>>>(texture, x, y, out);
    MUST(cudaMemcpy(&got, out, sizeof(got), cudaMemcpyDeviceToHost));
    MUST(cudaFree(out));
    printf("%.2f %.2f %.2f %.2f\n", got.x, got.y, got.z, got.w);
}

int main()
{
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<uchar4>();
    unsigned char texels[2][2][4] = {{{0, 255, 0, 51}, {255, 255, 0, 51}}, {{0, 0, 255, 51}, {255, 0, 255, 51}}};
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaTextureObject_t point, linear;
    cudaArray_t array;

    MUST(cudaMallocArray(&array, &channels, 2, 2));
    MUST(cudaMemcpy2DToArray(array, 0, 0, texels, 8, 8, 2, cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
    desc.readMode = cudaReadModeNormalizedFloat;
    MUST(cudaCreateTextureObject(&point, &resource, &desc, NULL));
    desc.filterMode = cudaFilterModeLinear;
    MUST(cudaCreateTextureObject(&linear, &resource, &desc, NULL));
    tell(point, 1.5f, 0.5f);  //> 1.00 1.00 0.00 0.20
    tell(point, 0.9f, 1.9f);  //> 0.00 0.00 1.00 0.20
    tell(linear, 0.5f, 0.5f); //> 0.00 1.00 0.00 0.20
    tell(linear, 1.0f, 1.0f); //> 0.50 0.50 0.50 0.20
    tell(linear, 0.75f, 1.5f); //> 0.25 0.00 1.00 0.20
}
