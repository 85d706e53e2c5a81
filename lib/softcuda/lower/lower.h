// Turns a PTX function into decoded instructions: the state of one lowering, and what the files of
// this folder share. One thread lowers one module at a time. The module's reader does not check
// operands against the types of their registers: lowering requests every slot with the width that
// the handler uses, and refuses a register of another width.
#ifndef GS_SOFTCUDA_LOWER_LOWER_H
#define GS_SOFTCUDA_LOWER_LOWER_H

#include "softcuda/interp/interp.h"

enum {
    LOWER_MAX_FRAME = 32 << 20, // registers of one warp in one function, in bytes
    LOWER_MAX_LOCAL = 512 << 10,
    LOWER_TEMPS = 24, // for one instruction
};

struct lower {
    struct exec_program *program;
    const struct ptx_func *func;
    struct code *code;
    const struct ptx_inst *inst; // the instruction that is being lowered
    insn_fn *const *alu;

    uint32_t *slot;   // by register
    uint64_t *var_at; // by func->vars: offset in the local bytes or in shared memory
    uint32_t *label_pc;
    uint32_t *join_of; // for each branch: the join point, as an instruction index of the PTX
                       // function; NO_TARGET: none
    bool *is_join;     // for each PTX instruction
    uint32_t *pc_of;   // for each PTX instruction, and one more
    uint32_t frame_bytes, local_bytes;
    // Temporaries of different widths are separate: a path may stop within an instruction, and
    // another path of its warp must not overwrite the first one's lanes by writing its own in
    // another layout.
    struct lower_temps {
        uint32_t at[LOWER_TEMPS], used, made;
    } temps[3];         // predicates, 32 bits, 64 bits
    uint32_t wide_sink; // 0: not needed yet
    uint32_t carry;     // slot of the condition code register
    uint32_t guard;     // of the instructions that are emitted now
    size_t insns_room, aux_room, pool_room;
    uint32_t naux;
    uint32_t *pool_index; // open hash of pool slots
    uint32_t pool_index_room, pool_entries;
    const struct kernel_layout *layout; // of an entry
    char *log;
    size_t log_size;
    int error; // the first error; nothing is emitted after it
};

// ---- Errors: the first one stays, with function, line and instruction. Returns NULL.
void *lower_fail(struct lower *L, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- Emitting

// Appends an instruction with the current guard. Never NULL: after an error it is a scratch one.
struct insn *lower_emit(struct lower *L, insn_fn *run);
struct insn *lower_alu1(struct lower *L, enum alu op, uint32_t d, uint32_t a);
struct insn *lower_alu2(struct lower *L, enum alu op, uint32_t d, uint32_t a, uint32_t b);
struct insn *lower_alu3(struct lower *L, enum alu op, uint32_t d, uint32_t a, uint32_t b,
                        uint32_t c);
// Adds COUNT words to code.aux and returns the index of the first.
uint32_t lower_aux(struct lower *L, const uint32_t *words, uint32_t count);

// ---- Operands

unsigned lower_reg_bits(struct lower *L, uint32_t reg); // of its slot: 1, 32, 64 or 128
// Allocates a temporary slot of 1, 32 or 64 bits per lane, for one instruction.
uint32_t lower_temp(struct lower *L, unsigned bits);
uint32_t lower_const32(struct lower *L, uint32_t value);
uint32_t lower_const64(struct lower *L, uint64_t value);
uint32_t lower_const_pred(struct lower *L, bool value);
// The address of a .global or .const variable, known when the program is bound.
uint32_t lower_const_address(struct lower *L, const struct ptx_var *var, int64_t addend);
// Returns the slot with the value of O, BITS (32 or 64) wide. A register of the other width is
// converted: zero-extended or truncated.
uint32_t lower_src(struct lower *L, const struct ptx_operand *o, unsigned bits);
uint32_t lower_src_type(struct lower *L, const struct ptx_operand *o, enum ptx_type type);
uint32_t lower_pred(struct lower *L, const struct ptx_operand *o);
// The slot for a result; a sink gets a temporary.
uint32_t lower_dst(struct lower *L, const struct ptx_operand *o, unsigned bits);
uint32_t lower_dst_pred(struct lower *L, const struct ptx_operand *o);
unsigned lower_opnd_bits(struct lower *L,
                         const struct ptx_operand *o); // of a register operand's slot
unsigned lower_type_bits(enum ptx_type type);          // of its slot

// An address is a slot, how to read it, and a displacement.
struct lower_mem {
    uint32_t slot;
    uint8_t space; // enum insn_space
    uint64_t imm;
    bool param; // SPACE_PARAM at the constant offset imm
};
struct lower_mem lower_mem(struct lower *L, const struct ptx_operand *o, enum ptx_space space);
void lower_set_mem(struct insn *in, const struct lower_mem *m);
// Writes an address as four words of code.aux.
void lower_put_mem(uint32_t words[4], const struct lower_mem *m);
// Finds the offset of a .local or .param variable in the frame. False: it has none, which is
// reported as an error.
bool lower_frame_at(struct lower *L, const struct ptx_var *var, uint64_t *at);

// For guarded instructions that block or call: a branch takes the lanes whose guard is false around
// them, so that the handler always has the whole path. Called before and after the instructions are
// emitted.
uint32_t lower_go_around(struct lower *L);
void lower_come_back(struct lower *L, uint32_t at);

// Parameters and results in registers are passed through the frame, like others.
void lower_take_params(struct lower *L);
void lower_return(struct lower *L);

// ---- Instructions by family; false: not one of theirs

bool lower_integer(struct lower *L); // lower/integer.c
bool lower_compare(struct lower *L); // lower/compare.c: setp, set, selp, slct
bool lower_bits(struct lower *L);    // lower/bits.c: logic, shifts, fields
bool lower_float(struct lower *L);   // lower/float.c
bool lower_move(struct lower *L);    // lower/move.c: mov, cvta
bool lower_convert(struct lower *L); // lower/convert.c: cvt
bool lower_memory(struct lower *L);  // lower/memory.c
void lower_tensor(struct lower *L);  // lower/tensor.c, for lower/memory.c
bool lower_control(struct lower *L); // lower/control.c: branches, calls, barriers, warp
bool lower_matrix(struct lower *L);  // lower/matrix.c
bool lower_video(struct lower *L);   // lower/video.c
bool lower_texture(struct lower *L); // lower/texture.c

// Finds for every branch of L->func where its lanes reconverge. 0 or -ENOMEM.
int lower_find_joins(struct lower *L);
// Gives each register its slot. 0 or an error.
int lower_assign_slots(struct lower *L);

#endif
