// Tensor copies (cp.async.bulk.tensor and related instructions): copy a box of a tensor, which a
// map describes, to shared memory, also of several blocks of a cluster, or from there. They are
// done at once, lane by lane. The map is 128 bytes of the program's memory, copied before they are
// checked. A box is stored in shared memory row by row (a row is its extent in dimension 0), in
// chunks of 16 bytes that the map may swizzle.
//
// A box may have more rows than there is memory. Each of its chunks is looked up in shared memory,
// even if the tensor has no element for it, so that such a copy faults early.
#include "softcuda/interp/address.h"
#include "softcuda/tensor/tensor_map.h"

enum {
    MAP_ALIGN = 64,
    BOX_ALIGN = 128,
    CHUNK = 16,
    ROW_MAX = 256 * 8,
    BYTES_PER_STEP = 256,
    OOB_HALF = 0x7ff7 // what fma.oob takes as out of bounds
};

struct box {
    struct tensor_map map;
    enum ptx_type type;                     // of a reduction
    uint32_t element, row;                  // bytes
    uint32_t count[CU_TENSOR_MAP_RANK_MAX]; // elements
    int64_t first[CU_TENSOR_MAP_RANK_MAX];  // coordinates
    uint64_t shared;                        // generic address
    uint64_t rows;
};

static enum ptx_type reduced_type(uint32_t type)
{
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
        return PTX_T_U32;
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
        return PTX_T_S32;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
        return PTX_T_U64;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
        return PTX_T_S64;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        return PTX_T_F16;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        return PTX_T_BF16;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
        return PTX_T_F32;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
        return PTX_T_F64;
    default:
        return PTX_T_NONE;
    }
}

// The pairs of operation and type are those of cp.reduce.async.bulk in global memory.
static bool can_reduce(uint32_t aop, enum ptx_type t)
{
    const bool is_float = ptx_type_is_float(t);

    switch (aop) {
    case PTX_AOP_NONE:
        return true;
    case PTX_AOP_INC:
    case PTX_AOP_DEC:
        return t == PTX_T_U32;
    case PTX_AOP_ADD:
        return t != PTX_T_NONE && t != PTX_T_S64;
    case PTX_AOP_MIN:
    case PTX_AOP_MAX:
        return t != PTX_T_NONE && t != PTX_T_F32 && t != PTX_T_F64;
    default:
        return t != PTX_T_NONE && !is_float;
    }
}

// Refuses interleaved layouts and whatever is undocumented: which numbers are flushed, how TFLOAT32
// is stored to a tensor, and the 32-bit and 64-bit NaNs for elements out of bounds.
static bool is_known(const struct tensor_map *map, bool load)
{
    return map->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE &&
           (map->type <= CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ||
            (map->type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 && load)) &&
           (!map->fill || tensor_element_bytes(map->type) == 2);
}

static bool read_map(struct warp *w, const struct insn *in, unsigned lane, struct tensor_map *map)
{
    const uint64_t address = SLOT(u64, w, in->a)[lane];
    const void *bytes = bulk_memory(w, in, address, lane, MAP_ALIGN, sizeof(*map), MEM_READ);

    if (!bytes)
        return false;
    memcpy(map, bytes, sizeof(*map));
    if (tensor_map_valid(map) && map->rank == in->b && is_known(map, in->target != TENSOR_STORE) &&
        can_reduce(in->mode, reduced_type(map->type)))
        return true;
    warp_fault(w, in, 1u << lane, EXEC_FAULT_ILLEGAL_INSTRUCTION, address);
    return false;
}

// A box begins at a multiple of 16 bytes of its rows, and only a load may begin before the tensor.
// This is undocumented; on an H200 anything else is an illegal instruction (driver fact 46).
static bool starts_well(struct warp *w, const struct insn *in, unsigned lane,
                        const struct tensor_map *map)
{
    const uint32_t *coordinates = w->frame->code->aux + in->aux;
    const uint32_t row_at = SLOT(u32, w, coordinates[0])[lane] * tensor_element_bytes(map->type);
    bool before = false;

    for (uint32_t i = 0; i < map->rank; i++)
        before |= (int32_t)SLOT(u32, w, coordinates[i])[lane] < 0;
    if (row_at % CHUNK == 0 && !(before && in->target == TENSOR_STORE))
        return true;
    warp_fault(w, in, 1u << lane, EXEC_FAULT_ILLEGAL_INSTRUCTION, map->address);
    return false;
}

// Element strides divide the box, except in dimension 0, where the driver's documentation says that
// they are ignored.
static void measure(struct box *b, struct warp *w, const struct insn *in, unsigned lane)
{
    const uint32_t *aux = w->frame->code->aux + in->aux;

    b->type = reduced_type(b->map.type);
    b->element = tensor_element_bytes(b->map.type);
    b->map.step[0] = 1;
    b->rows = 1;
    for (uint32_t i = 0; i < b->map.rank; i++) {
        b->count[i] = (b->map.box[i] + b->map.step[i] - 1u) / b->map.step[i];
        b->first[i] = (int32_t)SLOT(u32, w, aux[i])[lane];
        b->rows *= i ? b->count[i] : 1;
    }
    b->row = b->count[0] * b->element;
    b->shared = bulk_address(w, aux + TENSOR_BOX_AT, lane);
}

// The elements of row INDEX that the tensor has: their address, and from which one to which.
static uint64_t inside(const struct box *b, uint64_t index, uint32_t *from, uint32_t *to)
{
    const int64_t extent = (int64_t)b->map.last[0] + 1 - b->first[0];
    const int64_t skipped = b->first[0] < 0 ? -b->first[0] : 0;
    uint64_t address = b->map.address + (uint64_t)(b->first[0] + skipped) * b->element;

    *from = *to = 0;
    for (uint32_t i = 1; i < b->map.rank; i++) {
        const int64_t at = b->first[i] + (int64_t)(index % b->count[i]) * b->map.step[i];

        if (at < 0 || at > (int64_t)b->map.last[i])
            return 0;
        address += (uint64_t)at * b->map.stride[i - 1];
        index /= b->count[i];
    }
    if (skipped < extent && skipped < b->count[0]) {
        *from = (uint32_t)skipped;
        *to = extent < b->count[0] ? (uint32_t)extent : b->count[0];
    }
    return address;
}

// Address bits that select a line of 128 bytes are combined with those that select a chunk.
static uint64_t swizzled(const struct box *b, uint64_t address)
{
    return address ^ (address >> 3 & ((1u << b->map.swizzle) - 1) << 4);
}

// Moves row INDEX of the box in shared memory to BYTES of the host, or back.
static bool move_row(struct warp *w, const struct insn *in, unsigned lane, const struct box *b,
                     uint64_t index, unsigned char *bytes)
{
    for (uint32_t i = 0; i < b->row; i += CHUNK) {
        const uint64_t address = swizzled(b, b->shared + index * b->row + i);
        const bool load = in->target == TENSOR_LOAD;
        void *at = bulk_memory(w, in, address, lane, CHUNK, CHUNK, load ? MEM_WRITE : MEM_READ);

        if (!at)
            return false;
        memcpy(load ? at : bytes + i, load ? bytes + i : at, CHUNK);
    }
    return true;
}

static void fill(const struct box *b, unsigned char *bytes)
{
    memset(bytes, 0, b->row);
    for (uint32_t i = 0; b->map.fill && i < b->row; i += sizeof(uint16_t))
        memcpy(bytes + i, &(uint16_t){OOB_HALF}, sizeof(uint16_t));
}

// Rounds to ten bits behind the point, halves to even. Infinities and NaNs stay.
static void round_to_tf32(unsigned char *bytes, uint32_t count)
{
    enum { DROPPED = 13, INFINITE = 0x7f800000 };

    for (uint32_t i = 0; i < count; i += sizeof(uint32_t)) {
        uint32_t x;
        memcpy(&x, bytes + i, sizeof(x));
        if ((x & INFINITE) == INFINITE)
            continue;
        x += (1u << (DROPPED - 1)) - 1 + (x >> DROPPED & 1);
        x &= ~0u << DROPPED;
        memcpy(bytes + i, &x, sizeof(x));
    }
}

static void reduce(const struct box *b, uint32_t aop, unsigned char *to, const unsigned char *from,
                   uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += b->element) {
        uint64_t value = 0;
        memcpy(&value, from + i, b->element);
        atom_reduce(to + i, aop, b->type, value, false);
    }
}

static bool copy_row(struct warp *w, const struct insn *in, unsigned lane, const struct box *b,
                     uint64_t index)
{
    const bool load = in->target == TENSOR_LOAD;
    unsigned char row[ROW_MAX], *part;
    uint32_t from, to, bytes;
    const uint64_t address = inside(b, index, &from, &to);

    if (load)
        fill(b, row);
    else if (!move_row(w, in, lane, b, index, row))
        return false;
    part = row + from * b->element;
    bytes = (to - from) * b->element;
    if (bytes && !mem_allows(w->view, address, bytes,
                             load       ? MEM_READ
                             : in->mode ? MEM_READ | MEM_WRITE
                                        : MEM_WRITE)) {
        warp_fault(w, in, 1u << lane, EXEC_FAULT_ILLEGAL_ADDRESS, address);
        return false;
    }
    if (bytes && in->mode)
        reduce(b, in->mode, mem_pointer(address), part, bytes);
    else if (bytes)
        memcpy(load ? part : mem_pointer(address), load ? mem_pointer(address) : part, bytes);
    if (b->map.type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32)
        round_to_tf32(row, b->row);
    return !load || move_row(w, in, lane, b, index, row);
}

// Copies all rows between the tensor and a box in shared memory. For a load, an mbarrier object at
// OBJECT gets the bytes.
static bool copy_box(struct warp *w, const struct insn *in, unsigned lane, const struct box *b,
                     uint64_t object_at)
{
    u64 *object = NULL;

    if (b->shared % BOX_ALIGN) {
        warp_fault(w, in, 1u << lane, EXEC_FAULT_MISALIGNED, b->shared);
        return false;
    }
    if (in->target == TENSOR_LOAD) {
        object = bulk_memory(w, in, object_at, lane, sizeof(*object), sizeof(*object),
                             MEM_READ | MEM_WRITE);
        if (!object)
            return false;
    }
    for (uint64_t i = 0; i < b->rows; i++)
        if (!copy_row(w, in, lane, b, i))
            return false;
    if (object)
        mbarrier_complete(object, (uint32_t)b->rows * b->row);
    const uint64_t steps = b->rows * b->row / BYTES_PER_STEP;
    w->left -= steps < w->left ? steps : w->left;
    return true;
}

// The address in the cluster's block RANK that corresponds to ADDRESS in this block.
static uint64_t in_block(uint64_t address, uint32_t rank)
{
    return MEM_SHARED_WINDOW | (uint64_t)(rank + 1) << CLUSTER_SHIFT |
           (address & ((1u << CLUSTER_SHIFT) - 1));
}

static bool copy(struct warp *w, const struct insn *in, unsigned lane)
{
    const uint32_t *aux = w->frame->code->aux + in->aux;
    struct box b;

    if (!read_map(w, in, lane, &b.map) || !starts_well(w, in, lane, &b.map))
        return false;
    if (in->target == TENSOR_PREFETCH)
        return true;
    measure(&b, w, in, lane);
    const uint64_t object =
        in->target == TENSOR_LOAD ? bulk_address(w, aux + TENSOR_OBJECT_AT, lane) : 0;
    if (aux[TENSOR_MASK_AT] == NO_OPERAND)
        return copy_box(w, in, lane, &b, object);
    const uint64_t shared = b.shared;
    for (uint32_t mask = SLOT(u32, w, aux[TENSOR_MASK_AT])[lane] & 0xffff; mask; mask &= mask - 1) {
        const uint32_t rank = (uint32_t)__builtin_ctz(mask);
        b.shared = in_block(shared, rank);
        if (!copy_box(w, in, lane, &b, in_block(object, rank)))
            return false;
    }
    return true;
}

int op_tensor(struct warp *w, const struct insn *in, uint32_t mask)
{
    w->strong++;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (!copy(w, in, (unsigned)__builtin_ctz(rest)))
            return STEP_FAULT;
    return STEP_NEXT;
}
