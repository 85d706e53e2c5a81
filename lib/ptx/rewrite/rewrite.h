/* Rewrites a tenant's PTX before it is compiled. The caller chooses passes, which run over one
 * module in a fixed order; the text is read once and written once.
 *
 * Passes do not change the IR. They record edits against the source text, so everything that no
 * pass edits stays as the tenant wrote it: comments, debug sections, instructions that the reader
 * does not know. Every line keeps its number, so the compiler's messages name the tenant's lines.
 * Only the address fence prints the module anew: a byte that the reader and the compiler understand
 * differently would be a hole in it.
 *
 * Any thread; no state. The text is not trusted. pass.h has the interface between rewrite.c and the
 * passes. */
#ifndef GS_PTX_REWRITE_REWRITE_H
#define GS_PTX_REWRITE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The prefix of every name that a pass adds, except names of functions. A tenant cannot look up a
 * variable with this prefix. */
#define REWRITE_PREFIX "gshare$"

enum ptx_pass {
    /* Calls of vprintf and __assertfail go to functions that write to the print ring; see
     * printf_pass.c. Works on any text that the lexer can cut. */
    PTX_PASS_PRINTF = 1 << 0,
    /* Kernels get a hidden parameter and signal their own end; see completion_pass.c. Needs a
     * module that the reader accepts. */
    PTX_PASS_COMPLETION = 1 << 1,
    /* Each access to global memory is forced into the session's window; see fence_pass.c and
     * doc/isolation.md. The pass runs last, so that it also fences what the other passes added, and
     * refuses every instruction that it does not know. Implies PTX_PASS_TRAP. */
    PTX_PASS_FENCE = 1 << 2,
    /* Calls of malloc and free go to functions that allocate from the session's heap; see
     * ptx/heap_pass.h. Works on any text that the lexer can cut. */
    PTX_PASS_HEAP = 1 << 3,
    /* With PTX_PASS_FENCE: an access that the fence redirects, a "stray", is recorded first; see
     * fence_access.c. */
    PTX_PASS_STRAYS = 1 << 4,
    /* The barrier of a cooperative grid uses GRID_VARIABLE instead of the driver's memory, which
     * the fence makes unreachable; see grid_pass.c. Only with PTX_PASS_FENCE. */
    PTX_PASS_GRID = 1 << 5,
    /* Without PTX_PASS_FENCE: only moves the .global variables into a block of the caller's, as the
     * fence does. If they cannot be moved they stay, and the report says why; see
     * fence_variables.c. */
    PTX_PASS_VARIABLES = 1 << 6,
    /* A trap or failed assertion is recorded and ends its thread instead of the context; see
     * trap_pass.c. Needs a module that the reader accepts. */
    PTX_PASS_TRAP = 1 << 7,
    /* Functions that the reader cannot read, or that the fence refuses, are removed from the text,
     * with all functions that call them, as long as a kernel remains; see leave_out.c. Runs before
     * the other passes. */
    PTX_PASS_LEAVE_OUT = 1 << 8,
    /* With PTX_PASS_FENCE: a kernel that has room for it gets the window as a hidden parameter
     * behind its own: a struct fence_window, which whoever launches the kernel fills.
     * ptx_fence_report.windowed names these kernels. All other functions read the window from
     * FENCE_VARIABLE. On an H200 a kernel's first load of a .const variable takes 0.12 to 0.18 us;
     * a load of a parameter takes no such time. */
    PTX_PASS_WINDOW = 1 << 9
};

/* The .global variable that PTX_PASS_GRID adds: GRID_BYTES bytes, which must be zero before each
 * cooperative launch. The fence's report lists it among the tenant's variables. */
#define GRID_VARIABLE "gshare$grid"
enum { GRID_BYTES = 16 };

/* ---- PTX_PASS_FENCE ----
 *
 * A window is a range of device addresses: a power of two in size, at least 4 GiB, aligned to its
 * size. A fenced access stays within the window and the FENCE_GUARD bytes before and behind it. So
 * these bytes must hold no memory of another session. The first and the last FENCE_GUARD bytes of
 * the window itself must hold no memory of the tenant: then a pointer that reaches the tenant's
 * memory with an offset is itself in the window. */
#define FENCE_GUARD ((uint64_t)2 << 20)
/* How far accesses of a module whose report says `indexed` may reach beyond the guard, before and
 * behind the window: they add 32-bit indices and strides, times a constant, to a fenced pointer.
 * This range must hold no memory of another session either. */
#define FENCE_REACH ((uint64_t)24 << 30)

/* The .const variable that the pass adds: a struct fence_window. Whoever loads the module writes it
 * before the first launch; until then it is zero, and every access faults. So the rewritten text is
 * the same for all sessions. Nothing in the fenced code protects the variable; the host does:
 * gs_global_get refuses names that begin with gshare$, and a copy to another .const variable, which
 * may lie beside it, ends where that variable ends. */
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

/* The .global .u64 array that the pass adds where initial values hold addresses of functions: the
 * addresses that ptx_fence_address.function indexes. Fenced code cannot reach it. */
#define FENCE_FUNCTIONS "gshare$functions"

/* A .global variable of the module, which the pass moves into a block of memory that the caller
 * allocates. Its contents are the initial bytes, with the addresses in them, and zeros. */
#define MANAGED_PAGE 4096u /* a managed variable's place begins and ends at a multiple of this */

struct ptx_fence_variable {
    const char *name;
    uint64_t offset, size; /* in the block; the offset is a multiple of the alignment */
    uint32_t align;
    uint64_t nbytes; /* bytes in `bytes`; the rest of the variable is zero */
    const uint8_t *bytes;
};

/* An address in the initial values. Its value is (address of the block, or of *FUNCTION, plus
 * VALUE) >> SHIFT, and its lowest SIZE bytes are stored at OFFSET in the block, or in the .const
 * variable CONSTANT. The text has zeros there. */
struct ptx_fence_address {
    const char *constant; /* NULL: the block */
    uint64_t offset, value;
    uint8_t size, shift;
    bool is_function;
    uint32_t function; /* index into FENCE_FUNCTIONS */
};

/* The .global pair of .b64 that is added where a kernel can trap or assert (trap_pass.c), or where
 * the fence reports strays: a struct fault_binding. All zeros: nothing is recorded. */
#define FAULT_VARIABLE "gshare$fault"

struct fault_binding {
    uint64_t notes;  /* device address of the session's struct fault_notes */
    uint64_t module; /* for fault_note.module */
};

/* The functions that a fault_note can name. */
struct ptx_fault_names {
    uint32_t count; /* 0: no fault is recorded */
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
    uint32_t index; /* of the hidden parameter: the number of parameters in the tenant's text */
};

/* A kernel that takes tensor maps from its parameters. Each map is given by the number of the
 * parameter in which it begins and its offset within that parameter. (The driver tells where the
 * parameter begins: ptxas aligns to more than 16 bytes in the constant bank, where the parameters
 * of sm_90 begin at 0x210, so a first parameter aligned to 64 bytes is at 0x30.) No two maps
 * overlap. Whoever launches the kernel refuses a map that leads out of the window. */
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
    bool moved;     /* the variables were moved by PTX_PASS_VARIABLES; nothing is fenced */
    bool managed;   /* some of the variables are managed memory */
    uint64_t bytes; /* size of the block; 0: the module has no variables */
    uint32_t align; /* of the block: a power of two, at most 256 unless the tenant's text says
                       .align itself */
    uint32_t nvariables, naddresses, nfunctions;
    const struct ptx_fence_variable *variables; /* in the order of their names */
    const struct ptx_fence_address *addresses;
    /* The line of the first store to local memory that may hit any byte of the thread's stack,
     * where the compiler keeps return addresses and registers; 0: there is none. doc/isolation.md,
     * "What stays open", says what a hostile program can do with one. */
    uint32_t stack_line;
#define FENCE_STACK_REASON                                                                         \
    "a store by a pointer that may lead into a caller's stack; let the function be inlined "       \
    "(__forceinline__), and compile with optimization and without -G"
    /* The stack that the fence uses in a kernel whose call depth the compiler cannot tell, in
     * bytes; 0: there is no such kernel, or the fence uses none. */
    uint64_t stack_bytes;
    bool textures; /* the module has FENCE_TEXTURES, see texture_table.h */
    bool large;    /* the compiler may need GiBs for some function, so modules are compiled one at a
                      time */
    bool indexed;  /* accesses reach up to FENCE_REACH beyond the guard */
    uint32_t nwindowed;
    const struct ptx_fence_kernel *windowed; /* of PTX_PASS_WINDOW */
    uint32_t nmaps;
    const struct ptx_fence_maps *maps; /* kernels that take tensor maps */
    char reason[320]; /* why the module is refused: "line 12: cp.async.bulk: ..." */
    void *memory;
    struct ptx_fault_names strays; /* for fault_notes.stray */
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

/* Verifies that LEN bytes of a rewritten text reach global memory only by fenced addresses, or by
 * tensor maps that the report lists, whose kernels are sorted by name. Shares no code with the pass
 * (fence_check.c). ptx_rewrite calls it on every result of the pass. *STACK: a store may hit any
 * byte of the thread's stack. *INDEXED: an access may go FENCE_REACH beyond the guard. 0, -EPERM
 * with the reason in WHY, or -ENOMEM. */
int fence_check(const char *text, size_t len, const struct ptx_fence_report *report, bool *stack,
                bool *indexed, char *why, size_t why_size);

/* The .global .u64 variable that PTX_PASS_PRINTF adds: the device address of a block of
 * PRINT_BLOCK_BYTES (common/print_ring.h). It is 0 until the host writes it. */
#define PTX_PRINT_VARIABLE "gshare$print"

/* One .entry of the module that has a body. */
struct ptx_rewrite_kernel {
    const char *name;
    bool completes;   /* it has struct completion_params behind its own parameters */
    bool ends_after;  /* it completes, and ends after the kernels that it depends on, even if it was
                         launched before they ended */
    uint32_t index;   /* of the hidden parameter: the number of parameters in the tenant's text */
    char reason[120]; /* why it does not complete, "line 12: ..."; empty if it does */
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

/* What the passes did. The caller zeroes it before the call, and calls ptx_rewrite_report_deinit
 * afterwards. */
struct ptx_rewrite_report {
    bool prints;    /* the module has PTX_PRINT_VARIABLE */
    bool allocates; /* the module has PTX_HEAP_VARIABLE */
    /* For PTX_PASS_COMPLETION: the kernels, sorted by name; or none, and the reason why the pass
     * does not apply to the module. No pass changes a module with names that begin with gshare$. */
    uint32_t count;
    struct ptx_rewrite_kernel *kernels;
    char reason[320];
    void *memory; /* holds the kernels and their names */
    struct ptx_fence_report fence;
    struct ptx_fault_names traps; /* for fault_notes.end */
    struct ptx_left_out left_out;
};

/* Runs PASSES, a set of enum ptx_pass, over LEN bytes of PTX (a NUL ends it early).
 *
 * 0: *OUT is the new text, NUL-terminated; the caller frees it. *OUT_LEN does not count the NUL.
 * -ENOENT: nothing was changed, because nothing had to be, or because the text would exceed
 * PTX_MAX_TEXT; the original text is to be used. -EPERM: the fence refuses the module; -EINVAL: it
 * has to be fenced, and the reader does not accept it. REPORT->fence.reason says why. -ENOMEM: no
 * memory. With PTX_PASS_FENCE the result is never -ENOENT. REPORT may be NULL; it is filled in
 * every case except -ENOMEM, which leaves it zeroed. O(LEN log LEN). */
int ptx_rewrite(const char *ptx, size_t len, unsigned passes, char **out, size_t *out_len,
                struct ptx_rewrite_report *report);
/* Frees what the report holds and zeroes it. A zeroed report is allowed. */
void ptx_rewrite_report_deinit(struct ptx_rewrite_report *report);
/* The size of the report and of all that it holds, in bytes. */
size_t ptx_rewrite_report_bytes(const struct ptx_rewrite_report *report);

/* The reason why the kernel of that name was left out; NULL: it was not. O(count). */
const char *ptx_rewrite_report_left_out(const struct ptx_rewrite_report *report, const char *name);

/* The kernel of that name, NULL where the report has none. O(log count). */
const struct ptx_rewrite_kernel *ptx_rewrite_report_kernel(const struct ptx_rewrite_report *report,
                                                           const char *name);

#endif
