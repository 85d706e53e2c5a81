/*
 * cell.h - one measurement: a row of the table on one side (native, gshare ...), made in a process
 * of its own under a deadline, so that one that fails or hangs takes no other with it.
 *
 * The process and the tenants that it forks write results and the reason of a failure into memory
 * shared with the runner. Not for several threads.
 */
#ifndef GS_BENCH_CELL_H
#define GS_BENCH_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum side { SIDE_NATIVE, SIDE_SLICED, SIDE_MPS, SIDE_GSHARE, SIDE_COUNT };
#define SIDE_BIT(side) (1u << (side))

#define IMAGE_MAX (256u << 10)

/* What the first cell finds out for all cells of a run, in memory that all of them map. */
struct facts {
    bool soft; /* the software device stands in for the driver */
    char driver_path[4096];
    char soft_library[4096]; /* the software device, whether or not it stands in */
    char device[64];
    int driver_version, sm_count;
    int numa_nodes;           /* of the machine */
    int gpu_node;             /* the GPU's; -1: the system does not tell */
    uint32_t long_iterations; /* of the long kernel, for LONG_NS; 0: not known yet */
    uint32_t wide_rounds;     /* of a block of load_wide, for LOAD_BLOCK_NS; 0: not known yet */
    size_t image_size;        /* the kernels: a cubin, or NUL-terminated PTX */
    unsigned char image[IMAGE_MAX];
};

/* What the measurement is told. Set by the runner before the cell is forked. */
struct plan {
    struct facts *facts;
    enum side side;
    bool quick;                  /* fewer and shorter, for a look */
    uint64_t until;              /* when the cell is ended, as clock_ns tells it */
    pid_t server_pid;            /* gshared; 0 on the other sides */
    const char *gshared, *gsctl; /* programs */
    const char *output;          /* folder for logs */
};
extern struct plan plan;

#define METRICS_MAX      256
#define METRIC_NAME_MAX  40
#define FAILURE_TEXT_MAX 256
#define NOTES_MAX        2048

struct metric {
    char name[METRIC_NAME_MAX];
    double value;
};

/* Times in nanoseconds, sizes in bytes, rates a second. */
struct board {
    char failure[FAILURE_TEXT_MAX]; /* "": none */
    char notes[NOTES_MAX];          /* lines for the reader of the raw results */
    double seconds;
    unsigned count;
    struct metric metric[METRICS_MAX];
};

/* ---- Inside a measurement -------------------------------------------------------------------- */

/* Ends this process, cell or tenant, with the reason. */
void cell_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Where cell_fail writes; a tenant has a place of its own. */
void cell_failure_place(char place[FAILURE_TEXT_MAX]);

/* Notes a result. The name is made from format. */
void cell_metric(double value, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sorts the samples and notes NAME_p50, NAME_p99, NAME_max and NAME_n. */
void cell_summary(double *samples, size_t count, const char *name);

/* Adds a line to the raw results. */
void cell_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As shared_map; fails the cell where there is no memory. */
void *cell_shared(size_t size);

/* Sleeps until that time, as clock_ns tells it. */
void cell_sleep_until(uint64_t ns);

/* ---- For the runner -------------------------------------------------------------------------- */

/* Zeroed memory shared with the processes forked later; NULL when there is none. */
void *shared_map(size_t size);

/* Runs measure() in a process group of its own; kills the group when the time is over, and whatever
 * of it is left at the end. Returns what it wrote, to be unmapped by board_free: failure says when
 * it did not finish. */
struct board *cell_run(void (*measure)(void), unsigned timeout_s);
void board_free(struct board *board);
/* NULL: the metric was not measured. */
const double *board_find(const struct board *board, const char *name);

/* Set by a signal that asks the runner to end. */
extern volatile bool cell_interrupted;

#endif
