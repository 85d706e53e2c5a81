/*
 * session_submit.h - a session's streams, and the other objects that its records name. Belongs to
 * the session's lane; what the session's job in progress changes belongs to the job.
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

/* A range of a stream's launches, by their numbers; see launch_range.h. last 0: not known. */
struct launch_range {
    uint32_t stream;
    uint64_t first, last;
};

struct stream {
    bool open;
    CUstream cu; /* NULL: not used yet; a CUDA stream takes half a MiB of GPU memory */
    /* the context of a side lane in which the CUDA stream is; NULL: the primary context */
    struct partition *context;
    uint64_t head;     /* the ring position up to which records are consumed */
    uint64_t launches; /* the number of launches among these records, since the stream was made */
    uint64_t issued;   /* the ring position up to which work has been issued */
    /* up to this position, the stream repeats work that a former worker did not finish */
    uint64_t again;
    uint64_t transferred; /* the position after the last copy, memset or graph that was issued */
    uint64_t signalled;   /* the device has been told to store this position as complete */
    /* which launches may still note a fault; see launch_range.h */
    struct {
        /* how many launches, from the first on, are known to have ended without a fault */
        uint64_t clean;
        uint64_t seen; /* the value of `clean` if the next look finds no note */
        /* once next_position is complete, next_launches launches are clean */
        uint64_t next_position, next_launches;
        uint64_t graph; /* the position after the last graph, whose kernels have no numbers */
        /* a graph may still note a fault; the value of `graphs` if the next look finds no note */
        bool graphs, graphs_seen;
    } faults;
    int cu_priority; /* the CUDA stream's priority, fixed when it was made */
    bool own_qos;    /* the tenant gave the stream a class and a priority, the next two fields */
    uint32_t own_cls;
    int32_t own_priority; /* on the scale of gs_qos */
    /* the class of its launches: own_cls or the session's, limited to the grant */
    uint32_t cls;
    int priority;                          /* a CUDA priority: lower runs earlier */
    struct graph_cache *graph_cache;       /* NULL until the first launch */
    struct product_graphs *product_graphs; /* NULL until the first product */
    struct workspace *workspace;           /* NULL until a product needs one */
    struct inflight *inflight;             /* its inflight tracker; exists if `cu` does */
    struct arrival arrival;                /* the batch arrivals of its tenant */
};

struct event {
    CUevent cu; /* NULL: never recorded with a CUDA event */
    uint32_t stream;
    uint64_t position; /* ring position after its last REC_EVENT */
    uint64_t serial;   /* the serial of that record */
};

/* A launch with a report, between its issue and its end. */
struct report {
    CUevent start, end;
    uint32_t id;
    uint64_t queued_ns;
    uint64_t deadline_ns; /* by clock_ns(); 0: none */
    int priority;
    uint32_t partition, sm_count;
};

struct session_submit {
    bool faulted;                /* the session takes no more records */
    CUdeviceptr complete;        /* seg_complete.position[0], as the device sees it */
    uint64_t unclean;            /* streams (bits) with launches that may still note a fault */
    struct launch_range strayed; /* one of these launches made the session's first stray access */
    uint32_t light;              /* how many launches in a row any lane could have taken */
    uint32_t reports_open;
    struct stream streams[SEG_STREAMS];
    struct event *events; /* SEG_EVENTS entries, or NULL */
    uint32_t events_end;  /* no entry from this index on has a CUDA event */
    /* an event was recorded without a CUDA event, because its user could have no more */
    bool events_short;
    struct session_graph **graphs; /* SEG_GRAPHS entries, or NULL */
    bool making_variant;           /* a chore that makes a variant of a graph is under way */
    /* while a graph is checked, requests wait until this time; 0: no graph is checked */
    uint64_t requests_from_ns;
    struct report *reports; /* SEG_REPORTS entries, or NULL */
    uint32_t report_next;   /* the slot that is queried next */
    /* why the last algorithm for a waiting product could not be made */
    gs_status product_trouble;
    uint32_t product_timeouts; /* how often in a row no quiet moment came for an algorithm */
    char product_text[192];
};

#endif
