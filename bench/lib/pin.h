/*
 * pin.h - ties threads to processors, for measurements that compare two servers. Which of a
 * machine's processors the kernel happens to choose makes up to a tenth of a server's launches.
 *
 * Processors are counted from 0 among those that the process may use. Where there are few, nothing
 * is done, since threads that are tied to one would be in each other's way.
 */
#ifndef GS_BENCH_PIN_H
#define GS_BENCH_PIN_H

#include <stdbool.h>

#include "lib/service.h"

/* Whether there are `count` processors to pin to. Asked before pin_self: a pinned process sees no
 * other processor. */
bool pin_possible(unsigned count);
/* Pins the calling thread. */
void pin_self(unsigned cpu);
/* Pins the server's main lane, which launches for all its tenants. False: the lane's thread has not
 * come within 5 s. */
bool pin_server(unsigned cpu, const struct server *server);

#endif
