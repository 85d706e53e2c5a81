extern "C" __global__ void first(float *out, const float *in, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n)
        out[t] = in[t] * 2.f + 1.f / in[t];
}
extern "C" __global__ void second(float *out, const float *in, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n)
        out[t] = in[t] * 2.f + 1.f / in[t];
}
