/*
 * place.h - which processors threads run on, for measurements that compare two servers. Which of a
 * machine's processors the kernel happens to choose makes up to a tenth of a server's launches.
 *
 * Places are numbered from 0; each is a processor of its own. With few processors there are none:
 * nothing is done then, since threads that are tied to one would be in each other's way.
 */
#ifndef GS_BENCH_PLACE_H
#define GS_BENCH_PLACE_H

#include <stdbool.h>

#include "lib/service.h"

/* Whether there are `count` places. Asked before place_take: a process that has taken a place sees
 * no other. */
bool places_enough(unsigned count);
/* Ties the calling thread to the place. */
void place_take(unsigned place);
/* Ties the server's main lane, which launches for all its tenants, to the place. False: the lane's
 * thread has not come within 5 s. */
bool place_give(unsigned place, const struct server *server);

#endif
