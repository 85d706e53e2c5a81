/*
 * What the CUDA driver costs: the questions that the worker's design hangs on, asked of the bare
 * driver. Each question runs in a process of its own, so that one that fails or hangs takes no
 * other with it, and so that GPU memory is counted from a fresh context.
 *
 *   cc -O2 -I/usr/local/cuda/include -o driver_facts bench/driver_facts*.c -lcuda -lpthread
 *   ./driver_facts [QUESTION...]
 */
#include "driver_facts.h"

#include <signal.h>
#include <sys/wait.h>

#define TIME_LIMIT_S 60

static const struct question {
    const char *name;
    const char *what;
    CUresult (*ask)(void);
    char *env; /* set for this question */
} questions[] = {
    {"1", "launches a second on one stream, kernel of 28 bytes of parameters", question_rates, 0},
    {"2", "round trips, context with default scheduling", question_trips, 0},
    {"2s", "round trips, context with CU_CTX_SCHED_SPIN", question_trips_spinning, 0},
    {"7", "launches a second over 16 streams, one thread", question_many_streams, 0},
    {"8", "how soon a kernel starts; one graph in many streams", question_start, 0},
    {"4", "calls beside a 300 ms kernel on another stream", question_blocking, 0},
    {"4e", "the same with CUDA_MODULE_LOADING=EAGER", question_blocking,
     "CUDA_MODULE_LOADING=EAGER"},
    {"4g", "the same, the long kernel in a green context of 16 SMs", question_blocking_green, 0},
    {"9", "round trips of one thread while another's call waits for a 300 ms kernel",
     question_bystanders, 0},
    {"5", "launch calls of one thread while another makes costly calls", question_stalls, 0},
    {"3", "time and GPU memory of driver objects", question_costs, 0},
    {"3c", "streams with CUDA_DEVICE_MAX_CONNECTIONS=1", question_streams,
     "CUDA_DEVICE_MAX_CONNECTIONS=1"},
    {"3d", "streams with CUDA_DEVICE_MAX_CONNECTIONS=32", question_streams,
     "CUDA_DEVICE_MAX_CONNECTIONS=32"},
    {"6", "copies", question_copies, 0},
    {"10", "a request of 20 small kernels beside a neighbour that fills the device",
     question_request, 0},
    {"11", "the same, now and then", question_request_paced, 0},
    {"12", "first memsets and copies beside a 300 ms kernel", question_firsts, 0},
    {"12l", "the same with CUDA_MODULE_LOADING=LAZY", question_firsts, "CUDA_MODULE_LOADING=LAZY"},
    {"13", "does another kernel run beside one that waits?", question_room, 0},
    {"14", "which streams, graphs and events cannot be made beside a 30 ms kernel",
     question_stream_stalls, 0},
    {"15", "what a partition costs", question_partition, 0},
    {"16", "requests by the carve-out of shared memory", question_carve, 0},
    {"17", "which divisions of an SM two kernels share", question_divisions, 0},
    {"18", "what green contexts cost, by how many there are and how wide", question_green, 0},
    {"19", "a request within the SMs that are kept free, or anywhere", question_confined, 0},
    {"20", "a kernel that signals its own end, by the size of its grid", question_store, 0},
    {"20g", "the same in a green context of all SMs", question_store_lane, 0},
    {"21", "tenants that wait, by the number of lanes that launch for them", question_lanes, 0},
    {"21r", "the same, by what a thread does that waits", question_lanes_relax, 0},
    {"21j", "the same, by graphs that hold the launches of several tenants", question_lanes_joined,
     0},
    {"22", "which calls of another thread delay a lane's launches", question_lane_stalls, 0},
    {"23", "what a lane, a green context of all SMs, costs", question_lane_cost, 0},
    {"24", "a window backed by a sink; constants written while kernels run", question_sink, 0},
    {"25", "what still runs when a fault is seen, and how long a process takes to end",
     question_fault, 0},
    {"26", "mapping another process's memory, by the state of that process", question_heir, 0},
    {"30e", "what opening cuBLASLt and its first calls cost, EAGER", question_blas_open,
     "CUDA_MODULE_LOADING=EAGER"},
    {"30l", "what opening cuBLASLt and its first calls cost, LAZY", question_blas_open,
     "CUDA_MODULE_LOADING=LAZY"},
    {"31e", "who waits for its first calls, beside a 60 ms kernel, EAGER", question_blas_stalls,
     "CUDA_MODULE_LOADING=EAGER"},
    {"31l", "who waits for its first calls, beside a 60 ms kernel, LAZY", question_blas_stalls,
     "CUDA_MODULE_LOADING=LAZY"},
    {"31ce", "the same, each captured before at a quiet moment, EAGER", question_blas_captured,
     "CUDA_MODULE_LOADING=EAGER"},
    {"31cl", "the same, each captured before at a quiet moment, LAZY", question_blas_captured,
     "CUDA_MODULE_LOADING=LAZY"},
    {"31ie", "the same, each captured and instantiated before, EAGER", question_blas_instantiated,
     "CUDA_MODULE_LOADING=EAGER"},
    {"31il", "the same, each captured and instantiated before, LAZY", question_blas_instantiated,
     "CUDA_MODULE_LOADING=LAZY"},
    {"32", "a warm call of cublasLtMatmul", question_blas_warm, "CUDA_MODULE_LOADING=LAZY"},
    {"33", "cuBLASLt and green contexts", question_blas_green, "CUDA_MODULE_LOADING=LAZY"},
    {"34", "modules loaded lazily, or whole by cuFuncLoad, beside a 60 ms kernel",
     question_func_load, "CUDA_MODULE_LOADING=LAZY"},
    {"35", "cuBLASLt's algorithms on few SMs", question_blas_few, "CUDA_MODULE_LOADING=LAZY"},
    {"36", "host memory among a window's addresses, reached by kernels", question_host, 0},
    {"37", "host memory inside a reservation that is kept", question_host_inside, 0},
    {"38", "what a kernel finds that another one left on the SMs", question_left, 0},
    {"39", "whether an array outlives its process by the memory mapped to it", question_arrays, 0},
    {"40e", "compiling PTX: who is held up, and how many registers, EAGER", question_compile,
     "CUDA_MODULE_LOADING=EAGER"},
    {"40l", "the same, LAZY", question_compile, "CUDA_MODULE_LOADING=LAZY"},
    {"41", "the limit of the stack: sizes, and the memory each takes", question_stack, 0},
    {"41g", "which green contexts see it", question_stack_green, 0},
    {"41x", "whether executable graphs from before see it", question_stack_graph, 0},
    {"41y", "the same, of a green context", question_stack_graph_green, 0},
    {"41l", "a graph after the limit was lowered", question_stack_lowered, 0},
    {"41w", "who waits while it is set, and at the first launch", question_stack_waits, 0},
    {"41o", "how deep a kernel may go over it", question_stack_over, 0},
    {"41m", "raised with too little memory", question_stack_full, 0},
    {"42", "memory of another device, made by another process", question_peer, 0},
    {"43", "programmatic dependent launches: what they save", question_dependents, 0},
    {"43g", "the same in a green context of all SMs", question_dependents_green, 0},
    {"44", "programmatic dependent launches: which ends a later kernel may rely on",
     question_dependents_order, 0},
    {"44g", "the same in a green context of all SMs", question_dependents_order_green, 0},
    {"45", "what a cluster's addresses reach: ended blocks, and behind a block's own memory",
     question_cluster, 0},
    {"45r", "the same: ranks that the cluster has not", question_cluster_ranks, 0},
};

static int question_wanted(const struct question *q, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], q->name))
            return 1;
    return argc == 1;
}

/* Returns 0 if the question was asked to its end; what failed within it is in the output. */
static int question_run(const struct question *q)
{
    double t0 = now_us();
    int status;
    pid_t child;

    printf("\n%s. %s\n", q->name, q->what);
    fflush(stdout);
    child = fork();
    if (child < 0) {
        perror("fork");
        return 1;
    }
    if (!child) {
        alarm(TIME_LIMIT_S);
        setvbuf(stdout, NULL, _IOLBF, 0);
        setenv("CUDA_CACHE_DISABLE", "1", 1);
        if (q->env)
            putenv(q->env);
        exit(q->ask() != CUDA_SUCCESS);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("  ENDED by signal %d%s\n", WTERMSIG(status),
               WTERMSIG(status) == SIGALRM ? " (time limit)" : "");
    printf("  [%.1f s]\n", (now_us() - t0) / 1e6);
    return !WIFEXITED(status) || WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
        if (question_wanted(&questions[i], argc, argv))
            bad += question_run(&questions[i]);
    return bad != 0;
}
