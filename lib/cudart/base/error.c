/* error.c - see error.h. */
#include "cudart/base/error.h"

#include <stdatomic.h>
#include <string.h>

#include "cudart/base/report.h"

static _Thread_local cudaError_t last;
static bool forked; /* set while the process has one thread */
static atomic_flag memory_told = ATOMIC_FLAG_INIT, host_memory_told = ATOMIC_FLAG_INIT;

/* The errors by which sessions have ended. One per device of a process is enough. */
#define ENDS_MAX 8
static struct {
    _Atomic(gs_session) session; /* NULL: a free slot */
    _Atomic int error;           /* a cudaError_t; cudaSuccess: about to be set */
} ends[ENDS_MAX];

/* ---- Statuses -------------------------------------------------------------------------------- */

/* CUDA's error for the fault that ended the session. CUDA has none for another tenant's fault; it
 * gets cudaErrorMpsClientTerminated, as a client of MPS that is ended for another's fault does. */
static cudaError_t error_of_fault(gs_session session, gs_status status)
{
    gs_fault fault = GS_FAULT_INIT;

    if (status == GS_ERR_ILLEGAL_ADDRESS)
        return cudaErrorIllegalAddress;
    if (status == GS_ERR_INTERRUPTED)
        return cudaErrorMpsClientTerminated;
    if (status == GS_ERR_SERVER_LOST)
        return cudaErrorMpsRpcFailure;
    if (session == NULL || gs_last_fault(session, &fault) != GS_OK)
        return cudaErrorLaunchFailure;
    /* In an unfenced session the driver reports the fault, and libgshare has its error only in the
     * message. */
    if (strstr(fault.message, "CUDA_ERROR_ASSERT"))
        return cudaErrorAssert;
    if (strstr(fault.message, "CUDA_ERROR_ILLEGAL_ADDRESS"))
        return cudaErrorIllegalAddress;
    if (strstr(fault.message, "CUDA_ERROR_MISALIGNED_ADDRESS"))
        return cudaErrorMisalignedAddress;
    if (strstr(fault.message, "CUDA_ERROR_ILLEGAL_INSTRUCTION"))
        return cudaErrorIllegalInstruction;
    switch (fault.kind) {
    case GS_FAULT_ASSERT:
        return cudaErrorAssert;
    case GS_FAULT_STRAY:
        return cudaErrorIllegalAddress;
    case GS_FAULT_EVICTED:
        return cudaErrorLaunchTimeout;
    default:
        return cudaErrorLaunchFailure;
    }
}

/* CUDA's error does not say whose kernel it was, nor why. */
static void fault_report(gs_session session)
{
    gs_fault fault = GS_FAULT_INIT;

    if (session == NULL || gs_last_fault(session, &fault) != GS_OK || fault.message[0] == '\0')
        report_error("the session has ended: %s", gs_last_error_message());
    else if (fault.kernel[0] == '\0' || strstr(fault.message, fault.kernel) != NULL)
        report_error("the session has ended: %s", fault.message);
    else
        report_error("the session has ended: kernel %s: %s", fault.kernel, fault.message);
}

/* CUDA has one error for a limit of the session, a limit of its user, and a device that all tenants
 * have filled. A program that tries different sizes gets one line for each kind of memory; host
 * memory has limits of its own: user-host-mem, and host blocks. */
static void out_of_memory_report(atomic_flag *told, const char *kind)
{
    if (!atomic_flag_test_and_set(told))
        report_error("out of %s: %s", kind, gs_last_error_message());
}

/* CUDA has no error either for work that waits in vain behind other sessions' kernels. The message
 * names the session, and the command that ends it. */
static void timeout_report(void)
{
    report_once("not in time: %s", gs_last_error_message());
}

/* The index of the session's entry; -1: there is none. */
static int end_find(gs_session session)
{
    for (int i = 0; i < ENDS_MAX && session != NULL; i++) {
        if (atomic_load(&ends[i].session) == session)
            return i;
    }
    return -1;
}

/* As above, but makes an entry if there is none; -1: all slots are used. A slot before the
 * session's own may have become free since. */
static int end_of(gs_session session)
{
    const int found = end_find(session);

    for (int i = 0; i < ENDS_MAX && session != NULL && found < 0; i++) {
        gs_session there = NULL;

        if (atomic_compare_exchange_strong(&ends[i].session, &there, session) || there == session)
            return i;
    }
    return found;
}

/* The error of the first status that ended the session is kept. */
static cudaError_t error_stick(gs_session session, gs_status status)
{
    const int end = end_of(session);
    const cudaError_t error = error_sticky(session);
    int none = cudaSuccess;

    if (error != cudaSuccess)
        return error;
    if (end < 0)
        return error_of_fault(session, status);
    if (atomic_compare_exchange_strong(&ends[end].error, &none,
                                       (int)error_of_fault(session, status)))
        fault_report(session);
    return error_sticky(session);
}

/* Whether the session has ended because the server or the driver refused a record. Its calls return
 * the status of the refusal, which may be any. */
static bool is_refused(gs_session session)
{
    gs_fault fault = GS_FAULT_INIT;

    return session != NULL && gs_last_fault(session, &fault) == GS_OK &&
           (fault.kind == GS_FAULT_LAUNCH || fault.kind == GS_FAULT_REJECTED);
}

cudaError_t error_of(gs_session session, gs_status status)
{
    if (status != GS_OK && status != GS_NOT_READY && is_refused(session))
        return error_stick(session, status);
    switch (status) {
    case GS_OK:
        return cudaSuccess;
    case GS_NOT_READY:
        return cudaErrorNotReady;
    case GS_ERR_INVALID_HANDLE:
        return cudaErrorInvalidResourceHandle;
    case GS_ERR_QUOTA:
    case GS_ERR_NO_DEVICE_MEMORY:
        out_of_memory_report(&memory_told, "memory");
        return cudaErrorMemoryAllocation;
    case GS_ERR_NO_MEMORY:
    case GS_ERR_LIMIT:
        return cudaErrorMemoryAllocation;
    case GS_ERR_NO_SERVER:
        return cudaErrorMpsConnectionFailed;
    case GS_ERR_REFUSED:
        return cudaErrorDevicesUnavailable;
    case GS_ERR_VERSION:
        return cudaErrorInsufficientDriver;
    case GS_ERR_NO_DEVICE:
        return cudaErrorNoDevice;
    case GS_ERR_BAD_IMAGE:
        return cudaErrorNoKernelImageForDevice;
    case GS_ERR_NOT_FOUND:
        return cudaErrorInvalidDeviceFunction;
    case GS_ERR_LAUNCH_CONFIG:
        return cudaErrorInvalidConfiguration;
    case GS_ERR_NOT_SUPPORTED:
        return cudaErrorNotSupported;
    case GS_ERR_PERMISSION:
        return cudaErrorNotPermitted;
    case GS_ERR_TIMEOUT:
        if (session != NULL) /* else the attach has said it */
            timeout_report();
        return cudaErrorSystemNotReady;
    case GS_ERR_RECORDING:
        return cudaErrorStreamCaptureUnsupported;
    case GS_ERR_FORKED:
        return cudaErrorInitializationError;
    case GS_ERR_FAULT:
    case GS_ERR_ILLEGAL_ADDRESS:
    case GS_ERR_INTERRUPTED:
    case GS_ERR_SERVER_LOST:
        return error_stick(session, status);
    case GS_ERR_SYSTEM:
        return cudaErrorOperatingSystem;
    case GS_ERR_DRIVER:
    case GS_ERR_PROTOCOL:
        return cudaErrorUnknown;
    default: /* GS_ERR_INVALID_VALUE, GS_ERR_INVALID_POINTER, GS_ERR_PARAMS */
        return cudaErrorInvalidValue;
    }
}

cudaError_t error_of_host(gs_session session, gs_status status)
{
    if (status == GS_ERR_LIMIT || status == GS_ERR_NO_MEMORY)
        out_of_memory_report(&host_memory_told, "host memory");
    return error_of(session, status);
}

/* ---- The last error -------------------------------------------------------------------------- */

void error_forked_set(void)
{
    forked = true;
}

bool error_forked(void)
{
    return forked;
}

cudaError_t error_record(cudaError_t error)
{
    if (forked)
        error = cudaErrorInitializationError;
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last = error;
    return error;
}

cudaError_t error_sticky(gs_session session)
{
    const int end = end_find(session);

    return end >= 0 ? (cudaError_t)atomic_load(&ends[end].error) : cudaSuccess;
}

cudaError_t error_unsupported(const char *what)
{
    report_debug_once("%s is not supported", what);
    return cudaErrorNotSupported;
}

void error_forget(gs_session session)
{
    for (int i = 0; i < ENDS_MAX; i++) {
        if (atomic_load(&ends[i].session) != session)
            continue;
        atomic_store(&ends[i].error, cudaSuccess);
        atomic_store(&ends[i].session, NULL);
    }
}

cudaError_t error_last(bool clear)
{
    const cudaError_t error = last;

    if (clear)
        last = cudaSuccess;
    return error;
}
