/*
 * wire_segment.h - the layout of a session's segment, through which client, server and device
 * communicate. wire_record.h has the records in its rings.
 */
#ifndef GS_COMMON_WIRE_SEGMENT_H
#define GS_COMMON_WIRE_SEGMENT_H

#include "common/wire_base.h"

/* ---- Session segment ---------------------------------------------------------------------------
 *   0x00000  seg_info     written by the server before the client knows the segment
 *   0x01000  seg_client   written by the client: activity, ring tails
 *   0x02000  seg_complete written by the GPU: completion words (the driver's only registered page)
 *   0x03000  seg_server   written by supervisor and worker: state, doorbell flag, fault, reports
 *   0x05000  seg_request  the slot for synchronous requests
 *   0x10000  ring 0 .. ring 62, SEG_RING_BYTES each
 */
#define SEG_STREAMS      63u /* stream 0 is the default stream */
#define SEG_RING_BYTES   65536u
#define SEG_REQUEST_BIT  63u
#define SEG_EVENTS       65536u
#define SEG_REPORTS      64u
#define SEG_HOSTS        1024u /* host blocks: gs_host_alloc, staging, images */
/* The uses of a host block: by the server's CPU alone, also by the device's copies, also by
 * kernels. */
#define SEG_HOST_PLAIN   0u
#define SEG_HOST_COPIED  1u
#define SEG_HOST_REACHED 2u
/* How a free request for unmapped memory or an object acts: SEG_FREE_WAIT waits for the session's
 * work; SEG_FREE_BESIDE returns GS_NOT_READY if there is such work; SEG_FREE_LOOK frees nothing,
 * checks that the texture or surface exists, and returns GS_NOT_READY if it does. */
#define SEG_FREE_WAIT    0u
#define SEG_FREE_BESIDE  1u
#define SEG_FREE_LOOK    2u
#define SEG_KERNELS      65536u
#define SEG_MODULES      4096u
#define SEG_GRAPHS       1024u
#define SEG_GRAPH_EDGES  16384u /* edges of a graph that rec_after records name */
#define SEG_GRAPH_NODES  2048u  /* records of a graph; the client splits a longer graph */
#define SEG_IMPORTS      1024u
#define SEG_ARRAYS       1024u
#define SEG_TEXTURES     1024u /* textures and surfaces */

#define SEG_OFF_INFO     0x00000u
#define SEG_OFF_CLIENT   0x01000u
#define SEG_OFF_COMPLETE 0x02000u
#define SEG_OFF_SERVER   0x03000u
#define SEG_OFF_REQUEST  0x05000u
#define SEG_OFF_RINGS    0x10000u
/* The page behind the rings gives the segment a size that no host block within kernels' reach has.
 * So its size tells a session's segment, whose attachments are counted, from a host block
 * (worker/memory/host_request.c, which joins no segment of that size). */
#define SEG_SIZE         (SEG_OFF_RINGS + SEG_STREAMS * SEG_RING_BYTES + 4096u)

struct seg_info {
    uint32_t magic;
    uint32_t version;
    uint64_t session_id;
    int32_t server_pid;
    int32_t device;
    uint64_t device_memory;
    uint64_t mem_limit;
    uint64_t window_base;
    uint64_t window_size;
    uint32_t compute_major, compute_minor;
    uint32_t sm_count;
    uint32_t max_threads_per_block;
    uint32_t max_block_dim[3];
    uint32_t max_grid_dim[3];
    uint32_t max_dynamic_smem;
    uint32_t sm_granularity; /* SMs of the smallest group; 0: no partitions */
    uint32_t slot;           /* the session's slot in the server, which a doorbell message names */
    uint32_t fenced; /* gs_fence: the session's kernels are fenced into its window; 0: not */
    char device_name[64];
    char bell[WIRE_BELL_MAX];
    uint8_t sm_group[GS_SM_MASK_WORDS * 64]; /* the group of each SM, if there are partitions */
    char device_uuid[48];                    /* "GPU-8c5f...", as nvidia-smi prints it */
    int32_t attribute[WIRE_ATTRIBUTES];      /* of the device; 0: its driver does not know the
                                                attribute */
    uint32_t device_count;                   /* of the server */
    uint32_t reserved;
};

struct seg_client {
    /* Bit s: stream s may have new records. SEG_REQUEST_BIT: a request is posted. The client sets a
     * bit after it has stored the tail; the worker takes all bits with an exchange. */
    alignas(64) _Atomic uint64_t activity;
    /* Free-running byte position up to which stream s's records are written. */
    alignas(64) _Atomic uint64_t tail[SEG_STREAMS];
    /* Byte position up to which the host functions of stream s's REC_HOST records have returned. */
    alignas(64) _Atomic uint64_t host_done[SEG_STREAMS];
};

struct seg_complete {
    /* Byte position up to which stream s's records are complete. The client may overwrite records
     * before that position. The GPU writes it; a takeover compares it with the journal. */
    _Atomic uint64_t position[SEG_STREAMS];
};

enum seg_state {
    SEG_OPEN = 1,
    SEG_CLOSED = 2, /* detached */
    SEG_LOST = 3,   /* its worker was lost, or the operator ended it */
    SEG_FAULTED = 4 /* see seg_fault */
};

struct seg_fault {
    uint32_t kind;  /* gs_fault_kind */
    int32_t status; /* gs_status */
    uint32_t stream;
    uint32_t launch_more; /* the fault is of `launch` or of one of this many launches behind it */
    uint64_t position;
    char kernel[64];
    char message[192];
    uint64_t launch;  /* the launch's number in its stream, counted from 1; 0: not known, or none */
    uint64_t address; /* the address that the kernel accessed; 0: not known, or none */
    /* Work not known to be complete: launches of kernels, graphs and products; copies and fills,
     * and the bytes of these. */
    uint64_t lost_launches, lost_copies, lost_bytes;
};

struct seg_report {
    _Atomic uint64_t id; /* the launch's gs_report_id once the rest is valid, else 0 */
    uint64_t queued_ns;
    uint64_t run_ns;
    uint32_t sm_count;
    int32_t priority;
    uint32_t partition; /* 0: the whole device */
    uint32_t late;      /* 1: it ended after its deadline */
};

/* The session's grant, as the worker applies it. The worker makes `sequence` odd before it changes
 * the other members, and even afterwards. A copy is valid if `sequence` had the same even value
 * before and after copying (seg_grant.h). */
struct seg_grant {
    _Atomic uint32_t sequence;
    uint32_t cls;
    int32_t priority;
    uint32_t weight;
    uint32_t sm_count;
    uint32_t exclusive;
    uint32_t launches_max; /* the most kernels issued and not finished; 0: no cap */
    uint32_t partition;    /* 0: the whole device */
    uint64_t deadline_ns;
    uint64_t mem_limit;
    uint64_t sm_mask[GS_SM_MASK_WORDS]; /* set for the whole device as well */
    int32_t priority_max;               /* the highest that streams and launches may have */
    uint32_t reserved;
};

struct seg_server {
    /* Non-zero: the worker does not poll this session. A client that has set activity then sets
     * this to 0 and sends a doorbell message. */
    alignas(64) _Atomic uint32_t need_bell;
    alignas(64) _Atomic uint32_t state; /* enum seg_state; written after `fault` */
    /* Non-zero: more threads wait awake than there are processors, so a waiting client should yield
     * its processor early. A hint. */
    _Atomic uint32_t yield_soon;
    struct seg_fault fault;
    alignas(64) struct seg_grant grant;
    alignas(64) struct seg_report report[SEG_REPORTS];
    /* Bit n: the owner of import n has revoked it. */
    alignas(64) _Atomic uint64_t revoked[SEG_IMPORTS / 64];
};

/* ---- Synchronous requests ----------------------------------------------------------------------
 * The client owns the slot while state is IDLE. It fills the request in, stores POSTED (release),
 * sets SEG_REQUEST_BIT and rings the doorbell if needed. The worker copies the request out,
 * executes it, writes the reply, stores DONE (release) and wakes the futex. The client reads the
 * reply and stores IDLE. */
enum req_state { REQ_IDLE = 0, REQ_POSTED = 1, REQ_DONE = 2 };

/* arguments -> results */
enum req_op {
    REQ_MALLOC = 1,        /* size -> address */
    REQ_FREE = 2,          /* address, SEG_FREE_ */
    REQ_MEM_INFO = 3,      /* -> free, total */
    REQ_HOST_ALLOC = 4,    /* size, SEG_HOST_ -> host block, System V id, device address for
                              kernels */
    REQ_HOST_FREE = 5,     /* host block */
    REQ_MODULE_LOAD = 6,   /* host block, size -> module, print_ring.h block's System V id, its size
                              (0: its kernels do not print); message: the log */
    REQ_MODULE_UNLOAD = 7, /* module, SEG_FREE_ */
    REQ_KERNEL_GET = 8,    /* module; name -> kernel; struct req_kernel in payload */
    REQ_GLOBAL_GET = 9,    /* module; name -> address, size */
    REQ_STREAM_CREATE = 10,  /* priority, class, 1 (0: use the session's priority and class) ->
                                stream */
    REQ_STREAM_DESTROY = 11, /* stream */
    REQ_EVENT_ELAPSED = 12,  /* start event, end event -> nanoseconds */
    REQ_GRAPH_CREATE = 13,   /* host block of ring records, bytes -> graph */
    REQ_GRAPH_DESTROY = 14,  /* graph, SEG_FREE_ */
    REQ_MEM_EXPORT = 15,     /* address, receiving session or 0 -> the handle's 4 words */
    REQ_MEM_IMPORT = 16,     /* the handle's 4 words -> address, size, import */
    REQ_MEM_REVOKE = 17,     /* address */
    /* kernel, threads of a block, dynamic shared memory, the bytes of a struct wire_cluster (0:
     * none) -> blocks that an SM runs at once, clusters that the device runs at once */
    REQ_KERNEL_OCCUPANCY = 18,
    REQ_FAULT = 19, /* the worker reads the fault note (fault_note.h) -> of stray accesses: their
                       count; the first one's address, line (its stream << 32) and launch;
                       message: its kernel. The first one is of that launch or of one of the next
                       N, where N is the line's bits from 40 on; launch 0: not known */
    /* width, height, depth, req_array_kind -> array */
    REQ_ARRAY_CREATE = 20,
    REQ_ARRAY_DESTROY = 21,   /* array, SEG_FREE_ */
    REQ_TEXTURE_CREATE = 22,  /* struct req_texture in payload -> the handle that kernels use */
    REQ_TEXTURE_DESTROY = 23, /* what kernels take, SEG_FREE_ */
    REQ_SURFACE_CREATE = 24,  /* array -> the handle that kernels use */
    REQ_SURFACE_DESTROY = 25, /* what kernels take, SEG_FREE_ */
    REQ_MODULE_KERNEL = 26,   /* module, index -> number of kernels; message: the name of the
                                 kernel at the index */
    /* struct rec_gemm in payload: announces products of this kind */
    REQ_GEMM_PREPARE = 27,
    REQ_KERNEL_HEAP = 28,  /* bytes */
    REQ_KERNEL_STACK = 29, /* bytes */
    REQ_ARRAY_LEVEL = 30,  /* mipmapped array, level -> array */
    REQ_TENSOR_MAP = 31,   /* struct req_tensor_map in payload -> REQ_TENSOR_MAP_BYTES in payload */
    /* System V id, address and session of a host block of another device -> as from
     * REQ_HOST_ALLOC */
    REQ_HOST_JOIN = 32,
    REQ_COUNT /* one more than the largest number */
};

#define REQ_PARAMS_MAX      1024u  /* the most parameters of a kernel */
#define REQ_PARAM_BYTES_MAX 32764u /* the limit of CUDA 12.1 and later */

/* The kernel synchronises its grid: it needs a cooperative launch. */
#define REQ_KERNEL_SYNCS_GRID  1u
/* The kernel runs only in clusters, of the size that it sets or else of the launch's. */
#define REQ_KERNEL_IN_CLUSTERS 2u

struct req_kernel {
    uint32_t param_count;
    uint32_t param_bytes;
    uint32_t max_threads_per_block;
    uint32_t registers;
    uint32_t static_smem;
    uint32_t local_bytes;
    uint32_t max_dynamic_smem;
    uint32_t flags;      /* REQ_KERNEL_* */
    uint16_t cluster[3]; /* the blocks of its clusters; zeros: the kernel sets no size */
    uint16_t reserved;
    struct {
        uint16_t offset, size;
    } param[REQ_PARAMS_MAX];
};

/* The fourth argument of REQ_ARRAY_CREATE: gs_format, channels, levels (0: no mipmapped array) and
 * GS_ARRAY_ flags. */
static inline uint64_t req_array_kind(uint32_t format, uint32_t channels, uint32_t levels,
                                      uint32_t flags)
{
    return (uint64_t)flags << 32 | (uint64_t)(levels & 0xFFu) << 24 |
           (uint64_t)(channels & 0xFFu) << 16 | (format & 0xFFFFu);
}

/* A texture: gs_texture_resource and gs_texture_desc. */
struct req_texture {
    uint32_t type; /* gs_resource_type */
    uint32_t array;
    uint64_t address;
    uint64_t width; /* texels; of linear memory bytes */
    uint64_t height, pitch;
    uint32_t format, channels;
    uint32_t address_mode[3];
    uint32_t filter_mode;
    uint32_t flags;
    uint32_t max_anisotropy;
    float border[4];
    uint32_t mipmap_filter;
    float mipmap_bias, mipmap_min, mipmap_max;
};

#define REQ_TENSOR_RANK      5u
#define REQ_TENSOR_MAP_BYTES 128u

/* A tensor map: gs_tensor_map_desc. */
struct req_tensor_map {
    uint64_t address;
    uint64_t dim[REQ_TENSOR_RANK];
    uint64_t stride[REQ_TENSOR_RANK - 1];
    uint32_t box[REQ_TENSOR_RANK];
    uint32_t step[REQ_TENSOR_RANK];
    uint32_t rank;
    uint32_t type; /* CUtensorMapDataType */
    uint32_t interleave, swizzle, promotion, fill;
};

struct seg_request {
    _Atomic uint32_t state; /* enum req_state; a futex */
    uint32_t op;            /* enum req_op */
    uint64_t arg[4];
    char name[8192]; /* NUL-terminated; names of C++ templates are long */
    /* reply */
    int32_t status;  /* gs_status */
    uint32_t serial; /* chosen by the client: a different number for each request, never 0 */
    uint64_t ret[4];
    char message[8192]; /* a text, or a kernel's name */
    /* Data of the reply; for REQ_TEXTURE_CREATE and REQ_GEMM_PREPARE of the request; for
     * REQ_TENSOR_MAP first of the request and then of the reply. */
    union {
        struct req_kernel kernel;
        struct req_texture texture;
        struct req_tensor_map tensor_map;
        unsigned char bytes[8192];
    } payload;
};

static_assert(sizeof(struct seg_info) == 1448, "seg_info");
static_assert(sizeof(struct seg_client) == 1088, "seg_client");
static_assert(sizeof(struct seg_complete) == 504, "seg_complete");
static_assert(sizeof(struct seg_server) == 3264, "seg_server");
static_assert(sizeof(struct seg_request) == 24656, "seg_request");
static_assert(sizeof(struct req_kernel) == 4136, "req_kernel");
static_assert(sizeof(struct req_texture) == 104, "req_texture");
static_assert(sizeof(struct req_tensor_map) == 144, "req_tensor_map");
static_assert(SEG_OFF_SERVER + sizeof(struct seg_server) <= SEG_OFF_REQUEST &&
                  SEG_OFF_REQUEST + sizeof(struct seg_request) <= SEG_OFF_RINGS,
              "parts of the segment do not overlap");
static_assert(offsetof(struct seg_client, tail) == 64 &&
                  offsetof(struct seg_client, host_done) == 576,
              "seg_client's parts");
static_assert(offsetof(struct seg_server, grant) == 448 &&
                  offsetof(struct seg_server, report) == 576 &&
                  offsetof(struct seg_server, revoked) == 3136,
              "seg_server's parts");
static_assert(sizeof(struct seg_fault) == 320, "seg_fault");
static_assert(sizeof(struct seg_report) == 40, "seg_report");
static_assert(sizeof(struct seg_grant) == 120, "seg_grant");

#endif
