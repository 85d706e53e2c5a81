// Attributes of a stream can be set, asked for, and copied to another.
#include "show.h"

int main()
{
    cudaStream_t first, second;
    cudaLaunchAttributeValue value = {};

    MUST(cudaStreamCreate(&first));
    MUST(cudaStreamCreate(&second));
    SHOW(cudaStreamGetAttribute(first, cudaLaunchAttributeSynchronizationPolicy, &value)); //> cudaStreamGetAttribute(first, cudaLaunchAttributeSynchronizationPolicy, &value): cudaSuccess
    printf("%d\n", value.syncPolicy); //> -1
    value.syncPolicy = cudaSyncPolicyYield;
    SHOW(cudaStreamSetAttribute(first, cudaLaunchAttributeSynchronizationPolicy, &value)); //> cudaStreamSetAttribute(first, cudaLaunchAttributeSynchronizationPolicy, &value): cudaSuccess
    SHOW(cudaStreamCopyAttributes(second, first)); //> cudaStreamCopyAttributes(second, first): cudaSuccess
    value.syncPolicy = cudaSyncPolicyAuto;
    MUST(cudaStreamGetAttribute(second, cudaLaunchAttributeSynchronizationPolicy, &value));
    HOLDS(value.syncPolicy == cudaSyncPolicyYield); //> value.syncPolicy == cudaSyncPolicyYield: yes
    SHOW(cudaStreamGetAttribute(first, cudaLaunchAttributeCooperative, &value)); //> cudaStreamGetAttribute(first, cudaLaunchAttributeCooperative, &value): cudaErrorInvalidValue
}
