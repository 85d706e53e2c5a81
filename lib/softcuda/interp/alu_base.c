/* The arithmetic handlers for any host: instructions that every x86-64, or another processor, has.
 */
#define ALU_TABLE alu_table_base
#include "softcuda/interp/alu_body.inc"
