/*
 * lost.h - the end of the CUDA context, as each thread meets it.
 *
 * The thread whose driver call fails because the context is lost stops in that call (device_lost).
 * The lanes stop at their next scheduling round. Then no thread but the control thread uses the
 * tables: it finds the session to blame (blame.c) and ends the process.
 */
#ifndef GS_WORKER_DRIVER_LOST_H
#define GS_WORKER_DRIVER_LOST_H

#include <stdbool.h>

#include "common/link.h"
#include "worker/driver/driver.h"

/* Called at the start, before any lane runs. Returns false when no descriptor is left. */
bool lost_init(void);
/* Counts one more lane whose stop the control thread waits for. */
void lost_join(void);
/* Returns whether any thread has met the loss. Any thread. */
bool lost_pending(void);
/* Marks the calling thread as a lane. */
void lost_lane(void);
/* Stops the calling lane. */
_Noreturn void lost_stop(void);
/* Returns a descriptor for poll(), readable once a thread has met the loss. Control thread. */
int lost_descriptor(void);
/* Waits until all lanes have stopped, for a second at most, because a lane may be inside a driver
 * call. Returns whether they have. */
bool lost_wait(void);
/* Return the driver's result that told of the loss, and a description of it, both from the thread
 * that met the loss first. */
CUresult lost_result(void);
const char *lost_text(void);

/* Returns the slot that was passed to device_evict; LINK_SLOT_NONE: the context was lost otherwise.
 * Control thread. */
uint32_t lost_evicted(void);

/* Gives the context up, to end the unfinished work of the session in this slot, and stops the
 * calling thread. */
_Noreturn void device_evict(uint32_t slot, const char *why);
/* Reports that the calling thread has met the loss, and stops the thread. */
_Noreturn void device_lost(CUresult result);
/* Calls device_lost if the result says that the context is lost. */
static inline void lost_check(CUresult result)
{
    if (driver_fatal(result))
        device_lost(result);
}

/* DRV_ASK makes a driver call whose failure is an answer, unless the context is lost. */
#define DRV_ASK(function, ...) lost_answer(#function, cu->function(__VA_ARGS__))

static inline CUresult lost_answer(const char *function, CUresult result)
{
    if (driver_fatal(result)) {
        driver_failed(function, result);
        device_lost(result);
    }
    return result;
}

/* Ends the worker after a failed driver call that may not fail. A lost context is handled by
 * device_lost. */
_Noreturn void worker_broken(CUresult result);
/* DRV_MUST makes a driver call that fails only when the context is lost or the worker has a bug. */
#define DRV_MUST(...)                                                                              \
    do {                                                                                           \
        CUresult must_ = DRV(__VA_ARGS__);                                                         \
        if (__builtin_expect(must_ != CUDA_SUCCESS, 0))                                            \
            worker_broken(must_);                                                                  \
    } while (0)

#endif
