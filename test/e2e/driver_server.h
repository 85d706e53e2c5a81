/*
 * driver_server.h - a server whose workers' driver is the software device behind
 * test/shim/driver.c, also where tests run on a GPU.
 */
#ifndef GS_TEST_DRIVER_SERVER_H
#define GS_TEST_DRIVER_SERVER_H

#include "harness/harness.h"
#include "shim/driver.h"

/* Starts it, with further arguments or NULL. *plan: what its driver does, in the test's own file;
 * keeps: its first value of that name. */
struct server *driver_server_start(const char *const *arguments, uint64_t keeps,
                                   struct driver_plan **plan);
/* Calls of the function take so long from now on; 0: as long as the device does. */
void driver_slow(struct driver_plan *plan, const char *function, uint32_t ms);
/* Calls of the function wait from now on, ... */
void driver_hold(struct driver_plan *plan, const char *function);
/* ... until now. */
void driver_go_on(struct driver_plan *plan);

#endif
