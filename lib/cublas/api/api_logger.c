/* api_logger.c - logs a line for each operation, to the destinations that the program has set. */
#include <pthread.h>
#include <stdio.h>

#include "cublas/op/operation.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool to_stdout, to_stderr;
static FILE *file;
static cublasLogCallback callback;

static void write_line(const char *line)
{
    cublasLogCallback called;

    pthread_mutex_lock(&lock);
    if (to_stdout)
        fputs(line, stdout);
    if (to_stderr)
        fputs(line, stderr);
    if (file != NULL) {
        fputs(line, file);
        fflush(file);
    }
    called = callback;
    pthread_mutex_unlock(&lock);
    /* The callback is called without the lock, since it may call cuBLAS. */
    if (called != NULL)
        called(line);
}

/* Turns logging on or off by the destinations. The caller holds the lock. */
static void wanted_note(void)
{
    operation_log(to_stdout || to_stderr || file != NULL || callback != NULL ? write_line : NULL);
}

CUBLAS_API cublasStatus_t cublasLoggerConfigure(int on, int log_to_stdout, int log_to_stderr,
                                                const char *file_name)
{
    FILE *opened = NULL;

    if (on && file_name != NULL && *file_name != '\0') {
        opened = fopen(file_name, "ae");
        if (opened == NULL)
            return CUBLAS_STATUS_INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    if (file != NULL)
        fclose(file);
    file = opened;
    to_stdout = on && log_to_stdout;
    to_stderr = on && log_to_stderr;
    wanted_note();
    pthread_mutex_unlock(&lock);
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API cublasStatus_t cublasSetLoggerCallback(cublasLogCallback user_callback)
{
    pthread_mutex_lock(&lock);
    callback = user_callback;
    wanted_note();
    pthread_mutex_unlock(&lock);
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API cublasStatus_t cublasGetLoggerCallback(cublasLogCallback *user_callback)
{
    if (user_callback == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *user_callback = callback;
    pthread_mutex_unlock(&lock);
    return CUBLAS_STATUS_SUCCESS;
}
