// The device's limits of textures, as attributes and as properties.
#include "show.h"

int main()
{
    cudaDeviceProp p;
    int width, layers;

    MUST(cudaGetDeviceProperties(&p, 0));
    MUST(cudaDeviceGetAttribute(&width, cudaDevAttrMaxTexture2DWidth, 0));
    MUST(cudaDeviceGetAttribute(&layers, cudaDevAttrMaxSurface1DLayeredLayers, 0));
    HOLDS(width == p.maxTexture2D[0]);         //> width == p.maxTexture2D[0]: yes
    HOLDS(layers == p.maxSurface1DLayered[1]); //> layers == p.maxSurface1DLayered[1]: yes
    printf("%d %d %d\n", p.maxTexture1D, p.maxTexture2D[1], p.maxTexture3D[2]); //> 131072 65536 16384
    printf("%d %d\n", (int)p.textureAlignment, (int)p.texturePitchAlignment);   //> 512 32
}
