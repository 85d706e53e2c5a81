/*
 * assembler_choice.h - which assembler compiles (assembler.h): the one that $GSHARE_PTXAS names
 * (gshared --ptxas), or where that is "auto" the toolkit's, if the machine has one that suits the
 * driver and that none but root can change. The toolkit may be removed or replaced while the worker
 * runs: then the driver compiles from then on. One that the operator named stays wanted.
 */
#ifndef GS_WORKER_MODULE_ASSEMBLER_CHOICE_H
#define GS_WORKER_MODULE_ASSEMBLER_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* Decides whether there is one to use, which may start it for its version. Once, when the device is
 * open and no other thread runs. */
void assembler_choose(void);
/* Decides for a toolkit's with that name, as "auto" does for the machine's. */
void assembler_choose_toolkits(const char *name);
/* Whether one that says this for `--version` can compile for a driver of the version
 * (cuDriverGetVersion): of the same major version, or its code may not load, and not older, or it
 * refuses what the driver takes. */
bool assembler_suits(const char *said, unsigned driver);

/* Whether ptxas compiles the texts of fenced sessions. Any thread. */
bool assembler_wanted(void);
/* Returns a number that differs between files of ptxas; 0: ptxas is not wanted. */
uint64_t assembler_version(void);

/* Service threads: */
/* Returns the program; NULL: there is none any more. Looks at the toolkit's again where its file
 * has changed. A look for which memory or time is short leaves the program wanted, and the next
 * call looks again. */
const char *assembler_program(void);
/* Looks at the toolkit's again, which could not be run: a text may have made it end as if. True:
 * there is none any more. */
bool assembler_lost(void);
/* Whether the operator named the program. */
bool assembler_is_named(void);

#endif
