/* runtime_calls.h - the runtime's calls that implement functions of the driver. */
#ifndef GS_CUDART_RUNTIME_CALLS_H
#define GS_CUDART_RUNTIME_CALLS_H

#include "cudart/abi.h"

cudaError_t cudaDriverGetVersion(int *version);
const char *cudaGetErrorString(cudaError_t error);

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *number);
cudaError_t cudaSetDevice(int number);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int number);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int number);
cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int number);
cudaError_t cudaDeviceGetByPCIBusId(int *number, const char *text);
cudaError_t cudaDeviceCanAccessPeer(int *can, int number, int peer);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaMalloc(void **out, size_t size);
cudaError_t cudaFree(void *ptr);
cudaError_t cudaMallocHost(void **out, size_t size);
cudaError_t cudaHostAlloc(void **out, size_t size, unsigned flags);
cudaError_t cudaFreeHost(void *ptr);
cudaError_t cudaMallocManaged(void **out, size_t size, unsigned flags);
cudaError_t cudaMallocAsync(void **out, size_t size, cudaStream_t stream);
cudaError_t cudaMallocAsync_ptsz(void **out, size_t size, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream);
cudaError_t cudaFreeAsync_ptsz(void *ptr, cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr);

cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpyAsync_ptsz(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind,
                                 cudaStream_t stream);
cudaError_t cudaMemset(void *dst, int value, size_t size);
cudaError_t cudaMemset_ptds(void *dst, int value, size_t size);
cudaError_t cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t stream);
cudaError_t cudaMemsetAsync_ptsz(void *dst, int value, size_t size, cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int *priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags);
cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned *flags);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void *data);
cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t call, void *data);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

#endif
