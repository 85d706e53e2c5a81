/* trace_read.c - see trace_read.h. */
#include "trace_read.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A strict reader of JSON ----------------------------------------------------------------- */

struct reader {
    const char *at;
    struct trace_file *file;
    size_t room;
};

static void blank(struct reader *r)
{
    while (*r->at && strchr(" \t\r\n", *r->at))
        r->at++;
}

static void token(struct reader *r, char c)
{
    blank(r);
    if (*r->at != c)
        test_fail(__FILE__, __LINE__, "'%c' expected at: %.60s", c, r->at);
    r->at++;
}

static void string_read(struct reader *r, char *text, size_t size)
{
    size_t length = 0;

    token(r, '"');
    while (*r->at != '"') {
        CHECK((unsigned char)*r->at >= ' ');
        if (*r->at == '\\') {
            CHECK(strchr("\"\\/bfnrtu", r->at[1]) != NULL && r->at[1]);
            if (r->at[1] == 'u')
                CHECK(strspn(r->at + 2, "0123456789abcdefABCDEF") >= 4);
            r->at += r->at[1] == 'u' ? 5 : 1;
        }
        if (length + 1 < size)
            text[length++] = *r->at;
        r->at++;
    }
    text[length] = 0;
    r->at++;
}

static double number_read(struct reader *r)
{
    char *end;
    const char *begin = r->at + (*r->at == '-');

    CHECK(isdigit((unsigned char)begin[0]) &&
          !(begin[0] == '0' && isdigit((unsigned char)begin[1])));
    const double number = strtod(r->at, &end);
    r->at = end;
    return number;
}

static void text_take(struct traced *e, const char *path, const char *text)
{
    if (!strcmp(path, ".ph"))
        e->ph = text[0];
    else if (!strcmp(path, ".name"))
        snprintf(e->name, sizeof(e->name), "%.127s", text);
    else if (!strcmp(path, ".cat"))
        snprintf(e->cat, sizeof(e->cat), "%.15s", text);
    else if (!strcmp(path, ".args.name"))
        snprintf(e->title, sizeof(e->title), "%.127s", text);
    else if (!strcmp(path, ".args.ended"))
        e->ended = !strcmp(text, "yes");
}

static void number_take(struct reader *r, struct traced *e, const char *path, double number)
{
    if (!strcmp(path, ".otherData.lost_events"))
        r->file->lost = (uint64_t)number;
    if (!e)
        return;
    const struct {
        const char *path;
        uint64_t *to;
    } members[] = {{".pid", &e->pid},
                   {".tid", &e->tid},
                   {".args.launches", &e->launches},
                   {".args.transfers", &e->transfers},
                   {".args.bytes", &e->bytes},
                   {".args.sms", &e->sms},
                   {".args.stream", &e->stream}};
    for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
        if (!strcmp(path, members[i].path))
            *members[i].to = (uint64_t)number;
    }
    if (!strcmp(path, ".ts"))
        e->ts = number;
    else if (!strcmp(path, ".dur"))
        e->dur = number;
    else if (!strcmp(path, ".args.issued_us"))
        e->issued = number;
    else if (!strcmp(path, ".args.pid"))
        e->process = (int64_t)number;
}

static void value_read(struct reader *r, struct traced *e, const char *path, unsigned depth);

static void object_read(struct reader *r, struct traced *e, const char *path, unsigned depth)
{
    char name[128], below[256];

    token(r, '{');
    blank(r);
    while (*r->at != '}') {
        string_read(r, name, sizeof(name));
        token(r, ':');
        snprintf(below, sizeof(below), "%.100s.%s", path, name);
        value_read(r, e, below, depth + 1);
        blank(r);
        if (*r->at != '}')
            token(r, ',');
    }
    r->at++;
}

static struct traced *event_add(struct reader *r)
{
    if (r->file->count == r->room) {
        r->room = r->room ? 2 * r->room : 1024;
        r->file->event = realloc(r->file->event, r->room * sizeof(*r->file->event));
        CHECK(r->file->event != NULL);
    }
    r->file->event[r->file->count] = (struct traced){.ph = 0};
    return &r->file->event[r->file->count++];
}

static void array_read(struct reader *r, struct traced *e, const char *path, unsigned depth)
{
    token(r, '[');
    blank(r);
    while (*r->at != ']') {
        if (!strcmp(path, ".traceEvents"))
            value_read(r, event_add(r), "", depth + 1);
        else
            value_read(r, e, path, depth + 1);
        blank(r);
        if (*r->at != ']')
            token(r, ',');
    }
    r->at++;
}

static void value_read(struct reader *r, struct traced *e, const char *path, unsigned depth)
{
    char text[256];

    CHECK(depth < 8);
    blank(r);
    if (*r->at == '{') {
        object_read(r, e, path, depth);
    } else if (*r->at == '[') {
        array_read(r, e, path, depth);
    } else if (*r->at == '"') {
        string_read(r, text, sizeof(text));
        if (e)
            text_take(e, path, text);
    } else if (!strncmp(r->at, "null", 4)) {
        r->at += 4;
    } else {
        number_take(r, e, path, number_read(r));
    }
}

/* ---- gsctl trace ----------------------------------------------------------------------------- */

struct words {
    const struct tracer *tracer;
    uid_t uid;
    const char *word, *value;
    int errors;
};

static void gsctl_become(void *argument)
{
    const struct words *w = argument;

    const char *const arguments[] = {"gsctl", "trace", "-o", "-", w->word, w->value, NULL};
    /* Another user need not be able to reach the build's folder. */
    const int program = open(test_build_path("bin/gsctl"), O_RDONLY | O_CLOEXEC);

    CHECK(program >= 0);
    if (w->uid)
        CHECK(setgid(w->uid) == 0 && setuid(w->uid) == 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(w->tracer->file, STDOUT_FILENO);
    dup2(w->errors, STDERR_FILENO);
    fexecve(program, (char *const *)(uintptr_t)arguments, environ);
    _exit(127);
}

static void said_read(struct tracer *tracer, const char *until)
{
    const uint64_t deadline = test_deadline(20000);
    size_t length = strlen(tracer->said);

    while (!until || !strstr(tracer->said, until)) {
        struct pollfd events = {tracer->errors, POLLIN, 0};

        if (clock_ns() > deadline)
            test_fail(__FILE__, __LINE__, "gsctl trace said in vain: %s", tracer->said);
        if (poll(&events, 1, 100) <= 0)
            continue;
        ssize_t n = read(tracer->errors, tracer->said + length, sizeof(tracer->said) - 1 - length);
        if (n <= 0)
            return;
        length += (size_t)n;
        tracer->said[length] = 0;
    }
}

void tracer_start(struct tracer *tracer, uid_t uid, const char *word, const char *value)
{
    int pipe_fd[2];

    *tracer = (struct tracer){.file = memfd_create("trace", MFD_CLOEXEC)};
    CHECK(tracer->file >= 0 && pipe2(pipe_fd, O_CLOEXEC) == 0);
    struct words words = {tracer, uid, word, value, pipe_fd[1]};
    tracer->pid = tenant_start(gsctl_become, &words);
    tracer->errors = pipe_fd[0];
    close(pipe_fd[1]);
    said_read(tracer, "gsctl: tracing\n");
}

int tracer_end(struct tracer *tracer, int signal)
{
    if (signal)
        kill(tracer->pid, signal);
    said_read(tracer, NULL);
    close(tracer->errors);
    return tenant_wait(tracer->pid, 30);
}

void tracer_read(const struct tracer *tracer, struct trace_file *file)
{
    static struct traced *former;
    struct reader r = {.file = file};
    struct stat st;

    free(former);
    *file = (struct trace_file){.count = 0};
    CHECK(fstat(tracer->file, &st) == 0 && st.st_size > 0);
    char *text = malloc((size_t)st.st_size + 1);
    CHECK(text && pread(tracer->file, text, (size_t)st.st_size, 0) == st.st_size);
    text[st.st_size] = 0;
    r.at = text;
    value_read(&r, NULL, "", 0);
    blank(&r);
    CHECK(*r.at == 0);
    free(text);
    former = file->event;
}

void tracer_finish(struct tracer *tracer, struct trace_file *file)
{
    const int status = tracer_end(tracer, SIGINT);

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        test_fail(__FILE__, __LINE__, "gsctl trace ended with %x: %s", status, tracer->said);
    tracer_read(tracer, file);
    close(tracer->file);
}

/* ---- Looking --------------------------------------------------------------------------------- */

uint64_t traced_process(const struct trace_file *file, const char *text)
{
    for (size_t i = 0; i < file->count; i++) {
        const struct traced *e = &file->event[i];
        if (e->ph == 'M' && !strcmp(e->name, "process_name") && strstr(e->title, text))
            return e->pid;
    }
    return 0;
}

uint64_t traced_launches(const struct trace_file *file, uint64_t pid)
{
    uint64_t launches = 0;

    for (size_t i = 0; i < file->count; i++) {
        if (file->event[i].pid == pid && !strcmp(file->event[i].cat, "device"))
            launches += file->event[i].launches;
    }
    return launches;
}

uint64_t traced_submissions(const struct trace_file *file, uint64_t pid, const char *name)
{
    uint64_t count = 0;

    for (size_t i = 0; i < file->count; i++) {
        const struct traced *e = &file->event[i];
        count +=
            e->pid == pid && !strcmp(e->cat, "submission") && (!name || !strcmp(e->name, name));
    }
    return count;
}

const struct traced *traced_find(const struct trace_file *file, char ph, const char *name)
{
    for (size_t i = 0; i < file->count; i++) {
        if (file->event[i].ph == ph && !strcmp(file->event[i].name, name))
            return &file->event[i];
    }
    return NULL;
}

/* The submission of the stream's work number `n`, launches and transfers counted. */
static const struct traced *submission(const struct trace_file *file, const struct traced *span,
                                       uint64_t n)
{
    for (size_t i = 0; i < file->count; i++) {
        const struct traced *e = &file->event[i];
        if (e->pid == span->pid && !strcmp(e->cat, "submission") && e->stream == span->tid - 10 &&
            strcmp(e->name, "event") != 0 && strcmp(e->name, "wait") != 0 && n-- == 0)
            return e;
    }
    test_fail(__FILE__, __LINE__, "%s was never submitted", span->name);
}

void traced_check_clock(const struct trace_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        const struct traced *span = &file->event[i];
        const struct traced *before = NULL;
        uint64_t done = 0;

        CHECK(span->ts >= 0 && span->dur >= 0);
        if (strcmp(span->cat, "device") != 0)
            continue;
        for (size_t k = 0; k < i; k++) {
            const struct traced *e = &file->event[k];
            if (strcmp(e->cat, "device") != 0 || e->pid != span->pid || e->tid != span->tid)
                continue;
            before = e;
            done += e->launches + e->transfers;
        }
        CHECK(!before || span->ts >= before->ts + before->dur - 0.002);
        CHECK(span->ts >= submission(file, span, done)->ts - 0.002);
        CHECK(span->ts + span->dur >= span->issued - 0.002);
    }
}
