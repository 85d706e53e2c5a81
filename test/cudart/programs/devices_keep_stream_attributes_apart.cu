// The attributes of a stream go to another stream of its device only.
#include "devices.h"

int main()
{
    cudaStream_t stream[2], other;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
    }
    MUST(cudaStreamCreate(&other));
    SHOW(cudaStreamCopyAttributes(other, stream[1]));     //> cudaStreamCopyAttributes(other, stream[1]): cudaSuccess
    SHOW(cudaStreamCopyAttributes(stream[1], stream[0])); //> cudaStreamCopyAttributes(stream[1], stream[0]): cudaErrorInvalidValue
    SHOW(cudaGetLastError());                             //> cudaGetLastError(): cudaErrorInvalidValue
}
