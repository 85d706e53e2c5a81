// cudaMemcpy2DToArray, FromArray and ArrayToArray copy width bytes of height rows; offsets in an array count bytes of a
// row and rows.
#include "show.h"

int main()
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<uchar2>();
    cudaArray_t a, b;
    char host[5][12], back[5][9];

    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 12; x++)
            host[y][x] = 'a' + y + x;
    memset(back, '.', sizeof(back));
    MUST(cudaMallocArray(&a, &desc, 6, 5));
    MUST(cudaMallocArray(&b, &desc, 6, 5));
    MUST(cudaMemcpy2DToArray(a, 0, 0, host, 12, 12, 5, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy2DToArray(b, 0, 0, host, 12, 12, 5, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy2DToArray(a, 2, 1, "##########", 5, 4, 2, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy2DArrayToArray(b, 4, 2, a, 0, 1, 8, 2));
    MUST(cudaMemcpy2DFromArray(back, 9, b, 2, 1, 8, 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 5; y++)
        printf("%.9s\n", back[y]);
    //> defghijk.
    //> efbc####.
    //> fgcd####.
    //> ghijklmn.
    //> .........
    MUST(cudaFreeArray(a));
    MUST(cudaFreeArray(b));
    SHOW(cudaFreeArray(NULL)); //> cudaFreeArray(NULL): cudaSuccess
}
