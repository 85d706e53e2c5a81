/* names.h - makes the names of an instance's queues, which wire_base.h lists. Pure; any thread. */
#ifndef GS_COMMON_NAMES_H
#define GS_COMMON_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"

/* True for 1 to WIRE_INSTANCE_MAX characters of [A-Za-z0-9_-]. Queue names contain the name. */
bool instance_valid(const char *instance);

void name_control(char out[WIRE_NAME_MAX], const char *instance);
void name_bell(char out[WIRE_NAME_MAX], const char *instance, int device);
/* The name is a one-way hash of the token: every user can list the name, but whoever knows the
 * token can ask in the queue owner's name. */
void name_reply(char out[WIRE_NAME_MAX], const char *instance, uint64_t token);

#endif
