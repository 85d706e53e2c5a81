/* whole.h - requests that come again, each as one graph; see whole.c. Dispatcher. */
#ifndef GS_WORKER_WHOLE_H
#define GS_WORKER_WHOLE_H

#include "worker/chain.h"

/* What a stream's requests were lately. NULL: nothing yet. */
struct wholes;

/* Launches them as one graph, where they are known as a request that has come before. *issued:
 * false: they are not, or there was no memory for it; the device has been given nothing, and they
 * are remembered. */
CUresult whole_launch(struct wholes **wholes, const struct stream *stream,
                      const struct launch *launches, uint32_t count, enum ending ending,
                      struct done *done, bool *issued);

/* Destroys the graphs that have kernels in a partition. NULL is fine. */
void wholes_leave(struct wholes *wholes, const struct partition *partition);
/* NULL is fine. The stream has nothing on the device. */
void wholes_free(struct wholes *wholes);

#endif
