// cudaPeekAtLastError leaves the last error, cudaGetLastError takes it; success does not erase it.
#include "show.h"

int main()
{
    int count;

    SHOW(cudaGetLastError());         //> cudaGetLastError(): cudaSuccess
    SHOW(cudaSetDevice(-1));          //> cudaSetDevice(-1): cudaErrorInvalidDevice
    SHOW(cudaGetDeviceCount(&count)); //> cudaGetDeviceCount(&count): cudaSuccess
    SHOW(cudaPeekAtLastError());      //> cudaPeekAtLastError(): cudaErrorInvalidDevice
    SHOW(cudaPeekAtLastError());      //> cudaPeekAtLastError(): cudaErrorInvalidDevice
    SHOW(cudaGetLastError());         //> cudaGetLastError(): cudaErrorInvalidDevice
    SHOW(cudaGetLastError());         //> cudaGetLastError(): cudaSuccess
}
