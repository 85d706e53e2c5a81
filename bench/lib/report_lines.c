/* report_lines.c - see report_lines.h. Goals are those for an NVIDIA H200, but for the software
 * device's own. */
#include "lib/report_lines.h"

#include "common/util.h"

#define GOAL(kind, bound, side, host)                                                              \
    {                                                                                              \
        GOAL_##kind, bound, SIDE_##side, HOST_##host                                               \
    }
#define NONE                        GOAL(NONE, 0, NATIVE, ANY)
#define AT_MOST(bound)              GOAL(AT_MOST, bound, NATIVE, ANY)
#define AT_LEAST(bound)             GOAL(AT_LEAST, bound, NATIVE, ANY)
#define SOFT_AT_MOST(bound)         GOAL(SOFT_AT_MOST, bound, NATIVE, ANY)
#define SOFT_AT_LEAST(bound)        GOAL(SOFT_AT_LEAST, bound, NATIVE, ANY)
#define RATIO_AT_MOST(bound, side)  GOAL(RATIO_AT_MOST, bound, side, ANY)
#define RATIO_AT_LEAST(bound, side) GOAL(RATIO_AT_LEAST, bound, side, ANY)

#define MIB (1 << 20)

const struct line report_lines[] = {
    {"attach", "fresh process, p50", "fresh_p50", UNIT_TIME, AT_MOST(1e6)},
    {"attach", "fresh process, p99", "fresh_p99", UNIT_TIME, NONE},
    {"attach", "beside others, p50", "beside_p50", UNIT_TIME, NONE},
    {"attach", "beside others, p99", "beside_p99", UNIT_TIME, NONE},
    {"attach", "many at once, p50", "together_p50", UNIT_TIME, NONE},
    {"attach", "many at once, p99", "together_p99", UNIT_TIME, NONE},
    {"attach", "again and again, p50", "cycle_p50", UNIT_TIME, NONE},
    {"attach", "detach, p50", "detach_p50", UNIT_TIME, NONE},

    {"launch", "p50", "launch_p50", UNIT_TIME, AT_MOST(200)},
    {"launch", "p99", "launch_p99", UNIT_TIME, NONE},
    {"launch", "clock, already subtracted", "clock", UNIT_TIME, NONE},

    /* Between the nodes of a host a round trip takes longer, native's too. */
    {"trip", "p50", "trip_p50", UNIT_TIME, GOAL(AT_MOST, 5200, NATIVE, ONE_NODE)},
    {"trip", "p99", "trip_p99", UNIT_TIME, GOAL(RATIO_AT_MOST, 0.5, NATIVE, ONE_NODE)},
    {"trip", "p50", "trip_p50", UNIT_TIME, GOAL(RATIO_AT_MOST, 0.75, NATIVE, NODES)},
    {"trip", "p99", "trip_p99", UNIT_TIME, GOAL(RATIO_AT_MOST, 0.6, NATIVE, NODES)},

#define RATE(n, text, piped, synced, worst)                                                        \
    {"rate", text ", pipelined", "pipelined_" n, UNIT_RATE, piped},                                \
        {"rate", text ", each with a sync", "synced_" n, UNIT_RATE, synced},                       \
    {                                                                                              \
        "rate", "... the worst tenant's p50", "worst_p50_" n, UNIT_TIME, worst                     \
    }
    RATE("1", "1 tenant", RATIO_AT_LEAST(2, NATIVE), NONE, NONE),
    RATE("2", "2 tenants", NONE, NONE, NONE),
    RATE("4", "4 tenants", RATIO_AT_LEAST(1, MPS), RATIO_AT_LEAST(1.5, MPS), RATIO_AT_MOST(1, MPS)),
    RATE("8", "8 tenants", NONE, RATIO_AT_LEAST(1.5, MPS), RATIO_AT_MOST(1, MPS)),
    RATE("16", "16 tenants", RATIO_AT_LEAST(3.4, MPS), RATIO_AT_LEAST(1, MPS),
         RATIO_AT_MOST(1, MPS)),

#define CPU(row, n, mode, text)                                                                    \
    {row, text ": CPU a launch", "cpu_" mode "_" n, UNIT_TIME, NONE},                              \
        {row, "... the tenant's", "cpu_tenant_" mode "_" n, UNIT_TIME, NONE},                      \
    {                                                                                              \
        row, "... the server's", "cpu_server_" mode "_" n, UNIT_TIME, NONE                         \
    }
    CPU("rate", "1", "pipelined", "1, pipelined"),
    CPU("rate", "1", "synced", "1, synced"),
    CPU("rate", "4", "pipelined", "4, pipelined"),
    CPU("rate", "4", "synced", "4, synced"),
    CPU("rate", "16", "pipelined", "16, pipelined"),
    CPU("rate", "16", "synced", "16, synced"),

#define MANY(n)                                                                                    \
    {"many", n " started: there", "there_" n, UNIT_COUNT, NONE},                                   \
        {"many", "... each with a sync", "synced_" n, UNIT_RATE, NONE},                            \
        {"many", "... the worst tenant's p50", "worst_p50_" n, UNIT_TIME, NONE},                   \
        CPU("many", n, "synced", n ", synced")
    MANY("64"),
    MANY("256"),

    {"long", "1 tenant", "time_1", UNIT_TIME, NONE},
    {"long", "2 tenants by one", "ratio_2", UNIT_RATIO, AT_MOST(1.02)},
    {"long", "4 tenants by one", "ratio_4", UNIT_RATIO, AT_MOST(1.02)},
    {"long", "16 tenants by one", "ratio_16", UNIT_RATIO, AT_MOST(1.02)},

#define COPIES(size, text)                                                                         \
    {"copies", "direct, htod, " text, "pinned_htod_" size, UNIT_GB, RATIO_AT_LEAST(0.95, NATIVE)}, \
        {"copies", "direct, dtoh, " text, "pinned_dtoh_" size, UNIT_GB,                            \
         RATIO_AT_LEAST(0.95, NATIVE)},                                                            \
        {"copies", "ordinary, htod, " text, "ordinary_htod_" size, UNIT_GB,                        \
         RATIO_AT_LEAST(1, NATIVE)},                                                               \
    {                                                                                              \
        "copies", "ordinary, dtoh, " text, "ordinary_dtoh_" size, UNIT_GB,                         \
            RATIO_AT_LEAST(1, NATIVE)                                                              \
    }
    COPIES("1", "1 MiB"),
    COPIES("16", "16 MiB"),
    COPIES("256", "256 MiB"),
    COPIES("1024", "1 GiB"),

    {"memory", "of the first tenant", "first", UNIT_BYTES, NONE},
    {"memory", "each of 50 (4, MPS 4)", "further_some", UNIT_BYTES, AT_MOST(MIB)},
    {"memory", "each of 200 (8, MPS 8)", "further_many", UNIT_BYTES, AT_MOST(MIB)},

    {"crowd", "started", "started", UNIT_COUNT, NONE},
    {"crowd", "attached", "attached", UNIT_COUNT, AT_LEAST(1000)},
    {"crowd", "right results", "right", UNIT_COUNT, AT_LEAST(1000)},
    {"crowd", "all attached after", "attach_all", UNIT_TIME, NONE},
    {"crowd", "all done after another", "work_all", UNIT_TIME, NONE},
    {"crowd", "attach, p50", "attach_p50", UNIT_TIME, NONE},
    {"crowd", "attach, p99", "attach_p99", UNIT_TIME, NONE},

    {"idle", "share of a core", "core_share", UNIT_PERCENT, AT_MOST(0.01)},

    {"neighbour", "idle: p50", "alone_p50", UNIT_TIME, NONE},
    {"neighbour", "idle: p99", "alone_p99", UNIT_TIME, NONE},
    {"neighbour", "loads PTX modules: p50", "load_p50", UNIT_TIME, NONE},
    {"neighbour", "loads PTX modules: p99", "load_p99", UNIT_TIME, NONE},
    {"neighbour", "allocates, frees 64 MiB: p50", "alloc_p50", UNIT_TIME, NONE},
    {"neighbour", "allocates, frees 64 MiB: p99", "alloc_p99", UNIT_TIME, NONE},
    {"neighbour", "attaches, detaches: p50", "attach_p50", UNIT_TIME, NONE},
    {"neighbour", "attaches, detaches: p99", "attach_p99", UNIT_TIME, AT_MOST(20e3)},
    {"neighbour", "runs 20 ms kernels: p50", "kernels_p50", UNIT_TIME, NONE},
    {"neighbour", "runs 20 ms kernels: p99", "kernels_p99", UNIT_TIME, NONE},

    {"alloc", "allocate 1 KiB, p50", "malloc_1K_p50", UNIT_TIME, NONE},
    {"alloc", "free 1 KiB, p50", "free_1K_p50", UNIT_TIME, NONE},
    {"alloc", "allocate 1 MiB, p50", "malloc_1M_p50", UNIT_TIME, NONE},
    {"alloc", "free 1 MiB, p50", "free_1M_p50", UNIT_TIME, NONE},
    {"alloc", "allocate 64 MiB, p50", "malloc_64M_p50", UNIT_TIME, NONE},
    {"alloc", "free 64 MiB, p50", "free_64M_p50", UNIT_TIME, NONE},
    {"alloc", "allocate 64 MiB, p99", "malloc_64M_p99", UNIT_TIME, NONE},

    {"partition", "launch, pipelined", "launch_plain", UNIT_TIME, NONE},
    {"partition", "... on SMs of its own choice", "launch_own", UNIT_TIME, NONE},
    {"partition", "what that costs", "launch_extra", UNIT_TIME, AT_MOST(300)},
    {"partition", "new SMs to first launch, p50", "change_new_p50", UNIT_TIME, NONE},
    {"partition", "new SMs to first launch, p99", "change_new_p99", UNIT_TIME, AT_MOST(2e6)},
    {"partition", "... the worst", "change_new_max", UNIT_TIME, NONE},
    {"partition", "... after 10 ms of rest, p50", "change_new_rested_p50", UNIT_TIME, NONE},
    {"partition", "... after 10 ms of rest, p99", "change_new_rested_p99", UNIT_TIME, NONE},
    {"partition", "SMs had before, the same, p50", "change_known_p50", UNIT_TIME, NONE},
    {"partition", "SMs had before, the same, p99", "change_known_p99", UNIT_TIME, AT_MOST(2e6)},
    {"partition", "... the worst", "change_known_max", UNIT_TIME, NONE},
    {"partition", "... with no graph there, p50", "change_graphless_p50", UNIT_TIME, NONE},
    {"partition", "... with no graph there, p99", "change_graphless_p99", UNIT_TIME, NONE},
    {"partition", "... after 10 ms of rest, p50", "change_rested_p50", UNIT_TIME, NONE},
    {"partition", "... after 10 ms of rest, p99", "change_rested_p99", UNIT_TIME, NONE},

    {"request", "alone: p50", "alone_p50", UNIT_TIME, NONE},
    {"request", "alone: p99", "alone_p99", UNIT_TIME, NONE},
    {"request", "beside one: p50", "beside_p50", UNIT_TIME, NONE},
    {"request", "beside one: p99", "beside_p99", UNIT_TIME, NONE},
    {"request", "p99 by alone", "beside_ratio", UNIT_RATIO, AT_MOST(1.10)},
    {"request", "neighbour by its own alone", "beside_neighbour", UNIT_PERCENT, AT_LEAST(0.90)},
    {"request", "it at 75 %: p99 by alone", "capped_ratio", UNIT_RATIO, NONE},
    {"request", "... by its own alone", "capped_neighbour", UNIT_PERCENT, NONE},
    {"request", "kernels of 32 blocks: p99 by alone", "wider_ratio", UNIT_RATIO, NONE},
    {"request", "kept off 4 % of SMs: p99", "spare4_ratio", UNIT_RATIO, NONE},
    {"request", "... neighbour", "spare4_neighbour", UNIT_PERCENT, NONE},
    {"request", "kept off 8 % of SMs: p99", "spare8_ratio", UNIT_RATIO, NONE},
    {"request", "... neighbour", "spare8_neighbour", UNIT_PERCENT, NONE},
    {"request", "kept off 25 % of SMs: p99", "spare25_ratio", UNIT_RATIO, NONE},
    {"request", "... neighbour", "spare25_neighbour", UNIT_PERCENT, NONE},
    {"request", "100 a second, alone: p50", "paced_alone_p50", UNIT_TIME, NONE},
    {"request", "100 a second, alone: p99", "paced_alone_p99", UNIT_TIME, NONE},
    {"request", "100 a second, beside: p50", "paced_p50", UNIT_TIME, NONE},
    {"request", "100 a second, beside: p99", "paced_p99", UNIT_TIME, NONE},
    {"request", "p99 by alone", "paced_ratio", UNIT_RATIO, AT_MOST(1.15)},
    {"request", "neighbour by its own alone", "paced_neighbour", UNIT_PERCENT, AT_LEAST(0.97)},
    {"request", "four of them: worst p99", "four_p99", UNIT_TIME, NONE},
    {"request", "four beside four: worst p99", "eight_p99", UNIT_TIME, NONE},
    {"request", "worst p99 by one's alone", "eight_ratio", UNIT_RATIO, AT_MOST(1.20)},
    {"request", "... by that of the four alone", "eight_by_four", UNIT_RATIO, NONE},
    {"request", "neighbours by their alone", "eight_neighbour", UNIT_PERCENT, NONE},

#define WEIGHTS(n)                                                                                 \
    {"weights", n " tenants: furthest off", "off_" n, UNIT_PERCENT, AT_MOST(0.05)},                \
        {"weights", "... by time charged", "off_charged_" n, UNIT_PERCENT, NONE},                  \
    {                                                                                              \
        "weights", n " tenants: work by one's alone", "work_" n, UNIT_PERCENT, NONE                \
    }
    WEIGHTS("2"),
    WEIGHTS("4"),
    WEIGHTS("8"),
    WEIGHTS("16"),

#define ACCOUNTING(n, text)                                                                        \
    {"accounting", text ", launches", "on_" n, UNIT_RATE, NONE},                                   \
        {"accounting", text ", not counted", "off_" n, UNIT_RATE, NONE},                           \
        {"accounting", "what it takes", "loss_" n, UNIT_PERCENT, AT_MOST(0.02)},                   \
        {"accounting", "... give or take", "loss_error_" n, UNIT_PERCENT, NONE},                   \
        {"accounting", "... a quarter of them below", "loss_q1_" n, UNIT_PERCENT, NONE},           \
    {                                                                                              \
        "accounting", "... a quarter of them above", "loss_q3_" n, UNIT_PERCENT, NONE              \
    }
    ACCOUNTING("1", "1 tenant"),
    ACCOUNTING("4", "4 tenants"),

#define STANDBY(n, text)                                                                           \
    {"standby", text ", launches", "on_" n, UNIT_RATE, NONE},                                      \
        {"standby", text ", with none", "off_" n, UNIT_RATE, NONE},                                \
        {"standby", "what they take", "loss_" n, UNIT_PERCENT, AT_MOST(0.01)},                     \
    {                                                                                              \
        "standby", "... give or take", "loss_error_" n, UNIT_PERCENT, NONE                         \
    }
    STANDBY("1", "1 tenant"),
    STANDBY("4", "4 tenants"),
    {"standby", "allocate 2 MiB, p50", "malloc_kept_2M_p50", UNIT_TIME, NONE},
    {"standby", "... with none", "malloc_unkept_2M_p50", UNIT_TIME, NONE},
    {"standby", "allocate 64 MiB, p50", "malloc_kept_64M_p50", UNIT_TIME, NONE},
    {"standby", "... with none", "malloc_unkept_64M_p50", UNIT_TIME, NONE},
    {"standby", "GPU memory that they take", "memory", UNIT_BYTES, NONE},

#define FENCELOAD(name, text)                                                                      \
    {"fenceload", text ", fenced, first", "first_" name "_p50", UNIT_TIME,                         \
     RATIO_AT_MOST(1.5, NATIVE)},                                                                  \
        {"fenceload", "... by the next tenant, p50", "again_" name "_p50", UNIT_TIME,              \
         AT_MOST(2e6)},                                                                            \
        {"fenceload", "... the longest", "again_" name "_max", UNIT_TIME, NONE},                   \
        {"fenceload", text ", no fence, first", "plain_first_" name "_p50", UNIT_TIME, NONE},      \
    {                                                                                              \
        "fenceload", "... by the next tenant, p50", "plain_again_" name "_p50", UNIT_TIME, NONE    \
    }
    FENCELOAD("ordinary", "10 kernels"),
    FENCELOAD("large", "one long kernel"),

#define TAKEOVER(n, text, most)                                                                    \
    {"takeover", "fault, " text ", from seen", "fault_seen_" n "_p50", UNIT_TIME, AT_MOST(most)},  \
    {                                                                                              \
        "takeover", "... neighbours' pause, max", "fault_pause_" n "_max", UNIT_TIME,              \
            AT_MOST(250e6)                                                                         \
    }
    TAKEOVER("1", "1 GiB", 10e6),
    TAKEOVER("16", "16 GiB", 30e6),
    TAKEOVER("64", "64 GiB", 80e6),
    {"takeover", "endless kernel, pause", "endless_pause_1_max", UNIT_TIME, AT_MOST(100e6)},
    {"takeover", "restart, 1 GiB, pause", "restart_pause_1_max", UNIT_TIME, AT_MOST(50e6)},
    {"takeover", "restart, 16 GiB, pause", "restart_pause_16_max", UNIT_TIME, AT_MOST(50e6)},
    {"takeover", "supervisor killed, pause", "supervisor_pause_1_max", UNIT_TIME, AT_MOST(50e6)},
    {"takeover", "upgrade, pause", "upgrade_pause_1_max", UNIT_TIME, AT_MOST(50e6)},

    {"faults", "runs that faulted", "faults", UNIT_COUNT, NONE},
    {"faults", "... that cost the neighbour its run", "lost_share", UNIT_PERCENT, AT_MOST(0)},
    {"faults", "the neighbour's wrong words", "wrong", UNIT_COUNT, AT_MOST(0)},
    {"faults", "... steps done", "steps", UNIT_COUNT, NONE},
    {"faults", "... longest step", "pause_max", UNIT_TIME, NONE},

    {"operator", "tenants", "tenants", UNIT_COUNT, NONE},
    {"operator", "nobody looks: p50", "alone_p50", UNIT_TIME, NONE},
    {"operator", "nobody looks: p99", "alone_p99", UNIT_TIME, NONE},
    {"operator", "ps, top and /metrics: p50", "looked_p50", UNIT_TIME, NONE},
    {"operator", "ps, top and /metrics: p99", "looked_p99", UNIT_TIME, NONE},
    {"operator", "what that adds to the p99", "more_p99", UNIT_PERCENT, AT_MOST(0.02)},
    {"operator", "... give or take", "more_p99_error", UNIT_PERCENT, NONE},
    {"operator", "... a quarter without looks adds", "apart_p99", UNIT_PERCENT, NONE},
    {"operator", "gsctl ps, p50", "ps_p50", UNIT_TIME, NONE},
    {"operator", "gsctl ps, p99", "ps_p99", UNIT_TIME, AT_MOST(100e6)},
    {"operator", "/metrics, p50", "metrics_p50", UNIT_TIME, NONE},
    {"operator", "/metrics, p99", "metrics_p99", UNIT_TIME, AT_MOST(50e6)},
    {"operator", "/metrics, bytes", "metrics_bytes", UNIT_BYTES, NONE},
    {"operator", "gsctl top: share of a core", "top_cpu", UNIT_PERCENT, AT_MOST(0.02)},
    {"operator", "... the server's for it", "top_server_cpu", UNIT_PERCENT, NONE},

    {"soft", "n-body, one core", "nbody_1", UNIT_RATE, SOFT_AT_LEAST(150e6)},
    {"soft", "n-body, two cores", "nbody_2", UNIT_RATE, NONE},
    {"soft", "tiled SGEMM, one core", "sgemm_1", UNIT_RATE, SOFT_AT_LEAST(150e6)},
    {"soft", "tiled SGEMM, two cores", "sgemm_2", UNIT_RATE, NONE},
    {"soft", "short kernels (axpy), a core", "axpy", UNIT_RATE, SOFT_AT_LEAST(500e6)},
    {"soft", "loops of different lengths", "collatz", UNIT_RATE, SOFT_AT_LEAST(500e6)},
    {"soft", "a switch, lane by lane", "switched", UNIT_RATE, SOFT_AT_LEAST(500e6)},
    {"soft", "local arrays", "insertion", UNIT_RATE, SOFT_AT_LEAST(500e6)},
    {"soft", "atomics, global", "histogram", UNIT_RATE, SOFT_AT_LEAST(500e6)},
    {"soft", "atomics, shared", "histogram_shared", UNIT_RATE, SOFT_AT_LEAST(500e6)},
    {"soft", "f64", "series", UNIT_RATE, SOFT_AT_LEAST(500e6)},
    {"soft", "shuffles and barriers", "reduce", UNIT_RATE, SOFT_AT_LEAST(500e6)},
    {"soft", "bytes from everywhere", "gather", UNIT_RATE, SOFT_AT_LEAST(500e6)},
    {"soft", "rows of different lengths", "spmv", UNIT_RATE, SOFT_AT_LEAST(500e6)},
    {"soft", "load 5,000 lines of PTX, p50", "load_p50", UNIT_TIME, SOFT_AT_MOST(50e6)},
    {"soft", "library, init, context, p50", "ready_p50", UNIT_TIME, SOFT_AT_MOST(50e6)},
    {"soft", "empty launch + sync, p50", "trip_p50", UNIT_TIME, SOFT_AT_MOST(10e3)},
    {"soft", "empty launch + sync, p99", "trip_p99", UNIT_TIME, NONE},
};

const size_t report_line_count = ARRAY_SIZE(report_lines);
