/*
 * session_submit.h - a session's streams, and what else its records name. The session's lane; a job
 * in progress has what it changes.
 */
#ifndef GS_WORKER_SUBMIT_SESSION_SUBMIT_H
#define GS_WORKER_SUBMIT_SESSION_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"
#include "worker/driver/driver.h"
#include "worker/submit/arrival.h"

struct inflight;
struct graph_cache;
struct partition;
struct product_graphs;
struct session_graph;
struct workspace;

/* Launches of a stream by their numbers; see launch_range.h. `last` 0: not known. */
struct launch_range {
    uint32_t stream;
    uint64_t first, last;
};

struct stream {
    bool open;
    CUstream cu; /* NULL: not used yet; it costs half a MiB of GPU memory */
    /* the lane's context in which the CUDA stream is; NULL: the primary context */
    struct partition *context;
    uint64_t head;     /* records before it are consumed */
    uint64_t launches; /* launches among these records, since the stream was made */
    uint64_t issued;   /* the device has been given the work of the records before it */
    uint64_t again;    /* up to here the stream runs what it did not finish with a former worker */
    uint64_t transferred; /* the end of the last copy, fill or graph that was issued */
    uint64_t signalled;   /* the device has been told to store this position as complete */
    /* which launches may note a fault; see submit/launch_range.h */
    struct {
        uint64_t clean; /* how many of the first launches are known to have ended without a fault */
        uint64_t seen;  /* the same, if the look that follows finds no note */
        /* once this position is complete, so many launches are clean */
        uint64_t next_position, next_launches;
        uint64_t graph; /* the end of the last graph, whose kernels have no numbers */
        /* a graph may still note a fault; the same, if the look that follows finds no note */
        bool graphs, graphs_seen;
    } faults;
    int cu_priority; /* of the CUDA stream, since it was made */
    bool own_qos;    /* its tenant gave it a class and a priority, the next two */
    uint32_t own_cls;
    int32_t own_priority; /* gs_qos's scale */
    /* the class of its launches: its own or the session's, within the grant */
    uint32_t cls;
    int priority;                          /* CUDA's: lower runs earlier */
    struct graph_cache *graph_cache;       /* NULL until the first launch */
    struct product_graphs *product_graphs; /* NULL until the first product */
    struct workspace *workspace;           /* NULL until a product wants one */
    struct inflight *inflight;             /* its inflight tracker; there when cu is */
    struct arrival arrival;                /* the batch arrivals of its tenant */
};

struct event {
    CUevent cu; /* NULL: never recorded with one */
    uint32_t stream;
    uint64_t position; /* ring position after its last REC_EVENT */
    uint64_t serial;   /* of that record */
};

/* A launch that wants a report, between its issue and its end. */
struct report {
    CUevent start, end;
    uint32_t id;
    uint64_t queued_ns;
    uint64_t deadline_ns; /* of clock_ns(); 0: none */
    int priority;
    uint32_t partition, sm_count;
};

struct session_submit {
    bool faulted;                /* takes no more records */
    CUdeviceptr complete;        /* seg_complete.position[0], as the device sees it */
    uint64_t unclean;            /* streams that have launches which may note a fault */
    struct launch_range strayed; /* one of them made the first stray */
    uint32_t light;              /* launches in a row that any lane could have taken */
    uint32_t reports_open;
    struct stream streams[SEG_STREAMS];
    struct event *events; /* SEG_EVENTS entries, or NULL */
    uint32_t events_end;  /* no entry from this one on has a CUDA event */
    /* an event was recorded without a CUDA event, for which its user had no room */
    bool events_short;
    struct session_graph **graphs; /* SEG_GRAPHS entries, or NULL */
    bool making_variant;           /* a chore that makes a variant of one is under way */
    /* while a graph is checked, requests wait until then; 0: none is checked */
    uint64_t requests_from_ns;
    struct report *reports; /* SEG_REPORTS entries, or NULL */
    uint32_t report_next;   /* the slot that is looked at next */
    /* why the last algorithm for a product that waits could not be made */
    gs_status product_trouble;
    uint32_t product_timeouts; /* how often in a row no quiet moment came for one */
    char product_text[192];
};

#endif
