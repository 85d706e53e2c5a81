/*
 * lost.h - the end of the CUDA context, as each thread meets it.
 *
 * Whichever thread meets the loss stops there. The lanes stop at their next round. Then the control
 * thread has all tables to itself: it finds whom to blame (blame.c) and ends the process.
 */
#ifndef GS_WORKER_DRIVER_LOST_H
#define GS_WORKER_DRIVER_LOST_H

#include <stdbool.h>

#include "common/link.h"
#include "worker/driver/driver.h"

/* At the start, before any lane. false: no descriptor is left. */
bool lost_init(void);
/* There is one more lane, whose stop the control thread waits for. */
void lost_join(void);
/* Has any thread met the loss? Any thread. */
bool lost_pending(void);
/* The calling thread is a lane. */
void lost_lane(void);
/* Stops the calling lane. */
_Noreturn void lost_stop(void);
/* For poll(): readable when a thread has met the loss. Control thread. */
int lost_descriptor(void);
/* Waits until all lanes have stopped, for a second at most: one may be inside a driver call. */
void lost_wait(void);
/* What the thread that met the loss says of it. */
CUresult lost_result(void);
const char *lost_text(void);

/* The calling thread has met the loss. */
_Noreturn void device_lost(CUresult result);
/* The same after any driver call that may not fail. */
_Noreturn void worker_broken(CUresult result);
/* A driver call that cannot fail unless the context is gone or the house has a bug. */
#define DRV_MUST(...)                                                                              \
    do {                                                                                           \
        CUresult must_ = DRV(__VA_ARGS__);                                                         \
        if (__builtin_expect(must_ != CUDA_SUCCESS, 0))                                            \
            worker_broken(must_);                                                                  \
    } while (0)

#endif
