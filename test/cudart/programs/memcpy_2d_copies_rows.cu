// cudaMemcpy2D copies width bytes of each row between pitches of their own.
#include "show.h"

int main()
{
    char host[6][5], back[6][7];
    char *p;
    size_t pitch;

    memset(back, '.', sizeof(back));
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 5; x++)
            host[y][x] = 'a' + y + x;
    MUST(cudaMallocPitch(&p, &pitch, 5, 6));
    HOLDS(pitch >= 5);       //> pitch >= 5: yes
    HOLDS(pitch % 32 == 0);  //> pitch % 32 == 0: yes
    MUST(cudaMemcpy2D(p, pitch, host, 5, 5, 6, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy2D(back, 7, p + 1, pitch, 3, 6, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 6; y++)
        printf("%.7s\n", back[y]);
    //> bcd....
    //> cde....
    //> def....
    //> efg....
    //> fgh....
    //> ghi....
}
