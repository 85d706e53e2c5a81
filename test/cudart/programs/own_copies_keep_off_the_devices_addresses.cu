// Memory of the device is no memory of the host: a copy that takes it for one is refused.
#include "show.h"

int main()
{
    void *p, *host = malloc(64);

    MUST(cudaMalloc(&p, 64));
    SHOW(cudaMemcpy(p, p, 64, cudaMemcpyHostToDevice));    //> cudaMemcpy(p, p, 64, cudaMemcpyHostToDevice): cudaErrorInvalidValue
    SHOW(cudaMemcpy(p, host, 64, cudaMemcpyDeviceToHost)); //> cudaMemcpy(p, host, 64, cudaMemcpyDeviceToHost): cudaErrorInvalidValue
    SHOW(cudaMemcpy(host, p, 64, cudaMemcpyHostToHost));   //> cudaMemcpy(host, p, 64, cudaMemcpyHostToHost): cudaErrorInvalidValue
    SHOW(cudaMemcpy(host, p, 64, cudaMemcpyHostToDevice)); //> cudaMemcpy(host, p, 64, cudaMemcpyHostToDevice): cudaErrorInvalidValue
}
