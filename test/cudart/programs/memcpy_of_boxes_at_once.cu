// One call copies several boxes, between memory and arrays, each with its own rows and layers.
#include "show.h"

int main()
{
#if CUDART_VERSION >= 13000
#define NO_PLACE
#else
#define NO_PLACE nullptr,
#endif
    const cudaChannelFormatDesc words = cudaCreateChannelDesc<int>();
    cudaStream_t stream;
    cudaArray_t array;
    char *memory, bytes[4 * 3 * 2], rows[10 * 5 * 2] = {};
    int texels[4 * 4], part[2 * 2] = {};

    for (int i = 0; i < 24; i++)
        bytes[i] = (char)i;
    for (int i = 0; i < 16; i++)
        texels[i] = 100 + i;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&memory, 24));
    MUST(cudaMallocArray(&array, &words, 4, 4));

    cudaMemcpy3DBatchOp ops[2] = {};
    ops[0].src.type = ops[0].dst.type = cudaMemcpyOperandTypePointer;
    ops[0].src.op.ptr.ptr = bytes;
    ops[0].dst.op.ptr.ptr = memory;
    ops[0].extent = make_cudaExtent(4, 3, 2);
    ops[1].src.type = cudaMemcpyOperandTypePointer;
    ops[1].src.op.ptr.ptr = texels;
    ops[1].dst.type = cudaMemcpyOperandTypeArray;
    ops[1].dst.op.array.array = array;
    ops[1].extent = make_cudaExtent(4, 4, 1);
    ops[0].srcAccessOrder = ops[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    SHOW(cudaMemcpy3DBatchAsync(2, ops, NO_PLACE 0, stream) == cudaSuccess ? cudaSuccess : cudaErrorUnknown); //> cudaMemcpy3DBatchAsync(2, ops, NO_PLACE 0, stream) == cudaSuccess ? cudaSuccess : cudaErrorUnknown: cudaSuccess

    ops[0].src.op.ptr.ptr = memory;
    ops[0].dst.op.ptr.ptr = rows;
    ops[0].dst.op.ptr.rowLength = 10;
    ops[0].dst.op.ptr.layerHeight = 5;
    ops[1].src = ops[1].dst;
    ops[1].src.op.array.offset.x = 1;
    ops[1].src.op.array.offset.y = 2;
    ops[1].dst = {};
    ops[1].dst.type = cudaMemcpyOperandTypePointer;
    ops[1].dst.op.ptr.ptr = part;
    ops[1].extent = make_cudaExtent(2, 2, 1);
    MUST(cudaMemcpy3DBatchAsync(2, ops, NO_PLACE 0, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("%d %d %d %d\n", rows[0], rows[13], rows[14], rows[50 + 20 + 3]); //> 0 7 0 23
    printf("%d %d %d %d\n", part[0], part[1], part[2], part[3]);             //> 109 110 113 114

    ops[0].dst.op.ptr.rowLength = 3;
    HOLDS(cudaMemcpy3DBatchAsync(2, ops, NO_PLACE 0, stream) == cudaErrorInvalidValue); //> cudaMemcpy3DBatchAsync(2, ops, NO_PLACE 0, stream) == cudaErrorInvalidValue: yes
    HOLDS(cudaMemcpy3DBatchAsync(0, ops, NO_PLACE 0, stream) == cudaErrorInvalidValue); //> cudaMemcpy3DBatchAsync(0, ops, NO_PLACE 0, stream) == cudaErrorInvalidValue: yes
    HOLDS(cudaMemcpy3DBatchAsync(1, ops, NO_PLACE 0, nullptr) == cudaErrorInvalidValue); //> cudaMemcpy3DBatchAsync(1, ops, NO_PLACE 0, nullptr) == cudaErrorInvalidValue: yes
}
