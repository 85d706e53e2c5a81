/*
 * main.c - starts the worker: opens the driver and the context, makes what must exist before there
 * are tenants, waits as a standby until the supervisor gives this worker the device, and starts the
 * threads. The initial thread then becomes the control thread (control.c).
 *
 * The process ends when the link ends, when the supervisor says so, or when the context is lost.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/descriptor_table.h"
#include "common/log.h"
#include "common/numa.h"
#include "worker/blas/library.h"
#include "worker/driver/prewake.h"
#include "worker/driver/privileges.h"
#include "worker/loop/control.h"
#include "worker/loop/lanes.h"
#include "worker/loop/loop.h"
#include "worker/loop/main.h"
#include "worker/memory/deferred_release.h"
#include "worker/memory/preload.h"
#include "worker/module/assembler_choice.h"
#include "worker/module/code_cache.h"
#include "worker/module/code_disk.h"
#include "worker/module/compile.h"
#include "worker/partition/carveout.h"
#include "worker/partition/partition.h"
#include "worker/partition/sm_topology.h"
#include "worker/sched/fence.h"
#include "worker/session/polling.h"
#include "worker/session/quiet.h"
#include "worker/submit/completion.h"
#include "worker/submit/pool.h"

/* ---- The device ------------------------------------------------------------------------------ */

/* Reads the names that identify the device to other programs, in their spelling (nvidia-smi,
 * dcgm-exporter). A driver that does not tell them is still usable. */
static void identity_read(struct worker *made)
{
    const char *kind = strstr(made->info.name, " MIG ") ? "MIG" : "GPU";
    unsigned domain, bus, device, function;
    char text[sizeof(made->info.pci)] = "";
    unsigned char b[16];
    CUuuid uuid;

    if (!DRV(cuDeviceGetUuid_v2, &uuid, made->device)) {
        memcpy(b, uuid.bytes, sizeof(b));
        snprintf(made->info.uuid, sizeof(made->info.uuid),
                 "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", kind,
                 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                 b[13], b[14], b[15]);
    }
    if (!DRV(cuDeviceGetPCIBusId, text, (int)sizeof(text), made->device) &&
        sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4)
        snprintf(made->info.pci, sizeof(made->info.pci), "%08X:%02X:%02X.%X", domain, bus & 0xff,
                 device & 0xff, function & 0xf);
}

/* Reads all attributes that the driver has, for gs_device_attribute. */
static void attributes_read(struct worker *made)
{
    for (int i = 1; i < (int)WIRE_ATTRIBUTES; i++) {
        int value = 0;

        if (!cu->cuDeviceGetAttribute(&value, (CUdevice_attribute)i, made->device))
            made->info.attribute[i] = value;
    }
}

static CUresult limits_read(struct worker *made)
{
    const struct {
        CUdevice_attribute attribute;
        uint32_t *value;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &made->info.compute_major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &made->info.compute_minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &made->info.sm_count},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &made->info.max_threads_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &made->info.max_block_dim[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &made->info.max_block_dim[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &made->info.max_block_dim[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &made->info.max_grid_dim[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &made->info.max_grid_dim[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &made->info.max_grid_dim[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &made->info.max_dynamic_smem},
    };
    CUresult result;

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        int value = 0;
        if ((result = DRV(cuDeviceGetAttribute, &value, wanted[i].attribute, made->device)))
            return result;
        *wanted[i].value = (uint32_t)value;
    }
    size_t total = 0;
    if ((result = DRV(cuDeviceTotalMem_v2, &total, made->device)))
        return result;
    made->info.memory_total = total;
    if (DRV(cuDeviceGetAttribute, &made->info.numa_node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID,
            made->device))
        made->info.numa_node = NUMA_NONE; /* an older driver lacks the attribute */
    if ((result = DRV(cuDeviceGetName, made->info.name, sizeof(made->info.name), made->device)))
        return result;
    identity_read(made);
    attributes_read(made);
    return CUDA_SUCCESS;
}

/* Opens the device's context, and reads the device's properties. */
static CUresult context_open(struct worker *made, int ordinal)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    int lowest = 0, highest = 0, count = 0;
    size_t granularity = 0;
    CUresult result;

    if ((result = DRV(cuDeviceGetCount, &count)))
        return result;
    made->info.device_count = (uint32_t)count;
    if ((result = DRV(cuDeviceGet, &made->device, ordinal)) || (result = limits_read(made)))
        return result;
    /* This comes before the context is made and before threads are started, so that the driver's
     * memory and threads are on that node too. */
    numa_bind(made->info.numa_node);
    prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, made->device};
    if ((result = DRV(cuDevicePrimaryCtxRetain, &made->context, made->device)) ||
        (result = DRV(cuCtxSetCurrent, made->context)) ||
        (result = DRV(cuCtxGetStreamPriorityRange, &lowest, &highest)) ||
        (result = DRV(cuMemGetAllocationGranularity, &granularity, &prop,
                      CU_MEM_ALLOC_GRANULARITY_MINIMUM)))
        return result;
    made->info.priority_lowest = lowest;
    made->info.priority_highest = highest;
    made->granularity = granularity;
    made->machine_code = driver_takes_machine_code();
    return CUDA_SUCCESS;
}

/* Makes what must exist in the context before there are tenants: making much of it would hold up
 * launches until every kernel on the device has ended. The order matters. The topology tells what a
 * destroyed partition leaves with the driver, and partitions_init sizes its table by that; the
 * pool's graphs contain the completing kernel; and the side lanes put their streams into the pool
 * behind those of the primary context. */
static CUresult worker_build(struct worker *made)
{
    CUresult result;

    if ((result = carveout_init()) || (result = completion_init()) || (result = fences_init()))
        return result;
    sm_topology_find(made);
    if (partitions_init() != GS_OK)
        return CUDA_ERROR_OPERATING_SYSTEM;
    pool_init();
    lanes_init();
    return CUDA_SUCCESS;
}

/* ---- The start ------------------------------------------------------------------------------- */

/* Carries out a message that a standby may get. Takes over the descriptor. Returns false for any
 * other message. */
static bool standby_message(const struct link_message *message, int descriptor)
{
    struct link_message answer = {.op = LINK_PRELOADED, .slot = LINK_SLOT_NONE};

    if (message->slot >= LINK_SLOTS_MAX &&
        (message->op == LINK_PRELOAD || message->op == LINK_PRELOAD_PIECE ||
         message->slot != LINK_SLOT_NONE))
        return false;
    switch (message->op) {
    case LINK_PRELOAD:
        preload_session(message->slot, &message->u.preload, descriptor);
        return true;
    case LINK_PRELOAD_PIECE:
        preload_add(message->slot, &message->u.vault, descriptor);
        return true;
    case LINK_PRELOAD_DROP:
        preload_remove(message->slot, message->u.vault.number);
        while (deferred_release_any()) /* nothing of this context is on the device */
            deferred_release_run();
        return true;
    case LINK_PING:
        answer.op = LINK_PONG;
        answer.u.ping = message->u.ping;
        link_send(&answer, -1);
        return true;
    case LINK_PRELOAD_END:
        link_send(&answer, -1);
        return true;
    default:
        return false;
    }
}

/* Waits until the supervisor gives this worker the device. A standby waits here for long, and
 * prepares for the sessions that it may have to resume. Returns false when the worker is to end. */
static bool begin_await(void)
{
    struct pollfd link = {LINK_FD, POLLIN, 0};
    struct link_message message;
    struct link_control control;
    int descriptor;
    ssize_t n;

    for (;;) {
        n = link_read(LINK_FD, &message, &control, &descriptor);
        if (n < 0 && errno == EAGAIN) {
            poll(&link, 1, -1);
            continue;
        }
        if (n != sizeof(message))
            return false;
        if (message.op == LINK_BEGIN)
            break;
        if (!standby_message(&message, descriptor))
            return false;
    }
    if (!message.u.resuming)
        preload_remove(LINK_SLOT_NONE, 0);
    quiet_resuming(message.u.resuming);
    return true;
}

/* Tells the supervisor why this worker cannot serve the device. Returns the exit status. */
static int give_up(const char *text)
{
    struct link_message message = {.op = LINK_FATAL, .slot = LINK_SLOT_NONE};

    message.u.fatal.status = GS_ERR_NO_DEVICE;
    message.u.fatal.kind = GS_FAULT_DEVICE;
    snprintf(message.text, sizeof(message.text), "%s", text);
    link_send(&message, -1);
    return 1;
}

/* Ignores the signals of a terminal or a service manager, which are for the supervisor: the worker
 * ends with it. Returns false when the supervisor has ended already. */
static bool supervisor_follow(void)
{
    struct pollfd link = {LINK_FD, 0, 0};
    sigset_t none;

    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* the supervisor had blocked them */
    return poll(&link, 1, 0) == 0;         /* no POLLHUP */
}

/* Takes over the descriptors that the supervisor has left to this process, and drops privileges.
 * Returns false on failure, with the reason in `text`. */
static bool process_begin(const char *kind, const char *bell_name, const char *code_directory,
                          struct link_stats **stats, char *text, size_t size)
{
    descriptors_close();
    descriptor_table_reserve(DESCRIPTOR_TABLE_SIZE);
    code_disk_start(code_directory);
    *stats = mmap(NULL, LINK_SLOTS_MAX * sizeof(**stats), PROT_READ | PROT_WRITE, MAP_SHARED,
                  LINK_STATS_FD, 0);
    if (*stats == MAP_FAILED) {
        snprintf(text, size, "the statistics cannot be mapped");
        return false;
    }
    if (!bell_open(bell_name)) {
        snprintf(text, size, "the doorbell queue cannot be opened");
        return false;
    }
    return privileges_drop(kind, text, size);
}

/* Opens the driver and the device, and makes what must exist before there are tenants. Returns
 * false on failure. `text` gets the reason or, on success, why "auto" chose the software device. */
static bool device_open(struct worker *made, const char *kind, int device, char *text, size_t size)
{
    /* Kernels are loaded with their module, because a kernel that is loaded at its first launch
     * makes every later launch wait for the device. cuBLAS has so many that the driver would take
     * seconds and gigabytes. So with cuBLAS, loading is lazy by default: module.c loads tenants'
     * modules whole, and blas/algorithm.c loads cuBLAS' kernels when they are wanted. */
    setenv("CUDA_MODULE_LOADING", library_excluded() ? "EAGER" : "LAZY", 1);
    /* A completion write makes its hardware queue, and all streams that share the queue, wait for
     * the kernel before it: with the default of 8 queues, the kernels of 16 tenants take twice the
     * time of one tenant's. */
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
    if (!driver_open(kind, made->info.driver, text, size))
        return false;
    CUresult result = context_open(made, device);
    if (!result)
        result = worker_build(made);
    if (!result)
        return true;
    if (made->info.device_count && (uint32_t)device >= made->info.device_count)
        snprintf(text, size, "the driver has %u, counted from 0", made->info.device_count);
    else
        driver_describe(text, size);
    return false;
}

int worker_main(int device, const char *kind, const char *bell_name, const char *code_directory)
{
    struct link_message ready = {.op = LINK_READY};
    struct worker *made = worker_begin();
    struct link_stats *stats;
    char text[sizeof(ready.text)];

    /* The start: the worker serves nobody yet. */
    log_init("gshared", NULL);
    prctl(PR_SET_NAME, "gshared-worker"); /* instead of "exe", which comes from /proc/self/exe */
    if (!supervisor_follow())
        return 0;
    if (!process_begin(kind, bell_name, code_directory, &stats, text, sizeof(text)) ||
        !device_open(made, kind, device, text, sizeof(text)))
        return give_up(text);
    snprintf(ready.text, sizeof(ready.text), "%s", text);
    ready.u.device = made->info;
    assembler_choose();
    link_send(&ready, -1);
    compiler_load();

    /* The worker is a standby. */
    if (!begin_await())
        _exit(0);

    /* The worker serves the device. Up to now, the cache belonged to the former worker. */
    if (!code_cache_open(LINK_CODE_FD, &made->info))
        log_warning("event=no-code-cache reason=%s", strerror(errno));
    if (!lost_init() || !prewake_init() || !service_start() || !loop_start())
        return give_up("the worker's threads cannot be started");
    /* _exit, because the driver's exit handlers would wait for tenants' kernels. */
    _exit(control_run(stats));
}
