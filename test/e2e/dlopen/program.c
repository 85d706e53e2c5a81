/*
 * program.c - a program that is not linked with libgshare, loads it by dlopen and computes:
 *
 *     dlopen threads LIBRARY              in several threads at once, each with dlclose
 *     dlopen unload LIBRARY               a thread that had an error ends after dlclose
 *     dlopen keys LIBRARY                 when the process has all its pthread keys
 *     dlopen surplus LIBRARY 64.so 1.so   when copies of these have used all static TLS
 *
 * Prints "right" and exits with 0, or says what was wrong.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gshare.h"

#define THREADS 8
#define WORDS   64

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

static const char *library;

static const char ptx[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                          ".visible .entry square(.param .u64 out)\n"
                          "{\n"
                          "    .reg .b32 %r<2>;\n"
                          "    .reg .b64 %rd<3>;\n"
                          "    ld.param.u64   %rd1, [out];\n"
                          "    mov.u32        %r1, %tid.x;\n"
                          "    mul.wide.u32   %rd2, %r1, 4;\n"
                          "    add.s64        %rd1, %rd1, %rd2;\n"
                          "    mul.lo.s32     %r1, %r1, %r1;\n"
                          "    st.global.u32  [%rd1], %r1;\n"
                          "    ret;\n"
                          "}\n";

static void *loaded(void)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        FAIL("%s", dlerror());
    return handle;
}

static void *symbol(void *handle, const char *name)
{
    void *found = dlsym(handle, name);

    if (!found)
        FAIL("%s", dlerror());
    return found;
}
#define FUNCTION(handle, name) ((__typeof__(&(name)))symbol(handle, #name))

/* Fails to attach, and checks that the thread then has a message with this part. */
static void error_make(void *handle, const char *part)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    const char *message = FUNCTION(handle, gs_last_error_message)();

    if (*message)
        FAIL("before the first error: %s", message);
    params.instance = "no/such";
    if (FUNCTION(handle, gs_attach)(&params, &session) != GS_ERR_INVALID_VALUE)
        FAIL("a wrong instance was accepted");
    message = FUNCTION(handle, gs_last_error_message)();
    if (!strstr(message, part))
        FAIL("the message is '%s'", message);
}

static void compute(void *handle)
{
    __typeof__(&gs_last_error_message) message = FUNCTION(handle, gs_last_error_message);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, WORDS);
    unsigned words[WORDS];
    gs_session session;
    gs_module module;
    gs_kernel square;
    gs_devptr out;

    if (FUNCTION(handle, gs_attach)(NULL, &session) ||
        FUNCTION(handle, gs_module_load)(session, ptx, 0, &module) ||
        FUNCTION(handle, gs_kernel_get)(module, "square", &square) ||
        FUNCTION(handle, gs_malloc)(session, sizeof(words), &out) ||
        FUNCTION(handle, gs_launch)(NULL, square, &config, (void *[]){&out}) ||
        FUNCTION(handle, gs_memcpy_dtoh)(session, words, out, sizeof(words)) ||
        FUNCTION(handle, gs_detach)(session))
        FAIL("%s", message());
    for (unsigned i = 0; i < WORDS; i++) {
        if (words[i] != i * i)
            FAIL("word %u is %u", i, words[i]);
    }
}

/* ---- threads ---- */

static void *load_and_compute(void *unused)
{
    void *handle = loaded();

    error_make(handle, "no/such");
    compute(handle);
    dlclose(handle);
    return unused;
}

static void threads(void)
{
    pthread_t thread[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        if (pthread_create(&thread[i], NULL, load_and_compute, NULL))
            FAIL("pthread_create");
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* ---- unload ---- */

static pthread_barrier_t had_error, closed;

static void *error_then_end(void *handle)
{
    error_make(handle, "no/such");
    pthread_barrier_wait(&had_error);
    pthread_barrier_wait(&closed);
    return NULL;
}

static void unload(void)
{
    void *handle = loaded();
    pthread_t thread;
    int status = 1;
    pid_t child;

    compute(handle); /* registers what fork() calls */
    pthread_barrier_init(&had_error, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    if (pthread_create(&thread, NULL, error_then_end, handle))
        FAIL("pthread_create");
    pthread_barrier_wait(&had_error);
    dlclose(handle);
    child = fork();
    if (child == 0)
        _exit(0);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        FAIL("a fork after dlclose: status %d", status);
    pthread_barrier_wait(&closed);
    pthread_join(thread, NULL);
}

/* ---- keys ---- */

static void *error_without_key(void *handle)
{
    /* There is no room for more than the status. */
    if (!strstr(FUNCTION(handle, gs_last_error_message)(), "argument"))
        FAIL("no text: '%s'", FUNCTION(handle, gs_last_error_message)());
    return NULL;
}

static void keys(void)
{
    pthread_key_t key;
    pthread_t thread;
    void *handle;

    while (!pthread_key_create(&key, NULL))
        ;
    handle = loaded();
    error_make(handle, FUNCTION(handle, gs_strerror)(GS_ERR_INVALID_VALUE));
    if (pthread_create(&thread, NULL, error_without_key, handle))
        FAIL("pthread_create");
    pthread_join(thread, NULL);
    compute(handle);
    dlclose(handle);
}

/* ---- surplus ---- */

/* Loads copies of a library until the loader has no static TLS left for one; returns how many. */
static unsigned use_up(const char *file)
{
    for (unsigned count = 0; count < 4096; count++) {
        char copy[] = "/tmp/gshare-surplus-XXXXXX";
        int from = open(file, O_RDONLY | O_CLOEXEC), to = mkstemp(copy);
        struct stat st;
        void *handle;

        if (from < 0 || to < 0 || fstat(from, &st) ||
            sendfile(to, from, NULL, (size_t)st.st_size) != st.st_size)
            FAIL("cannot copy %s", file);
        close(from);
        close(to);
        handle = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
        unlink(copy);
        if (!handle && !strstr(dlerror(), "static TLS"))
            FAIL("%s does not load", copy);
        if (!handle)
            return count;
    }
    FAIL("static TLS has no end");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        FAIL("Usage: dlopen MODE LIBRARY [SURPLUS...]");
    library = argv[2];
    for (int i = 3; i < argc; i++)
        printf("%u times %s\n", use_up(argv[i]), argv[i]);
    if (!strcmp(argv[1], "unload"))
        unload();
    else if (!strcmp(argv[1], "keys"))
        keys();
    else
        threads();
    puts("right");
    return 0;
}
