/* check.c - see check.h. */
#include "worker/texture/check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/array_format.h"
#include "common/util.h"

/* No device has a longer side. This bounds the products below, and the values that the driver gets.
 */
#define EXTENT_MAX (UINT64_C(1) << 17)

/* A GPU stores an array in blocks of 512 bytes by 8 rows, and gives an array at least
 * ARRAY_GRANULARITY. Before CUDA 13 the driver does not tell how large an array really is. */
#define ROW_BYTES  UINT64_C(512)
#define BLOCK_ROWS UINT64_C(8)

/* textureAlignment and texturePitchAlignment of every device since compute capability 5.0. */
#define ALIGNMENT       512u
#define PITCH_ALIGNMENT 32u

/* The most texels of linear memory, and of a row or column of pitched memory: CUDA's programming
 * guide, table of compute capabilities. The device's own limits, which the driver checks, may be
 * smaller. */
#define LINEAR_TEXELS_MAX (UINT64_C(1) << 28)
#define PITCHED_SIDE_MAX  EXTENT_MAX
#define PITCH_MAX         UINT64_C(0x7fffffff)

static_assert(GS_FORMAT_UINT8 == (int)CU_AD_FORMAT_UNSIGNED_INT8 &&
                  GS_FORMAT_UINT16 == (int)CU_AD_FORMAT_UNSIGNED_INT16 &&
                  GS_FORMAT_UINT32 == (int)CU_AD_FORMAT_UNSIGNED_INT32 &&
                  GS_FORMAT_INT8 == (int)CU_AD_FORMAT_SIGNED_INT8 &&
                  GS_FORMAT_INT16 == (int)CU_AD_FORMAT_SIGNED_INT16 &&
                  GS_FORMAT_INT32 == (int)CU_AD_FORMAT_SIGNED_INT32 &&
                  GS_FORMAT_FLOAT16 == (int)CU_AD_FORMAT_HALF &&
                  GS_FORMAT_FLOAT32 == (int)CU_AD_FORMAT_FLOAT,
              "formats are the driver's");
static_assert(GS_ARRAY_LAYERED == CUDA_ARRAY3D_LAYERED &&
                  GS_ARRAY_SURFACE == CUDA_ARRAY3D_SURFACE_LDST &&
                  GS_ARRAY_CUBEMAP == CUDA_ARRAY3D_CUBEMAP &&
                  GS_ARRAY_GATHER == CUDA_ARRAY3D_TEXTURE_GATHER,
              "an array's flags are the driver's");
static_assert(GS_TEXTURE_READ_AS_INTEGER == CU_TRSF_READ_AS_INTEGER &&
                  GS_TEXTURE_NORMALIZED_COORDINATES == CU_TRSF_NORMALIZED_COORDINATES &&
                  GS_TEXTURE_SRGB == CU_TRSF_SRGB &&
                  GS_TEXTURE_NO_TRILINEAR_OPTIMIZATION == CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION &&
                  GS_TEXTURE_SEAMLESS_CUBEMAP == CU_TRSF_SEAMLESS_CUBEMAP,
              "a texture's flags are the driver's");
static_assert(GS_ADDRESS_WRAP == (int)CU_TR_ADDRESS_MODE_WRAP &&
                  GS_ADDRESS_CLAMP == (int)CU_TR_ADDRESS_MODE_CLAMP &&
                  GS_ADDRESS_MIRROR == (int)CU_TR_ADDRESS_MODE_MIRROR &&
                  GS_ADDRESS_BORDER == (int)CU_TR_ADDRESS_MODE_BORDER &&
                  GS_FILTER_POINT == (int)CU_TR_FILTER_MODE_POINT &&
                  GS_FILTER_LINEAR == (int)CU_TR_FILTER_MODE_LINEAR,
              "a texture's modes are the driver's");

uint32_t texel_size(uint32_t format, uint32_t channels)
{
    return channels == 1 || channels == 2 || channels == 4 ? channels * channel_bytes(format) : 0;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static bool is_volume(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    return desc->Depth && !(desc->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP));
}

CUDA_ARRAY3D_DESCRIPTOR array_level_desc(const CUDA_ARRAY3D_DESCRIPTOR *desc, uint32_t level)
{
    CUDA_ARRAY3D_DESCRIPTOR of_level = *desc;

    of_level.Width = level_side(desc->Width, level);
    of_level.Height = level_side(desc->Height, level);
    if (is_volume(desc))
        of_level.Depth = level_side(desc->Depth, level);
    return of_level;
}

/* Returns the number of levels down to one of a single texel. Layers do not matter: all levels have
 * the same number of them. */
static uint32_t levels_most(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    uint64_t sides = desc->Width | desc->Height | (is_volume(desc) ? desc->Depth : 0);

    return 64 - (uint32_t)__builtin_clzll(sides);
}

static_assert(EXTENT_MAX >> (ARRAY_LEVELS_MAX - 1) == 1, "the largest extent has so many levels");

texture_fault req_array_check(const uint64_t arg[4], CUDA_ARRAY3D_DESCRIPTOR *desc,
                              uint32_t *levels)
{
    const uint32_t known = GS_ARRAY_LAYERED | GS_ARRAY_SURFACE | GS_ARRAY_CUBEMAP | GS_ARRAY_GATHER;
    const uint32_t format = arg[3] & 0xFFFFu, channels = arg[3] >> 16 & 0xFFu;
    const uint32_t flags = (uint32_t)(arg[3] >> 32);

    if (!channel_bytes(format))
        return "an array of a format that is none of gs_format";
    if (!texel_size(format, channels))
        return "an array of other than 1, 2 or 4 channels";
    if (flags & ~known)
        return "an array with flags of no known meaning";
    if (arg[0] == 0)
        return "an array that is 0 texels wide";
    if (arg[0] > EXTENT_MAX || arg[1] > EXTENT_MAX || arg[2] > EXTENT_MAX)
        return "an array of more than 131072 texels in a direction";
    if (arg[2] > 0 && arg[1] == 0 && !(flags & GS_ARRAY_LAYERED))
        return "an array with a depth, without a height and not layered";
    if (flags & GS_ARRAY_LAYERED && arg[2] == 0)
        return "a layered array of 0 layers";
    if (flags & GS_ARRAY_CUBEMAP &&
        (arg[0] != arg[1] || (flags & GS_ARRAY_LAYERED ? arg[2] % 6 != 0 : arg[2] != 6)))
        return "a cubemap whose faces are not squares, or not 6";
    *desc = (CUDA_ARRAY3D_DESCRIPTOR){.Width = arg[0],
                                      .Height = arg[1],
                                      .Depth = arg[2],
                                      .Format = (CUarray_format)format,
                                      .NumChannels = channels,
                                      .Flags = flags};
    *levels = arg[3] >> 24 & 0xFFu;
    if (*levels > levels_most(desc))
        return "a mipmapped array of more levels than its sizes have";
    return NULL;
}

/* No product exceeds 64 bits: rows of 2^21 bytes, 2^17 of them, 2^17 slices. */
static uint64_t blocks_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    const uint64_t row =
        round_up(desc->Width * texel_size(desc->Format, desc->NumChannels), ROW_BYTES);
    const uint64_t rows = desc->Height ? round_up(desc->Height, BLOCK_ROWS) : 1;

    return row * rows * (desc->Depth ? desc->Depth : 1);
}

uint64_t array_counted(const CUDA_ARRAY3D_DESCRIPTOR *desc, uint32_t levels)
{
    uint64_t bytes = blocks_bytes(desc);

    for (uint32_t level = 1; level < levels; level++) {
        const CUDA_ARRAY3D_DESCRIPTOR smaller = array_level_desc(desc, level);
        bytes += blocks_bytes(&smaller);
    }
    return round_up(bytes, ARRAY_GRANULARITY);
}

enum texture_column array_texture_column(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    const bool layered = desc->Flags & CUDA_ARRAY3D_LAYERED;

    if (desc->Flags & CUDA_ARRAY3D_CUBEMAP)
        return layered ? TEXTURE_ACUBE : TEXTURE_CUBE;
    if (layered)
        return desc->Height ? TEXTURE_A2D : TEXTURE_A1D;
    return desc->Depth ? TEXTURE_3D : desc->Height ? TEXTURE_2D : TEXTURE_1D;
}

enum texture_column array_surface_column(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    if (desc->Flags & (CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED))
        return desc->Height ? SURFACE_A2D : SURFACE_A1D;
    return desc->Depth ? SURFACE_3D : desc->Height ? SURFACE_2D : SURFACE_1D;
}

enum texture_column memory_texture_column(const CUDA_RESOURCE_DESC *resource)
{
    return resource->resType == CU_RESOURCE_TYPE_LINEAR ? TEXTURE_LINE : TEXTURE_2D;
}

/* ---- Textures -------------------------------------------------------------------------------- */

static texture_fault linear_check(const struct req_texture *asked, CUDA_RESOURCE_DESC *resource,
                                  uint64_t *bytes)
{
    const uint32_t texel = texel_size(asked->format, asked->channels);
    const uint64_t texels = asked->width / texel;

    if (texels == 0 || texels > LINEAR_TEXELS_MAX)
        return "a texture of linear memory of 0 or of more than 2^28 texels";
    resource->resType = CU_RESOURCE_TYPE_LINEAR;
    resource->res.linear.devPtr = asked->address;
    resource->res.linear.format = (CUarray_format)asked->format;
    resource->res.linear.numChannels = asked->channels;
    resource->res.linear.sizeInBytes = asked->width;
    *bytes = asked->width;
    return NULL;
}

static texture_fault pitched_check(const struct req_texture *asked, CUDA_RESOURCE_DESC *resource,
                                   uint64_t *bytes)
{
    const uint32_t texel = texel_size(asked->format, asked->channels);

    if (asked->width == 0 || asked->height == 0 || asked->width > PITCHED_SIDE_MAX ||
        asked->height > PITCHED_SIDE_MAX)
        return "a texture of pitched memory of 0 or of more than 131072 texels in a direction";
    if (asked->pitch > PITCH_MAX || asked->pitch % PITCH_ALIGNMENT ||
        asked->pitch < asked->width * texel)
        return "a texture's pitch that is shorter than a row or no multiple of 32";
    resource->resType = CU_RESOURCE_TYPE_PITCH2D;
    resource->res.pitch2D.devPtr = asked->address;
    resource->res.pitch2D.format = (CUarray_format)asked->format;
    resource->res.pitch2D.numChannels = asked->channels;
    resource->res.pitch2D.width = asked->width;
    resource->res.pitch2D.height = asked->height;
    resource->res.pitch2D.pitchInBytes = asked->pitch;
    *bytes = asked->pitch * (asked->height - 1) + asked->width * texel;
    return NULL;
}

static texture_fault resource_check(const struct req_texture *asked, CUDA_RESOURCE_DESC *resource,
                                    uint64_t *bytes)
{
    *bytes = 0;
    if (asked->type == GS_RESOURCE_ARRAY) {
        resource->resType = CU_RESOURCE_TYPE_ARRAY;
        return NULL;
    }
    if (asked->type == GS_RESOURCE_MIPMAPPED) {
        resource->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        return asked->flags & GS_TEXTURE_NORMALIZED_COORDINATES
                   ? NULL
                   : "a texture of a mipmapped array without normalized coordinates";
    }
    if (asked->type != GS_RESOURCE_LINEAR && asked->type != GS_RESOURCE_PITCHED)
        return "a texture of no known kind";
    if (!texel_size(asked->format, asked->channels))
        return "a texture of a format that is none of gs_format, or not of 1, 2 or 4 channels";
    if (asked->address % ALIGNMENT)
        return "a texture's address that is no multiple of 512";
    return asked->type == GS_RESOURCE_LINEAR ? linear_check(asked, resource, bytes)
                                             : pitched_check(asked, resource, bytes);
}

/* This bound exceeds any sum of a level and a bias, so larger values have the same effect. */
#define LEVEL_BOUND 1024.0f

static float level_bounded(float level)
{
    return level < -LEVEL_BOUND ? -LEVEL_BOUND : level > LEVEL_BOUND ? LEVEL_BOUND : level;
}

/* Checks how a texture of a mipmapped array finds its levels; others have one level. */
static texture_fault levels_check(const struct req_texture *asked, CUDA_TEXTURE_DESC *desc)
{
    if (asked->type != GS_RESOURCE_MIPMAPPED)
        return NULL;
    if (asked->mipmap_filter > GS_FILTER_LINEAR)
        return "a texture's filter between levels that is none of gs_filter_mode";
    if (isnan(asked->mipmap_bias) || isnan(asked->mipmap_min) || isnan(asked->mipmap_max))
        return "a texture's level that is no number";
    desc->mipmapFilterMode = (CUfilter_mode)asked->mipmap_filter;
    desc->mipmapLevelBias = level_bounded(asked->mipmap_bias);
    desc->minMipmapLevelClamp = level_bounded(asked->mipmap_min);
    desc->maxMipmapLevelClamp = level_bounded(asked->mipmap_max);
    return NULL;
}

texture_fault req_texture_check(const struct req_texture *asked, CUDA_RESOURCE_DESC *resource,
                                CUDA_TEXTURE_DESC *desc, uint64_t *bytes)
{
    const uint32_t known = GS_TEXTURE_READ_AS_INTEGER | GS_TEXTURE_NORMALIZED_COORDINATES |
                           GS_TEXTURE_SRGB | GS_TEXTURE_NO_TRILINEAR_OPTIMIZATION |
                           GS_TEXTURE_SEAMLESS_CUBEMAP;

    texture_fault fault;

    memset(resource, 0, sizeof(*resource));
    memset(desc, 0, sizeof(*desc));
    if (asked->flags & ~known)
        return "a texture with flags of no known meaning";
    if (asked->filter_mode > GS_FILTER_LINEAR)
        return "a texture's filter that is none of gs_filter_mode";
    if (asked->max_anisotropy > 16)
        return "a texture's anisotropy of more than 16";
    for (uint32_t i = 0; i < ARRAY_SIZE(asked->address_mode); i++) {
        if (asked->address_mode[i] > GS_ADDRESS_BORDER)
            return "a texture's address mode that is none of gs_address_mode";
        desc->addressMode[i] = (CUaddress_mode)asked->address_mode[i];
    }
    desc->filterMode = (CUfilter_mode)asked->filter_mode;
    desc->flags = asked->flags;
    desc->maxAnisotropy = asked->max_anisotropy;
    memcpy(desc->borderColor, asked->border, sizeof(desc->borderColor));
    fault = levels_check(asked, desc);
    return fault ? fault : resource_check(asked, resource, bytes);
}
