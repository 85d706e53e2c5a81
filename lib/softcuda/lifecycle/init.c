// cuInit, once in a process. State: its result, written under pthread_once.
#include <pthread.h>

#include "softcuda/engine/engine.h"
#include "softcuda/lifecycle/lifecycle.h"
#include "softcuda/memory/memory.h"

static CUresult init_result = CUDA_ERROR_NOT_INITIALIZED;
static pthread_once_t init_once = PTHREAD_ONCE_INIT;

// The engine's threads do not exist in a forked child, so it has no CUDA, as with the real driver.
static void child_after_fork(void)
{
    device_set_ready(false);
    init_result = CUDA_ERROR_NOT_INITIALIZED;
}

static void init_run(void)
{
    init_result = device_configure();
    if (!init_result && pthread_atfork(NULL, NULL, child_after_fork))
        init_result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!init_result)
        init_result = memory_init(device_config()->memory_bytes);
    if (!init_result)
        init_result = engine_init();
    if (!init_result)
        device_set_ready(true);
}

CUresult driver_init(void)
{
    pthread_once(&init_once, init_run);
    return init_result;
}
