/*
 * where.h - on which SMs a session's kernels run, asked of the SMs themselves; and what the session
 * was granted. Checks as harness.h's.
 */
#ifndef GS_TEST_WHERE_H
#define GS_TEST_WHERE_H

#include "common/sm_groups.h"
#include "gshare.h"

struct where {
    gs_session session;
    gs_kernel where, mix, hold; /* see where.c */
    gs_devptr words;            /* blocks that ran on each SM, then those that have come */
    unsigned smem;              /* so much shared memory that no two blocks fit on an SM */
    unsigned sms;               /* of the device */
    unsigned granularity;
};

/* Loads the kernels. The session's memory and module go with the session. */
void where_open(struct where *where, gs_session session);
/* One block for each of `blocks` SMs, each of which waits for the others: the SMs they used, in
 * the stream or as part of a graph. Fails the test unless each had an SM of its own. Waits. */
struct sm_mask where_run(struct where *where, gs_stream stream, unsigned blocks, const gs_qos *qos,
                         gs_report_id *report);
/* The launch alone, and what it left. */
gs_status where_launch(struct where *where, gs_stream stream, unsigned blocks, const gs_qos *qos,
                       gs_report_id *report);
struct sm_mask where_read(struct where *where, gs_stream stream, unsigned blocks);

/* What the session may use now. Fails the test unless count, percentage and mask fit together. */
struct sm_mask where_granted(const struct where *where);
/* Runs on all that is granted, and fails the test unless these SMs and no others were used. Where
 * the grant changed meanwhile, again. Returns it. */
struct sm_mask where_exact(struct where *where);

/* A count of SMs, rounded up to whole groups. */
unsigned where_rounded(const struct where *where, unsigned sms);
/* An affinity. */
gs_qos where_count(unsigned sms);
gs_qos where_percentage(unsigned percentage);
gs_qos where_mask(const struct sm_mask *mask);
/* Finds out which SMs are granted together, by running on more and more of them. The session has
 * the whole device. Before those below; for the whole process. */
void where_find_groups(struct where *where);
unsigned where_groups(void);
struct sm_mask where_group(unsigned number);
/* Some groups of a mask, one at least. */
struct sm_mask where_some(const struct sm_mask *of);

void where_same(const char *file, int line, const char *what, struct sm_mask got,
                struct sm_mask wanted);
#define CHECK_SMS(got, wanted) where_same(__FILE__, __LINE__, #got, (got), (wanted))

#endif
