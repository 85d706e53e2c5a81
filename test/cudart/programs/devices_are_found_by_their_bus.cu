// Each device has a place on the bus of its own, by which it is found again.
#include "devices.h"

int main()
{
    cudaDeviceProp first, second;
    char address[2][32];
    int number;

    two_needed();
    MUST(cudaGetDeviceProperties(&first, 0));
    MUST(cudaGetDeviceProperties(&second, 1));
    HOLDS(memcmp(&first.uuid, &second.uuid, sizeof(first.uuid)) != 0); //> memcmp(&first.uuid, &second.uuid, sizeof(first.uuid)) != 0: yes
    for (int i = 0; i < 2; i++) {
        MUST(cudaDeviceGetPCIBusId(address[i], sizeof(address[i]), i));
        MUST(cudaDeviceGetByPCIBusId(&number, address[i]));
        HOLDS(number == i);
    }
    //> number == i: yes
    //> number == i: yes
    HOLDS(strcmp(address[0], address[1]) != 0); //> strcmp(address[0], address[1]) != 0: yes
}
