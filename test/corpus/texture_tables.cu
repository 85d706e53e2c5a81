/* Textures as tables: a sparse matrix whose vector is fetched from linear memory, colours looked up in layers, and
 * directions in a cube. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL multiply(const int *rows, const int *columns, const float *values, cudaTextureObject_t vector, float *out, int n)
{
    int row = INDEX;
    float sum = 0;

    if (row >= n)
        return;
    for (int i = rows[row]; i < rows[row + 1]; i++)
        sum += values[i] * tex1Dfetch<float>(vector, columns[i]);
    out[row] = sum;
}

KERNEL look_up(cudaTextureObject_t palettes, cudaTextureObject_t tiles, uint2 *out, int w, int h)
{
    int i = INDEX, x = i % w, y = i / w;

    if (y >= h)
        return;
    /* mirrored beyond its ends; a tile's number chooses the palette */
    unsigned short tile = tex2DLayered<unsigned short>(tiles, (x + 0.5f) / 8, (y + 0.5f) / 8, (x >> 3) & 1);
    uchar4 colour = tex1DLayered<uchar4>(palettes, tile % 16 + 0.5f, tile % 3);
    out[i] = make_uint2(tile, colour.x | colour.y << 8 | colour.z << 16 | (unsigned)colour.w << 24);
}

KERNEL around(cudaTextureObject_t sky, const float *directions, int *out, int n)
{
    int i = INDEX;

    if (i < n)
        out[i] = texCubemap<int>(sky, directions[3 * i], directions[3 * i + 1], directions[3 * i + 2]);
}
#else
enum { ROWS = 500, EACH = 6, W = 40, H = 30, FACE = 4 };

static void multiplied(void)
{
    int *rows = scratch(4 * (ROWS + 1)), *columns = scratch(4 * ROWS * EACH), n = ROWS;
    float *values = scratch(4 * ROWS * EACH), *vector = scratch(4 * ROWS), *want = scratch(4 * ROWS),
          *got = scratch(4 * ROWS);

    for (int i = 0; i < ROWS; i++)
        vector[i] = random_f32(-1, 1);
    for (int i = 0; i < ROWS * EACH; i++) {
        rows[i / EACH + 1] = i + 1;
        columns[i] = (int)(random_u32() % (ROWS + 10)) - 5; /* some outside: they count as 0 */
        values[i] = random_f32(-1, 1);
        if (columns[i] >= 0 && columns[i] < ROWS)
            want[i / EACH] += values[i] * vector[columns[i]];
    }
    device_ptr drows = upload(rows, 4 * (ROWS + 1)), dcolumns = upload(columns, 4 * ROWS * EACH),
               dvalues = upload(values, 4 * ROWS * EACH), out = zeros(4 * ROWS);
    uint64_t table = linear_texture(upload(vector, 4 * ROWS), TEXEL_F32, 1, 4 * ROWS);
    RUN("multiply", 4, 128, &drows, &dcolumns, &dvalues, &table, &out, &n);
    download(got, out, 4 * ROWS);
    expect_f32(got, want, ROWS, 1e-5, 1e-5);
}

static int mirrored(int i, int n)
{
    i %= 2 * n;
    return i < n ? i : 2 * n - 1 - i;
}

static void looked_up(void)
{
    unsigned char *colours = scratch(3 * 16 * 4);
    uint16_t *tiles = scratch(2 * 2 * 8 * 8);
    uint32_t *want = scratch(8 * W * H), *got = scratch(8 * W * H);
    int w = W, h = H;

    for (int i = 0; i < 3 * 16 * 4; i++)
        colours[i] = (unsigned char)random_u32();
    for (int i = 0; i < 2 * 8 * 8; i++)
        tiles[i] = (uint16_t)random_u32();
    uint64_t palettes = texture(array_upload_layers(colours, TEXEL_U8, 4, (struct size3){16, 0, 3}), TEXTURE_INTEGER);
    uint64_t map = texture(array_upload_layers(tiles, TEXEL_U16, 1, (struct size3){8, 8, 2}),
                           TEXTURE_INTEGER | TEXTURE_NORMALIZED | TEXTURE_MIRROR);
    for (int i = 0; i < W * H; i++) {
        int x = i % W, y = i / W, tile = tiles[(x >> 3 & 1) * 64 + mirrored(y, 8) * 8 + mirrored(x, 8)];

        want[2 * i] = (uint32_t)tile;
        memcpy(&want[2 * i + 1], colours + 4 * (tile % 3 * 16 + tile % 16), 4);
    }
    device_ptr out = zeros(8 * W * H);
    RUN("look_up", 10, 128, &palettes, &map, &out, &w, &h);
    download(got, out, 8 * W * H);
    expect_u32(got, want, 2 * W * H);
}

static void looked_around(void)
{
    static const int axes[6][6] = {{0, 1, 2, -1, 1, -1}, {0, -1, 2, 1, 1, -1}, {1, 1, 0, 1, 2, 1},
                                   {1, -1, 0, 1, 2, -1}, {2, 1, 0, 1, 1, -1}, {2, -1, 0, -1, 1, -1}};
    int n = 6 * FACE * FACE;
    int32_t *sky = scratch(4 * n), *got = scratch(4 * n);
    float *directions = scratch(12 * n);

    for (int i = 0; i < n; i++) {
        const int *a = axes[i / FACE / FACE];

        sky[i] = (int32_t)random_u32();
        directions[3 * i + a[0]] = (float)a[1];
        directions[3 * i + a[2]] = (float)a[3] * (2 * ((float)(i % FACE) + 0.5f) / FACE - 1);
        directions[3 * i + a[4]] = (float)a[5] * (2 * ((float)(i / FACE % FACE) + 0.5f) / FACE - 1);
    }
    uint64_t cube = texture(array_upload_cube(sky, TEXEL_S32, 1, FACE), TEXTURE_NORMALIZED);
    device_ptr ddirections = upload(directions, 12 * n), out = zeros(4 * n);
    RUN("around", 1, 128, &cube, &ddirections, &out, &n);
    download(got, out, 4 * n);
    expect_bytes(got, sky, 4 * n);
}

CASE(texture_tables)
{
    multiplied();
    looked_up();
    looked_around();
}
#endif
