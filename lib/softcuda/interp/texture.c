// Texture and surface instructions, lane by lane, since each lane may use another object. A handle
// that is none of this context's, and a texel whose memory is gone, are faults. Accesses are always
// bounded by the object's own geometry, not the one that the instruction names.
#include "softcuda/interp/texture.h"

#include "softcuda/device/num.h"
#include "softcuda/interp/sample.h"

struct operands {
    const uint32_t *words;
    const u64 *handles;
    const u32 *coordinate[4];
};

static struct operands operands_of(const struct warp *w, const struct insn *in)
{
    struct operands o = {.words = w->frame->code->aux + in->aux};

    o.handles = SLOT(const u64, w, o.words[TEXTURE_HANDLE]);
    for (unsigned i = 0; i < 4; i++)
        o.coordinate[i] = SLOT(const u32, w, o.words[TEXTURE_COORDINATE + i]);
    return o;
}

// Whether the image's memory is still mapped. Checked once per object and instruction.
static bool image_is_there(struct warp *w, const struct image *m, uint32_t access)
{
    return mem_allows(w->view, m->address, m->bytes, access);
}

// ---- Textures

static const struct texture *texture_of(const struct warp *w, uint64_t handle)
{
    const struct exec_device *device = w->block->grid->device;

    return device->texture ? device->texture(device->context, handle) : NULL;
}

static bool is_cube(const struct insn *in)
{
    return in->mode == PTX_GEOM_CUBE || in->mode == PTX_GEOM_ACUBE;
}

static unsigned dims_of(const struct insn *in)
{
    switch (in->mode) {
    case PTX_GEOM_1D:
    case PTX_GEOM_A1D:
        return 1;
    case PTX_GEOM_3D:
        return 3;
    default:
        return 2;
    }
}

// Finds the level by lane L's gradients. AT is the direction in a cube.
static float gradient_level(const struct warp *w, const struct insn *in, const struct operands *o,
                            unsigned l, const struct texture *t, const float at[3])
{
    float gradients[2][3];

    for (unsigned g = 0; g < 2; g++) {
        for (unsigned d = 0; d < 3; d++) {
            uint32_t slot = o->words[TEXTURE_GRADIENT + 3 * g + d];

            gradients[g][d] = f32_from(SLOT(const u32, w, slot)[l]);
        }
        if (is_cube(in))
            sample_cube_gradient(at, gradients[g]);
    }
    return sample_gradient_level(t, dims_of(in), gradients);
}

// Sets the level that the instruction names; without one it is the first.
static void name_level(const struct warp *w, const struct insn *in, const struct operands *o,
                       unsigned l, const struct texture *t, struct sample_point *p)
{
    uint32_t slot = o->words[TEXTURE_LEVEL];

    if (slot != NO_OPERAND) {
        uint32_t bits = SLOT(const u32, w, slot)[l];

        p->level = f32_from(bits);
        p->index = (int32_t)bits;
    } else if (o->words[TEXTURE_GRADIENT] != NO_OPERAND && t->image.levels > 1) {
        p->level = gradient_level(w, in, o, l, t, p->at);
    }
}

// Finds the point on a face in a direction.
static struct sample_point point_in_cube(const struct texture *t,
                                         const struct sample_point *direction)
{
    struct sample_point p = sample_cube_point(direction->at);
    uint32_t cubes = t->image.depth / 6, cube = direction->layer;

    p.layer += 6 * (cube < cubes ? cube : cubes ? cubes - 1 : 0);
    p.level = direction->level;
    return p;
}

// Lane L's coordinates, in the order that its geometry writes them.
static struct sample_point point_of(const struct warp *w, const struct insn *in,
                                    const struct operands *o, unsigned l, const struct texture *t)
{
    struct sample_point p = {.dims = dims_of(in)};
    unsigned first = 0;

    switch (in->mode) {
    case PTX_GEOM_A1D:
    case PTX_GEOM_A2D:
    case PTX_GEOM_ACUBE:
        p.layer = o->coordinate[0][l];
        first = 1;
        break;
    default:
        break;
    }
    for (unsigned i = 0; i < 3; i++) {
        uint32_t bits = o->coordinate[first + i < 4 ? first + i : 3][l];

        p.at[i] = f32_from(bits);
        p.to[i] = (int32_t)bits;
    }
    name_level(w, in, o, l, t, &p);
    return is_cube(in) ? point_in_cube(t, &p) : p;
}

static void store_results(struct warp *w, const struct insn *in, const struct operands *o,
                          unsigned l, const uint32_t got[4])
{
    const uint32_t *values = o->words + TEXTURE_VALUE;

    switch (in->type) {
    case PTX_T_F16X2:
        for (unsigned i = 0; i < 2; i++)
            SLOT(u32, w, values[i])
        [l] = f16_from_f32(f32_from(got[2 * i])) | f16_from_f32(f32_from(got[2 * i + 1])) << 16;
        break;
    case PTX_T_F16:
        for (unsigned i = 0; i < 4; i++)
            SLOT(u32, w, values[i])[l] = f16_from_f32(f32_from(got[i]));
        break;
    default:
        for (unsigned i = 0; i < 4; i++)
            SLOT(u32, w, values[i])[l] = got[i];
    }
}

static int sample(struct warp *w, const struct insn *in, uint32_t mask, bool gather)
{
    struct operands o = operands_of(w, in);
    const struct texture *t = NULL;
    uint64_t last = 0;

    for (unsigned l = 0; l < LANES; l++) {
        uint32_t got[4];

        if (!(mask >> l & 1))
            continue;
        if (!t || o.handles[l] != last) {
            last = o.handles[l];
            t = texture_of(w, last);
            if (!t || !image_is_there(w, &t->image, MEM_READ))
                return warp_fault(w, in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS,
                                  t ? t->image.address : last);
        }
        struct sample_point p = point_of(w, in, &o, l, t);
        if (gather)
            sample_gather(t, &p, in->target, got);
        else if (in->flags & INSN_SIGNED)
            sample_fetch(t, &p, got);
        else
            sample_nearest_or_linear(t, &p, got);
        store_results(w, in, &o, l, got);
    }
    if (o.words[TEXTURE_RESIDENT] != NO_OPERAND) // every texel is resident
        *SLOT(u32, w, o.words[TEXTURE_RESIDENT]) |= mask;
    return STEP_NEXT;
}

int op_tex(struct warp *w, const struct insn *in, uint32_t mask)
{
    return sample(w, in, mask, false);
}

int op_tld4(struct warp *w, const struct insn *in, uint32_t mask)
{
    return sample(w, in, mask, true);
}

// ---- Surfaces

static const struct image *surface_of(const struct warp *w, uint64_t handle)
{
    const struct exec_device *device = w->block->grid->device;

    return device->surface ? device->surface(device->context, handle) : NULL;
}

// Bounds one coordinate to an extent of N, of which STEP are accessed; a clamped one is a multiple
// of STEP. False: it is outside and not to be clamped.
static bool bound(int32_t at, uint64_t n, uint32_t step, bool clamp, uint64_t *out)
{
    if (at >= 0 && (uint64_t)at + step <= n) {
        *out = (uint64_t)at;
        return true;
    }
    *out = at < 0 ? 0 : n - n % step - step;
    return clamp;
}

// Finds the bytes of lane L's access. NULL: they are outside. Rows are whole texels, so BYTES fits
// in one unless the instruction's type is longer than the surface's texel is wide.
static uint8_t *surface_at(const struct insn *in, const struct operands *o, unsigned l,
                           const struct image *m, uint32_t bytes)
{
    bool clamp = in->target == PTX_MODE_CLAMPED;
    bool layered = in->mode == PTX_GEOM_A1D || in->mode == PTX_GEOM_A2D;
    unsigned first = layered ? 1 : 0;
    bool rows = in->mode != PTX_GEOM_1D && in->mode != PTX_GEOM_A1D;
    int32_t x = (int32_t)o->coordinate[first][l];
    int32_t y = rows ? (int32_t)o->coordinate[first + 1][l] : 0;
    int32_t z = layered ? (uint16_t)o->coordinate[0][l] // the layer is the low half
                : in->mode == PTX_GEOM_3D ? (int32_t)o->coordinate[2][l]
                                          : 0;
    uint64_t row = (uint64_t)m->width * m->texel_bytes, at[3];
    if (bytes > row || !bound(x, row, bytes, clamp, &at[0]) ||
        !bound(y, m->height, 1, clamp, &at[1]) || !bound(z, m->depth, 1, clamp, &at[2]))
        return NULL;
    return (uint8_t *)(uintptr_t)(m->address + at[2] * m->slice + at[1] * m->pitch + at[0]);
}

static void load_values(struct warp *w, const struct insn *in, const struct operands *o, unsigned l,
                        const uint8_t *at, unsigned each)
{
    for (unsigned i = 0; i < in->b; i++) {
        uint32_t slot = o->words[TEXTURE_VALUE + i];
        uint64_t v = 0;

        if (at)
            memcpy(&v, at + i * each, each);
        if (in->c >> i & 1)
            SLOT(u64, w, slot)[l] = v;
        else
            SLOT(u32, w, slot)[l] = (uint32_t)v;
    }
}

static void store_values(struct warp *w, const struct insn *in, const struct operands *o,
                         unsigned l, uint8_t *at, unsigned each)
{
    for (unsigned i = 0; i < in->b; i++) {
        uint32_t slot = o->words[TEXTURE_VALUE + i];
        uint64_t v = in->c >> i & 1 ? SLOT(u64, w, slot)[l] : SLOT(u32, w, slot)[l];

        memcpy(at + i * each, &v, each);
    }
}

static int surface_access(struct warp *w, const struct insn *in, uint32_t mask, bool store)
{
    struct operands o = operands_of(w, in);
    unsigned each = ptx_type_bits((enum ptx_type)in->type) / 8, bytes = each * in->b;
    bool layered = in->mode == PTX_GEOM_A1D || in->mode == PTX_GEOM_A2D;
    const struct image *m = NULL;
    uint64_t last = 0;

    for (unsigned l = 0; l < LANES; l++) {
        uint32_t x = o.coordinate[layered ? 1 : 0][l];
        uint8_t *at;

        if (!(mask >> l & 1))
            continue;
        if (!m || o.handles[l] != last) {
            last = o.handles[l];
            m = surface_of(w, last);
            if (!m || !image_is_there(w, m, store ? MEM_WRITE : MEM_READ))
                return warp_fault(w, in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS,
                                  m ? m->address : last);
        }
        at = surface_at(in, &o, l, m, bytes);
        if (!at && in->target == PTX_MODE_TRAP)
            return warp_fault(w, in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS, x);
        if (at && x & (bytes - 1))
            return warp_fault(w, in, 1u << l, EXEC_FAULT_MISALIGNED, x);
        if (!store)
            load_values(w, in, &o, l, at, each);
        else if (at)
            store_values(w, in, &o, l, at, each);
    }
    return STEP_NEXT;
}

int op_suld(struct warp *w, const struct insn *in, uint32_t mask)
{
    return surface_access(w, in, mask, false);
}

int op_sust(struct warp *w, const struct insn *in, uint32_t mask)
{
    return surface_access(w, in, mask, true);
}

// ---- Queries

// Answers as an H200 does: a property that a texture or surface does not have is 0, except that a
// 1D texture has one row. Layers count as depth.
static uint32_t property(const struct image *m, uint32_t what, bool surface)
{
    switch (what) {
    case PTX_MODE_WIDTH:
        return m->width;
    case PTX_MODE_HEIGHT:
        return m->dims == 1 && surface ? 0 : m->height;
    case PTX_MODE_MIPMAP_LEVELS:
        return m->levels;
    default:
        return m->dims == 3 || m->layered || m->cube ? m->depth : 0;
    }
}

// As above, of one level; 0 if the level does not exist.
static uint32_t level_property(const struct image *m, uint32_t what, uint32_t level)
{
    struct image of_level;

    if (level >= m->levels)
        return 0;
    if (m->levels == 1)
        return property(m, what, false);
    of_level = image_level(m, level);
    return property(&of_level, what, false);
}

int op_texture_query(struct warp *w, const struct insn *in, uint32_t mask)
{
    const u64 *handles = SLOT(const u64, w, in->a);
    u32 *d = SLOT(u32, w, in->d);

    for (unsigned l = 0; l < LANES; l++) {
        const struct texture *t = NULL;
        const struct image *m;

        if (!(mask >> l & 1))
            continue;
        if (!(in->flags & INSN_SURFACE))
            t = texture_of(w, handles[l]);
        m = in->flags & INSN_SURFACE ? surface_of(w, handles[l]) : t ? &t->image : NULL;
        if (!m)
            return warp_fault(w, in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS, handles[l]);
        d[l] = in->b == NO_OPERAND ? property(m, in->target, in->flags & INSN_SURFACE)
                                   : level_property(m, in->target, SLOT(const u32, w, in->b)[l]);
    }
    return STEP_NEXT;
}
