/* names.h - the names of an instance's queues, as wire_base.h lists them. Pure; any thread. */
#ifndef GS_COMMON_NAMES_H
#define GS_COMMON_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"

/* 1 to WIRE_INSTANCE_MAX characters of [A-Za-z0-9_-]: it becomes part of queue names. */
bool instance_valid(const char *instance);

void name_control(char out[WIRE_NAME_MAX], const char *instance);
void name_bell(char out[WIRE_NAME_MAX], const char *instance, int device);
/* Made of the token in a way that does not lead back: the name is for all to see, and who knows the
 * token speaks for the queue's owner. */
void name_reply(char out[WIRE_NAME_MAX], const char *instance, uint64_t token);

#endif
