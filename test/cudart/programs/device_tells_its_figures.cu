// The figures of the device: those of the properties are the attributes', and none that a device
// has is 0. Its PCI address finds it, and it is no peer of its own.
#include "show.h"

static int attribute(cudaDeviceAttr which)
{
    int value = -1;

    MUST(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

int main()
{
    char address[32] = "";
    cudaDeviceProp p;
    bool named = false;
    size_t size;
    int device = -1;

    MUST(cudaGetDeviceProperties(&p, 0));
    HOLDS(p.l2CacheSize > 0 && p.l2CacheSize == attribute(cudaDevAttrL2CacheSize)); //> p.l2CacheSize > 0 && p.l2CacheSize == attribute(cudaDevAttrL2CacheSize): yes
    HOLDS(p.memoryBusWidth > 0 && p.memoryBusWidth == attribute(cudaDevAttrGlobalMemoryBusWidth)); //> p.memoryBusWidth > 0 && p.memoryBusWidth == attribute(cudaDevAttrGlobalMemoryBusWidth): yes
    HOLDS(attribute(cudaDevAttrClockRate) > 100000);       //> attribute(cudaDevAttrClockRate) > 100000: yes
    HOLDS(attribute(cudaDevAttrMemoryClockRate) > 100000); //> attribute(cudaDevAttrMemoryClockRate) > 100000: yes
    HOLDS(attribute(cudaDevAttrComputeMode) == cudaComputeModeDefault); //> attribute(cudaDevAttrComputeMode) == cudaComputeModeDefault: yes
    HOLDS(attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) > 0); //> attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) > 0: yes
    HOLDS(p.regsPerMultiprocessor == 65536);               //> p.regsPerMultiprocessor == 65536: yes
    HOLDS(p.asyncEngineCount >= 1);                        //> p.asyncEngineCount >= 1: yes
    HOLDS(p.ECCEnabled == attribute(cudaDevAttrEccEnabled)); //> p.ECCEnabled == attribute(cudaDevAttrEccEnabled): yes
    HOLDS(p.integrated == 0 && p.tccDriver == 0);          //> p.integrated == 0 && p.tccDriver == 0: yes
    for (char byte : p.uuid.bytes)
        named |= byte != 0;
    HOLDS(named); //> named: yes

    SHOW(cudaDeviceGetPCIBusId(address, sizeof(address), 0));   //> cudaDeviceGetPCIBusId(address, sizeof(address), 0): cudaSuccess
    HOLDS(strlen(address) == strlen("0000:65:00.0"));           //> strlen(address) == strlen("0000:65:00.0"): yes
    SHOW(cudaDeviceGetByPCIBusId(&device, address));            //> cudaDeviceGetByPCIBusId(&device, address): cudaSuccess
    HOLDS(device == 0);                                         //> device == 0: yes
    SHOW(cudaDeviceGetPCIBusId(nullptr, sizeof(address), 0));   //> cudaDeviceGetPCIBusId(nullptr, sizeof(address), 0): cudaErrorInvalidValue
    SHOW(cudaDeviceGetPCIBusId(address, sizeof(address), 1000)); //> cudaDeviceGetPCIBusId(address, sizeof(address), 1000): cudaErrorInvalidDevice

    SHOW(cudaDeviceEnablePeerAccess(0, 0));    //> cudaDeviceEnablePeerAccess(0, 0): cudaErrorPeerAccessUnsupported
    SHOW(cudaDeviceEnablePeerAccess(1000, 0)); //> cudaDeviceEnablePeerAccess(1000, 0): cudaErrorInvalidDevice
    SHOW(cudaDeviceGetP2PAttribute(&device, cudaDevP2PAttrAccessSupported, 0, 0)); //> cudaDeviceGetP2PAttribute(&device, cudaDevP2PAttrAccessSupported, 0, 0): cudaErrorInvalidDevice

    SHOW(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, p.persistingL2CacheMaxSize)); //> cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, p.persistingL2CacheMaxSize): cudaSuccess
    MUST(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    MUST(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    HOLDS(size >= 8192);                     //> size >= 8192: yes
    SHOW(cudaCtxResetPersistingL2Cache());   //> cudaCtxResetPersistingL2Cache(): cudaSuccess
}
