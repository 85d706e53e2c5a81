/* Makes ALU_NAME(name) of every line of interp/alu.def. Included where the list itself is wanted;
 * no include guard. */
#define ALU1(name, ...)   ALU_NAME(name)
#define ALU2(name, ...)   ALU_NAME(name)
#define ALU3(name, ...)   ALU_NAME(name)
#define ALUR1(name, ...)  ALU_NAME(name)
#define ALUR2(name, ...)  ALU_NAME(name)
#define ALUR3(name, ...)  ALU_NAME(name)
#define SETP(name, ...)   ALU_NAME(name)
#define PRED(name, ...)   ALU_NAME(name)
#define SELP(name, ...)   ALU_NAME(name)
#define LOAD(name, ...)   ALU_NAME(name)
#define LOADV(name, ...)  ALU_NAME(name)
#define STORE(name, ...)  ALU_NAME(name)
#define STOREV(name, ...) ALU_NAME(name)
#include "softcuda/interp/alu.def"
#undef ALU1
#undef ALU2
#undef ALU3
#undef ALUR1
#undef ALUR2
#undef ALUR3
#undef SETP
#undef PRED
#undef SELP
#undef LOAD
#undef LOADV
#undef STORE
#undef STOREV
#undef ALU_NAME
