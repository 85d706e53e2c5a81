/* Rewrites a tenant's PTX before it is compiled: chosen passes over one module, in a fixed order,
 * its text read once and written once.
 *
 * Passes do not change the IR. They record edits against the source text, so that what no pass
 * names stays as the tenant wrote it: comments, debug sections, instructions that the reader does
 * not know. Every line keeps its number, so the compiler's messages name the tenant's lines. The
 * fence alone prints the module anew: a byte that the reader and the compiler understand
 * differently would be a hole in it.
 *
 * Any thread; no state. Trusts nothing of the text. Inside, see pass.h. */
#ifndef GS_PTX_REWRITE_REWRITE_H
#define GS_PTX_REWRITE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every name that a pass adds begins so, but for functions; such a variable is no tenant's to find.
 */
#define REWRITE_PREFIX "gshare$"

enum ptx_pass {
    /* Calls of vprintf and __assertfail go to functions that write to the print ring; see
     * printf_pass.c. Works on any text that the lexer can cut. */
    PTX_PASS_PRINTF = 1 << 0,
    /* Kernels get a hidden parameter and signal their own end; see completion_pass.c. Needs a
     * module that the reader can read. */
    PTX_PASS_COMPLETION = 1 << 1,
    /* Each access to global memory is forced into the window of the session; see fence_pass.c and
     * doc/isolation.md. Runs last, over what the other passes added too, and refuses what it does
     * not know. Brings PTX_PASS_TRAP with it. */
    PTX_PASS_FENCE = 1 << 2,
    /* Calls of malloc and free go to functions that allocate from the heap of the session; see
     * ptx/heap_pass.h. Works on any text that the lexer can cut. */
    PTX_PASS_HEAP = 1 << 3,
    /* With PTX_PASS_FENCE: each access that the fence leads elsewhere is recorded first; see
     * fence_access.c. */
    PTX_PASS_STRAYS = 1 << 4,
    /* The barrier of a cooperative grid works on GRID_VARIABLE and not on the driver's memory,
     * where the fence lets nobody go; see grid_pass.c. Only with PTX_PASS_FENCE. */
    PTX_PASS_GRID = 1 << 5,
    /* Without PTX_PASS_FENCE: the .global variables move into a block of the caller's, as the fence
     * moves them, and nothing else changes. Where that cannot be done they stay, and the report
     * says why; see fence_variables.c. */
    PTX_PASS_VARIABLES = 1 << 6,
    /* Traps and failed assertions end their thread and are recorded, instead of ending the context;
     * see trap_pass.c. Needs a module that the reader can read. */
    PTX_PASS_TRAP = 1 << 7,
    /* What cannot be read, and with PTX_PASS_FENCE what the fence refuses, is taken out of the text
     * function by function, with all that call it, as long as a kernel is left: see leave_out.c.
     * Before the other passes, which see what is left. */
    PTX_PASS_LEAVE_OUT = 1 << 8,
    /* With PTX_PASS_FENCE: kernels that have room for it get the window as a hidden parameter
     * behind their own, a struct fence_window, which whoever launches them fills;
     * ptx_fence_report.windowed names them. Other functions take it from FENCE_VARIABLE in any
     * case. On an H200 a kernel's first load of a .const variable takes 0.12 to 0.18 us, which one
     * of a parameter does not. */
    PTX_PASS_WINDOW = 1 << 9
};

/* The .global variable that PTX_PASS_GRID adds: GRID_BYTES bytes, zero before each cooperative
 * launch. It is in the fence's report like the tenant's. */
#define GRID_VARIABLE "gshare$grid"
enum { GRID_BYTES = 16 };

/* ---- PTX_PASS_FENCE ----
 *
 * A window is a range of device addresses: a power of two in size, at least 4 GiB, aligned to its
 * size. A fenced access stays within the window and FENCE_GUARD bytes before and behind it. So no
 * memory of another session may lie in these bytes; and none of the tenant's in the first and the
 * last FENCE_GUARD bytes of the window, so that a pointer which an access goes off by an offset is
 * in the window itself. */
#define FENCE_GUARD ((uint64_t)2 << 20)
/* How far beyond the guard, before and behind the window, the accesses of a module reach whose
 * report says `indexed`: off a fenced pointer by indices and strides of 32 bits times a constant.
 * No memory of another session may lie there either. */
#define FENCE_REACH ((uint64_t)24 << 30)

/* The .const variable that the pass adds: a struct fence_window. Whoever loads the module writes it
 * before the first launch; as loaded it is zero, and every access faults. The rewritten text is the
 * same for all sessions. Who can write it is outside of the fence: names that begin with gshare$
 * are not for the tenant's gs_global_get, and a copy to another .const variable, which lies beside
 * it, ends with that variable. */
#define FENCE_VARIABLE "gshare$window"

struct fence_window {
    uint32_t mask;    /* size / 2^32 - 1 */
    uint32_t base;    /* address / 2^32 */
    uint64_t globals; /* address of the block of the module's variables, in the window */
};

static inline struct fence_window fence_window(uint64_t base, uint64_t size, uint64_t globals)
{
    return (struct fence_window){(uint32_t)((size >> 32) - 1), (uint32_t)(base >> 32), globals};
}

/* The .global .u64 array that the pass adds where initial values hold addresses of functions: those
 * of ptx_fence_address.function, in order. Fenced code cannot reach it. */
#define FENCE_FUNCTIONS "gshare$functions"

/* A .global variable of the module, which the pass moves into a block of memory that the caller
 * allocates: zeros, then the initial bytes, then the addresses. */
#define MANAGED_PAGE 4096u /* what a managed variable's place begins and ends with */

struct ptx_fence_variable {
    const char *name;
    uint64_t offset, size; /* in the block; the offset is a multiple of the alignment */
    uint32_t align;
    uint64_t nbytes; /* of bytes; what follows is zero */
    const uint8_t *bytes;
};

/* An address in the initial values: (that of the block, or *FUNCTION, plus VALUE) >> SHIFT, of
 * which the lowest SIZE bytes come to OFFSET in the block, or in the .const variable CONSTANT,
 * where the text has zeros. */
struct ptx_fence_address {
    const char *constant; /* NULL: the block */
    uint64_t offset, value;
    uint8_t size, shift;
    bool is_function;
    uint32_t function; /* index into FENCE_FUNCTIONS */
};

/* The .global .b64 pair that is added where a kernel can trap or assert (trap_pass.c), or where the
 * fence reports strays: a struct fault_binding. Zeros: nothing is noted. */
#define FAULT_VARIABLE "gshare$fault"

struct fault_binding {
    uint64_t notes;  /* device address of the session's struct fault_notes */
    uint64_t module; /* for fault_note.module */
};

/* The functions that a fault_note can name. */
struct ptx_fault_names {
    uint32_t count; /* 0: no fault is noted */
    struct {
        const char *name;
        const char *kernel; /* the only kernel that reaches it; NULL: several do, or none */
    } * functions;
    void *memory;
};

/* A kernel that has a struct fence_window behind its own parameters, before its
 * completion_params. */
struct ptx_fence_kernel {
    const char *name;
    uint32_t index; /* of that parameter: how many parameters the tenant's text has */
};

/* A kernel that takes tensor maps from its parameters: the number of the parameter that each begins
 * in, and how many bytes behind that one's beginning. (Where the parameter begins is for the driver
 * to say: ptxas aligns to more than 16 bytes in the bank of constants, where those of sm_90 begin
 * at 0x210, so that a first one of 64 bytes is at 0x30.) No two overlap. Whoever launches the
 * kernel lets no map through that leads out of the window. */
enum { FENCE_MAPS = 16, FENCE_MAP_BYTES = 128, FENCE_MAP_ALIGN = 64 };

struct ptx_fence_maps {
    const char *name;
    uint32_t of; /* ptx_func.id */
    uint32_t count;
    struct {
        uint32_t parameter, offset;
    } map[FENCE_MAPS];
};

struct ptx_fence_report {
    bool fenced;
    bool moved;     /* the variables alone, by PTX_PASS_VARIABLES */
    bool managed;   /* some of the variables are managed memory */
    uint64_t bytes; /* of the block; 0: the module has no variables */
    uint32_t align; /* of the block, a power of two; at most 256 without a tenant's own .align */
    uint32_t nvariables, naddresses, nfunctions;
    const struct ptx_fence_variable *variables; /* in the order of their names */
    const struct ptx_fence_address *addresses;
    /* The line of the first store to local memory at an address that may be any of the thread's
     * stack, where the compiler keeps return addresses and registers; 0: there is none. What a
     * hostile program can make of it is in doc/isolation.md, "What stays open". */
    uint32_t stack_line;
#define FENCE_STACK_REASON                                                                         \
    "a store by a pointer that may lead into a caller's stack; let the function be inlined "       \
    "(__forceinline__), and compile with optimization and without -G"
    /* The bytes that the fence takes of the stack of a kernel whose calls have no depth that the
     * compiler can tell; 0: there is none, or the fence takes nothing. */
    uint64_t stack_bytes;
    bool textures; /* it has FENCE_TEXTURES, see texture_table.h */
    bool large;    /* some function may take the compiler GiBs: compile one at a time */
    bool indexed;  /* accesses reach up to FENCE_REACH further from the window */
    uint32_t nwindowed;
    const struct ptx_fence_kernel *windowed; /* of PTX_PASS_WINDOW */
    uint32_t nmaps;
    const struct ptx_fence_maps *maps; /* kernels that take tensor maps */
    char reason[320];                  /* of a refusal: "line 12: cp.async.bulk: ..." */
    void *memory;
    struct ptx_fault_names strays; /* of fault_notes.stray */
};

/* The kernel of that name, NULL where it has no window of its own. O(log nwindowed). */
const struct ptx_fence_kernel *ptx_fence_report_kernel(const struct ptx_fence_report *report,
                                                       const char *name);

/* The kernel of that name, NULL where it takes no tensor maps. O(log nmaps). */
const struct ptx_fence_maps *ptx_fence_report_maps(const struct ptx_fence_report *report,
                                                   const char *name);

/* The variable of that name, NULL where none has moved. O(log nvariables). */
const struct ptx_fence_variable *ptx_fence_report_variable(const struct ptx_fence_report *report,
                                                           const char *name);

/* Verifies that LEN bytes of a rewritten text go to global memory by fenced addresses only, or by
 * tensor maps of the report, which has its kernels in the order of their names; shares no code with
 * the pass (fence_check.c). ptx_rewrite calls it on whatever the pass made. *STACK: a
 * store may hit any byte of the thread's stack. *INDEXED: an access may go FENCE_REACH beyond the
 * guard. 0, -EPERM with the reason in WHY, or -ENOMEM. */
int fence_check(const char *text, size_t len, const struct ptx_fence_report *report, bool *stack,
                bool *indexed, char *why, size_t why_size);

/* The .global .u64 variable that PTX_PASS_PRINTF adds: device address of a PRINT_BLOCK_BYTES block
 * as common/print_ring.h says, 0 until somebody writes it there. */
#define PTX_PRINT_VARIABLE "gshare$print"

/* One .entry of the module that has a body. */
struct ptx_rewrite_kernel {
    const char *name;
    bool completes;   /* it has struct completion_params behind its own parameters */
    bool ends_after;  /* it completes, and ends after the kernels that it depends on, also where it
                         was launched before they had ended */
    uint32_t index;   /* of that parameter: how many parameters the tenant's text has */
    char reason[120]; /* why not, "line 12: ..."; empty where it completes */
};

/* The kernels that PTX_PASS_LEAVE_OUT took out of the text. */
struct ptx_left_out {
    struct ptx_left_out_kernel {
        struct ptx_left_out_kernel *next;
        const char *name;
        const char *reason; /* "line 12: ..." */
    } * kernels;
    void *memory;
};

/* What the passes did. Zeroed before the call; ptx_rewrite_report_deinit afterwards. */
struct ptx_rewrite_report {
    bool prints;    /* the module has PTX_PRINT_VARIABLE */
    bool allocates; /* the module has PTX_HEAP_VARIABLE */
    /* Of PTX_PASS_COMPLETION: the kernels in the order of their names, or none and why the pass
     * does not apply to the module. A module with names that begin with gshare$ is left alone by
     * all passes. */
    uint32_t count;
    struct ptx_rewrite_kernel *kernels;
    char reason[320];
    void *memory; /* holds kernels and names */
    struct ptx_fence_report fence;
    struct ptx_fault_names traps; /* of fault_notes.end */
    struct ptx_left_out left_out;
};

/* Runs PASSES, a set of enum ptx_pass, over LEN bytes of PTX (a NUL ends it early).
 *
 * 0: *OUT is the new text, NUL-terminated, the caller's to free(); *OUT_LEN does not count the NUL.
 * -ENOENT: there was nothing to change, or nothing that may be, as where a text would exceed
 * PTX_MAX_TEXT; use the text as it is. -EPERM: the
 * fence refuses the module; -EINVAL: it has to be fenced and is no PTX that the reader knows.
 * REPORT->fence.reason says why. -ENOMEM: no memory. With PTX_PASS_FENCE the result is never
 * -ENOENT. REPORT may be NULL; it is filled but with -ENOMEM, which leaves it zeroed.
 * O(LEN log LEN). */
int ptx_rewrite(const char *ptx, size_t len, unsigned passes, char **out, size_t *out_len,
                struct ptx_rewrite_report *report);
/* Frees what the report holds and zeroes it; a zeroed one is fine. */
void ptx_rewrite_report_deinit(struct ptx_rewrite_report *report);
/* The bytes that the report takes with all that it holds. */
size_t ptx_rewrite_report_bytes(const struct ptx_rewrite_report *report);

/* Why the kernel of that name was left out, NULL where it was not. O(count). */
const char *ptx_rewrite_report_left_out(const struct ptx_rewrite_report *report, const char *name);

/* The kernel of that name, NULL where the report has none. O(log count). */
const struct ptx_rewrite_kernel *ptx_rewrite_report_kernel(const struct ptx_rewrite_report *report,
                                                           const char *name);

#endif
