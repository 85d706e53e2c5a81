/* api_symbol.c - __device__ and __constant__ variables. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/submit.h"
#include "cudart/state/module.h"

static cudaError_t symbol_use(const void *symbol, struct variable **variable)
{
    cudaError_t error = device_use();

    if (error != cudaSuccess)
        return error;
    *variable = variable_find(symbol);
    return *variable == NULL ? cudaErrorInvalidSymbol : variable_load(*variable);
}

static void *symbol_at(struct variable *variable, size_t offset)
{
    /* The address on the thread's device, whatever the stream's device is. */
    return (char *)variable_symbol_address(variable, device_current()) + offset;
}

static cudaError_t range_check(const struct variable *variable, size_t size, size_t offset)
{
    if (offset > variable->size || size > variable->size - offset)
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* Prepares a copy to or from a symbol. wrong: the kind that goes in the other direction. */
static cudaError_t copy_prepare(const void *symbol, size_t size, size_t offset,
                                enum cudaMemcpyKind kind, enum cudaMemcpyKind wrong,
                                cudaStream_t stream_handle, bool per_thread,
                                struct variable **variable, struct stream **stream)
{
    cudaError_t error = symbol_use(symbol, variable);

    if (error == cudaSuccess && (kind == wrong || kind == cudaMemcpyHostToHost))
        error = cudaErrorInvalidMemcpyDirection;
    if (error == cudaSuccess)
        error = range_check(*variable, size, offset);
    if (error == cudaSuccess)
        error = stream_find(stream_handle, per_thread, stream);
    return error;
}

static cudaError_t to_symbol(const void *symbol, const void *src, size_t size, size_t offset,
                             enum cudaMemcpyKind kind, cudaStream_t stream_handle, bool per_thread,
                             bool wait)
{
    struct variable *variable;
    struct stream *stream;
    cudaError_t error = copy_prepare(symbol, size, offset, kind, cudaMemcpyDeviceToHost,
                                     stream_handle, per_thread, &variable, &stream);

    if (error == cudaSuccess)
        error =
            submit_copy(stream, symbol_at(variable, offset), size, src, size, size, 1, kind, wait);
    return error_record(error);
}

static cudaError_t from_symbol(void *dst, const void *symbol, size_t size, size_t offset,
                               enum cudaMemcpyKind kind, cudaStream_t stream_handle,
                               bool per_thread, bool wait)
{
    struct variable *variable;
    struct stream *stream;
    cudaError_t error = copy_prepare(symbol, size, offset, kind, cudaMemcpyHostToDevice,
                                     stream_handle, per_thread, &variable, &stream);

    if (error == cudaSuccess)
        error =
            submit_copy(stream, dst, size, symbol_at(variable, offset), size, size, 1, kind, wait);
    return error_record(error);
}

CUDART_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t size,
                                          size_t offset, enum cudaMemcpyKind kind)
{
    return to_symbol(symbol, src, size, offset, kind, NULL, false, true);
}

CUDART_API cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *src, size_t size,
                                               size_t offset, enum cudaMemcpyKind kind)
{
    return to_symbol(symbol, src, size, offset, kind, NULL, true, true);
}

CUDART_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t size,
                                               size_t offset, enum cudaMemcpyKind kind,
                                               cudaStream_t stream)
{
    return to_symbol(symbol, src, size, offset, kind, stream, false, false);
}

CUDART_API cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *src,
                                                    size_t size, size_t offset,
                                                    enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return to_symbol(symbol, src, size, offset, kind, stream, true, false);
}

CUDART_API cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t size,
                                            size_t offset, enum cudaMemcpyKind kind)
{
    return from_symbol(dst, symbol, size, offset, kind, NULL, false, true);
}

CUDART_API cudaError_t cudaMemcpyFromSymbol_ptds(void *dst, const void *symbol, size_t size,
                                                 size_t offset, enum cudaMemcpyKind kind)
{
    return from_symbol(dst, symbol, size, offset, kind, NULL, true, true);
}

CUDART_API cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t size,
                                                 size_t offset, enum cudaMemcpyKind kind,
                                                 cudaStream_t stream)
{
    return from_symbol(dst, symbol, size, offset, kind, stream, false, false);
}

CUDART_API cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *dst, const void *symbol, size_t size,
                                                      size_t offset, enum cudaMemcpyKind kind,
                                                      cudaStream_t stream)
{
    return from_symbol(dst, symbol, size, offset, kind, stream, true, false);
}

CUDART_API cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
    struct variable *variable;
    cudaError_t error = symbol_use(symbol, &variable);

    if (error == cudaSuccess && address == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *address = symbol_at(variable, 0);
    return error_record(error);
}

CUDART_API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    struct variable *variable;
    cudaError_t error = symbol_use(symbol, &variable);

    if (error == cudaSuccess && size == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *size = variable->size;
    return error_record(error);
}
