/* The arithmetic handlers for whatever x86-64 or another host always has. */
#define ALU_TABLE alu_table_base
#include "softcuda/interp/alu_body.inc"
