/*
 * fake_server.h - a server in two threads of the test's own process, for tests of libgshare: real
 * queues and real segments, but the device is host memory and there are three kernels:
 *
 *     fill(u64 pointer, u32 value, u32 count)   stores value in count words
 *     none()                                    nothing
 *     wide(4,096 bytes)                         stores the last 8 bytes where the first 8 point to
 *
 * Any PTX text is a module, but text that begins with "bad", which is refused with a log. Its
 * worker sleeps at the first opportunity, so that every doorbell counts: a lost one shows as a
 * delay of FAKE_NAP_MS.
 */
#ifndef GS_TEST_FAKE_SERVER_H
#define GS_TEST_FAKE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "gshare.h"

#define FAKE_NAP_MS        5000u
#define FAKE_SM_COUNT      16u
#define FAKE_DEVICES       3u
#define FAKE_THREADS_MAX   1024u
#define FAKE_L2_BYTES      4096
#define FAKE_SMEM_MAX      49152u
#define FAKE_DEVICE_MEMORY (64u << 20)

struct fake;

/* Starts the server; ends the test when it cannot. */
struct fake *fake_start(const char *instance);
/* Stops the server and removes its queues and segments. */
void fake_stop(struct fake *fake);

/* Acts as if the supervisor had been killed: the status page says so, and nothing answers any
 * more. */
void fake_die(struct fake *fake);
/* Leaves rings alone while the server is paused; requests are answered. */
void fake_pause(struct fake *fake, bool paused);
/* From now on leaves the completion words of these streams, by bit, as they are, as if the device
 * had yet to write them. */
void fake_words_late(struct fake *fake, uint64_t streams);
/* Ends all sessions as by a fault of their own. */
void fake_fault(struct fake *fake, gs_status status, const char *message);
/* Answers the next request of each session with this status. */
void fake_refuse_next(struct fake *fake, gs_status status, const char *message);
/* Grants the next attach, but with a segment of another layout version. */
void fake_break_next_segment(struct fake *fake);
/* Acts as if the server were killed while it answers the next attach: what it grants is gone
 * already, and nobody serves the queue. Requests are answered all the same. */
void fake_end_at_next_attach(struct fake *fake);
/* Does what a server does after 2 s: ends sessions that were granted and not confirmed. */
void fake_end_unconfirmed(struct fake *fake);

/* How long the last client that attached was going to wait. */
unsigned fake_patience_ms(struct fake *fake);

/* The flags of the last launch that has run, REC_LAUNCH_... */
unsigned fake_launch_flags(void);

/* What clients have asked of the server so far. */
unsigned fake_sessions_open(struct fake *fake);
unsigned fake_host_blocks(struct fake *fake);
uint64_t fake_allocated(struct fake *fake);
unsigned fake_frees(struct fake *fake);
/* Bells that found no message within FAKE_NAP_MS though there was work. */
unsigned fake_lost_bells(struct fake *fake);

#endif
