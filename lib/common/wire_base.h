/*
 * wire_base.h - what all parts of the wire use: the version, the names of queues, the wire form of
 * quality of service, and the doorbell.
 */
#ifndef GS_COMMON_WIRE_BASE_H
#define GS_COMMON_WIRE_BASE_H

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gshare.h"

#define WIRE_VERSION 28u
#define WIRE_MAGIC   0x52485347u /* "GSHR" */

/* ---- Names ------------------------------------------------------------------------------------
 * /gshare.UID.INSTANCE            control queue; the server holds a read lock on it while it lives
 * /gshare.UID.INSTANCE.lock       mode 0600: who holds flock(LOCK_EX) on it serves the instance
 * /gshare.UID.INSTANCE.bell.N     doorbell of device N's worker
 * /gshare.UID.INSTANCE.r.NAME     a client's reply queue, NAME = 16 hex digits, a hash of its token
 * UID is the server's user. Clients ignore a queue of that name that another user owns. A client
 * that cannot make a reply queue makes a socket of the same name in the abstract namespace.
 */
#define WIRE_INSTANCE_MAX 31u
#define WIRE_NAME_MAX     80u /* bytes for any of the queue names above, with its NUL */
#define WIRE_BELL_MAX     64u /* bytes for a doorbell queue's name */

/* ---- The device -------------------------------------------------------------------------------
 * A device's attributes are indexed by their number in CUdevice_attribute, of which CUDA 13 has
 * 147. */
#define WIRE_ATTRIBUTES 160u

/* ---- Quality of service --------------------------------------------------------------------- */

/* The wire form of gs_qos. */
struct wire_qos {
    uint32_t cls;
    int32_t priority;
    uint32_t weight;
    uint32_t affinity_type;
    uint32_t sm_count;
    uint32_t percentage;
    uint32_t exclusive;
    uint32_t environment; /* of a session: the fields that environment variables lowered, as bits
                             of enum ctl_field, for information only; of a launch: 0 */
    uint64_t deadline_ns;
    uint64_t sm_mask[GS_SM_MASK_WORDS];
};

#define QOS_PATIENCE_NS     15000000000u /* the server answers CTL_SET_QOS within this time */
#define QOS_WEIGHT_MAX      1000u
/* An hour: a longer deadline is a mistake in the units. */
#define QOS_DEADLINE_MAX_NS 3600000000000u

static_assert(sizeof(struct wire_qos) == 104, "wire_qos");

/* ---- Doorbell -----------------------------------------------------------------------------------
 * A message of 4 bytes: the session's slot, a hint that the worker does not rely on. */
#define BELL_MESSAGE_SIZE 4u
#define BELL_QUEUE_DEPTH  10u

#endif
