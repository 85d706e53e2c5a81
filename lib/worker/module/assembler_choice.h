/*
 * assembler_choice.h - chooses the ptxas that compiles (assembler.h): the one that $GSHARE_PTXAS
 * names (gshared --ptxas) or, where that is "auto", the CUDA toolkit's, if the machine has one that
 * suits the driver and that only root can change. When the toolkit is removed or replaced while the
 * worker runs, the driver compiles from then on. A ptxas that the operator named is never given up.
 */
#ifndef GS_WORKER_MODULE_ASSEMBLER_CHOICE_H
#define GS_WORKER_MODULE_ASSEMBLER_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the choice, which may start ptxas to ask for its version. Called once, when the device is
 * open and no other thread runs. */
void assembler_choose(void);
/* Chooses the toolkit's ptxas at that path, as "auto" does with the usual path, if it can be used.
 */
void assembler_choose_toolkits(const char *name);
/* Returns whether a ptxas that prints `said` for --version can compile for a driver of the version
 * `driver` (cuDriverGetVersion). It must have the same major version, or its code may not load, and
 * must not be older, or it refuses texts that the driver takes. */
bool assembler_suits(const char *said, unsigned driver);

/* Returns whether ptxas compiles the texts of tenants. Any thread. */
bool assembler_wanted(void);
/* Returns a number that differs between versions of the ptxas file; 0: the driver compiles. */
uint64_t assembler_version(void);

/* The next two are for service threads. */
/* Returns the path of ptxas; NULL: the driver compiles. Checks the toolkit's ptxas again where its
 * file has changed. A check that memory or time is too short for leaves ptxas chosen, and the next
 * call checks again. */
const char *assembler_program(void);
/* Checks the toolkit's ptxas again, because a process has ended as if it could not be run; a text
 * may have made it end so. True: the driver compiles from now on. */
bool assembler_lost(void);
/* Returns whether the operator named the program. */
bool assembler_is_named(void);

#endif
