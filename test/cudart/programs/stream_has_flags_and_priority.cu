// A stream tells its flags and its priority, which is brought into the device's range.
#include "show.h"

int main()
{
    cudaStream_t stream;
    int least, greatest, priority;
    unsigned flags;
    unsigned long long id, other;

    MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    HOLDS(least == 0);      //> least == 0: yes
    HOLDS(greatest < 0);    //> greatest < 0: yes
    MUST(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100));
    MUST(cudaStreamGetPriority(stream, &priority));
    HOLDS(priority == greatest); //> priority == greatest: yes
    MUST(cudaStreamGetFlags(stream, &flags));
    HOLDS(flags == cudaStreamNonBlocking); //> flags == cudaStreamNonBlocking: yes
    MUST(cudaStreamGetId(stream, &id));
    MUST(cudaStreamGetId(0, &other));
    HOLDS(id != other); //> id != other: yes
    MUST(cudaStreamGetPriority(0, &priority));
    HOLDS(priority == 0); //> priority == 0: yes
    MUST(cudaStreamCreateWithPriority(&stream, 0, -2));
    MUST(cudaStreamGetPriority(stream, &priority));
    printf("%d\n", priority); //> -2
    SHOW(cudaStreamCreateWithFlags(&stream, 0x10)); //> cudaStreamCreateWithFlags(&stream, 0x10): cudaErrorInvalidValue
}
