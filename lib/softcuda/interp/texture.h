// What the handlers of texture and surface instructions find in code.aux. lower/texture.c writes
// it, interp/texture.c reads it.
#ifndef GS_SOFTCUDA_INTERP_TEXTURE_H
#define GS_SOFTCUDA_INTERP_TEXTURE_H

#include "softcuda/interp/interp.h"

enum texture_word {
    TEXTURE_HANDLE,                         // slot
    TEXTURE_RESIDENT,                       // slot of a predicate, or NO_OPERAND
    TEXTURE_COORDINATE,                     // four slots, as written: a layer comes first
    TEXTURE_VALUE = TEXTURE_COORDINATE + 4, // up to four slots
    TEXTURE_LEVEL = TEXTURE_VALUE + 4,      // slot, or NO_OPERAND
    TEXTURE_GRADIENT,                       // two times three slots; NO_OPERAND: none
    TEXTURE_WORDS = TEXTURE_GRADIENT + 6
};

// tex: insn.mode is enum ptx_geom, .type of the results, INSN_SIGNED where coordinates are indices.
int op_tex(struct warp *w, const struct insn *in, uint32_t mask);
// tld4: the same, insn.target the channel.
int op_tld4(struct warp *w, const struct insn *in, uint32_t mask);
// txq, suq: insn.a the handle's slot, .b a level's slot or NO_OPERAND, .target enum ptx_mode,
// INSN_SURFACE.
int op_texture_query(struct warp *w, const struct insn *in, uint32_t mask);
// suld.b, sust.b: insn.mode is enum ptx_geom, .type of an element, .b how many, .c which of their
// slots have 64 bits, .target enum ptx_mode: trap, clamp or zero.
int op_suld(struct warp *w, const struct insn *in, uint32_t mask);
int op_sust(struct warp *w, const struct insn *in, uint32_t mask);

// insn.flags, beside those of interp.h
enum { INSN_SURFACE = 256 };

#endif
