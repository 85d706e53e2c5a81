/*
 * wire.h - every layout that crosses a process boundary between a tenant and the server.
 *
 *   wire_base.h      version, names, quality of service, doorbell
 *   wire_control.h   messages on POSIX queues: attach, administration; the status page
 *   wire_segment.h   the session segment (System V shared memory), synchronous requests
 *   wire_record.h    records in the segment's rings
 *
 * doc/protocol.md draws the layouts, and static_asserts at the end of each file fix their sizes.
 * Any change of a layout changes WIRE_VERSION.
 *
 * Trust: a tenant can write anything anywhere in its segment at any time. The server copies a field
 * once, checks the copy, and uses only the copy. What the client reads back from its own segment
 * can only harm the client.
 */
#ifndef GS_COMMON_WIRE_H
#define GS_COMMON_WIRE_H

#include "common/wire_control.h"
#include "common/wire_record.h"
#include "common/wire_segment.h"

#endif
