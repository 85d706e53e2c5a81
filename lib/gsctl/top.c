/*
 * top.c - `gsctl top`: the tenants, live, with what each has done since the answer before. ncurses
 * sends a terminal only what has changed. Built without ncurses, the command says so.
 *
 * SIGINT, SIGTERM and SIGHUP come only while top waits for a key, so that the terminal is always
 * put back.
 */
#include <stdio.h>

#include "gsctl/gsctl.h"

#ifndef GS_NCURSES

int command_top(struct control *control, const struct command_options *options)
{
    (void)control, (void)options;
    return ask_failed(GS_ERR_NOT_SUPPORTED,
                      "this gsctl was built without ncurses: install libncurses-dev and build it "
                      "anew, or use 'gsctl ps --watch'");
}

#else

#include <ctype.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/names.h"
#include "common/util.h"

/* A tenant, and what it did a second since the sample before. */
struct row {
    struct ctl_tenant t;
    double gpu, launches, copied; /* gpu: seconds a second */
};

enum sort { SORT_SESSION, SORT_SMS, SORT_GPU, SORT_LAUNCHES, SORT_MEMORY };

struct top {
    struct control *control;
    uint64_t interval_ns;
    struct ctl_status_reply status;
    struct row *row; /* those shown, sorted */
    size_t count;
    struct ctl_tenant *last; /* of the sample before, by session */
    size_t last_count;
    uint64_t last_ns;
    enum sort sort;
    bool reversed;
    bool filtered; /* only the tenants of this user */
    uid_t user;
    uint64_t selected; /* session; 0: the first row's */
    char note[REQUEST_MESSAGE_MAX];
};

static volatile sig_atomic_t stopped; /* the signal that came; 0: none */

/* ---- Samples --------------------------------------------------------------------------------- */

static int by_session(const void *a, const void *b)
{
    const struct ctl_tenant *x = a, *y = b;

    return (x->session_id > y->session_id) - (x->session_id < y->session_id);
}

static double rate(uint64_t now, uint64_t before, uint64_t ns)
{
    return now > before && ns ? (double)(now - before) * 1e9 / (double)ns : 0;
}

static enum sort sorted_by; /* for qsort, which takes no argument */
static bool sorted_up;

static double sort_value(const struct row *row)
{
    switch (sorted_by) {
    case SORT_SMS:
        return row->t.sm_count;
    case SORT_GPU:
        return row->gpu;
    case SORT_LAUNCHES:
        return row->launches;
    case SORT_MEMORY:
        return (double)row->t.memory_used;
    default:
        return -(double)row->t.session_id; /* the first on top */
    }
}

/* The largest on top; those that are equal, by session. */
static int by_value(const void *a, const void *b)
{
    double x = sort_value(a), y = sort_value(b);
    int order = (x < y) - (x > y);

    if (order == 0)
        return by_session(&((const struct row *)a)->t, &((const struct row *)b)->t);
    return sorted_up ? -order : order;
}

static void rows_sort(struct top *top)
{
    sorted_by = top->sort;
    sorted_up = top->reversed;
    qsort(top->row, top->count, sizeof(*top->row), by_value);
}

static struct row row_make(const struct top *top, const struct ctl_tenant *t, uint64_t now)
{
    const struct ctl_tenant *before =
        top->last ? bsearch(t, top->last, top->last_count, sizeof(*t), by_session) : NULL;
    struct row row = {.t = *t};

    if (before) {
        row.gpu = rate(t->gpu_ns, before->gpu_ns, now - top->last_ns) * 1e-9;
        row.launches = rate(t->launches, before->launches, now - top->last_ns);
        row.copied = rate(t->copied_bytes, before->copied_bytes, now - top->last_ns);
    }
    return row;
}

static gs_status sample(struct top *top, char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_tenant *tenants = NULL;
    size_t count = 0;
    gs_status status = status_read(top->control, &top->status, message);
    uint64_t now;

    if (status == GS_OK)
        status = tenants_read(top->control, &tenants, &count, message);
    if (status != GS_OK) {
        free(tenants);
        return status;
    }
    now = clock_ns();
    qsort(tenants, count, sizeof(*tenants), by_session);
    top->row = memory_more(top->row, count, sizeof(*top->row));
    top->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!top->filtered || tenants[i].uid == top->user)
            top->row[top->count++] = row_make(top, &tenants[i], now);
    }
    free(top->last);
    top->last = tenants;
    top->last_count = count;
    top->last_ns = now;
    rows_sort(top);
    return GS_OK;
}

/* ---- The screen ------------------------------------------------------------------------------ */

#define HELP "q quit  k end session  u user  sort: n s g l m  r reverse  arrows select"

/* Columns in the order of the line; those that are wide only where there is room for all. */
static const struct column {
    const char *title;
    int width; /* below 0: aligned to the left */
    bool wide;
} columns[] = {{"SESSION", 7, false}, {"PID", 8, false},   {"USER", -8, false},
               {"SMS", 5, false},     {"GPU%", 6, false},  {"LAUNCH/s", 8, false},
               {"MEMORY", 9, false},  {"LIMIT", 9, false}, {"CLASS", -11, true},
               {"WEIGHT", 6, true},   {"LATE", 6, true},   {"COPIED/s", 10, true},
               {"STATE", -9, true},   {"NAME", -31, false}};

/* The text of a column in a row. */
static void cell_text(char out[FORMAT_MAX], const struct row *row, size_t column)
{
    const struct ctl_tenant *t = &row->t;

    switch (column) {
    case 0:
        snprintf(out, FORMAT_MAX, "%llu", (unsigned long long)t->session_id);
        break;
    case 1:
        snprintf(out, FORMAT_MAX, t->pid ? "%d" : "-", t->pid);
        break;
    case 2:
        format_user(out, t->uid);
        break;
    case 3:
        snprintf(out, FORMAT_MAX, t->sm_count ? "%u%s" : "-", t->sm_count, t->exclusive ? "!" : "");
        break;
    case 4:
        snprintf(out, FORMAT_MAX, "%.1f", row->gpu * 100);
        break;
    case 5:
        format_count(out, (uint64_t)(row->launches + 0.5));
        break;
    case 6:
        format_bytes(out, t->memory_used);
        break;
    case 7:
        if (t->memory_limit)
            format_bytes(out, t->memory_limit);
        else
            snprintf(out, FORMAT_MAX, "-");
        break;
    case 8:
        snprintf(out, FORMAT_MAX, "%s", class_name(t->cls));
        break;
    case 9:
        snprintf(out, FORMAT_MAX, "%u", t->weight);
        break;
    case 10:
        format_count(out, t->deadlines_missed);
        break;
    case 11:
        format_bytes(out, (uint64_t)row->copied);
        break;
    case 12:
        snprintf(out, FORMAT_MAX, "%s", state_name(t->state));
        break;
    default:
        snprintf(out, FORMAT_MAX, "%s", t->name);
        break;
    }
}

/* One line of the table; row NULL: the titles. */
static void line_draw(int y, const struct row *row)
{
    const bool wide = COLS >= 120;
    int x = 0;

    for (size_t i = 0; i < ARRAY_SIZE(columns) && x < COLS; i++) {
        char text[FORMAT_MAX];
        int width = columns[i].width;

        if (columns[i].wide && !wide)
            continue;
        if (row)
            cell_text(text, row, i);
        else
            snprintf(text, sizeof(text), "%s", columns[i].title);
        if (abs(width) > COLS - x)
            width = width < 0 ? x - COLS : COLS - x;
        mvprintw(y, x, "%*.*s", width, abs(width), text);
        x += abs(width) + 1;
    }
}

static size_t selected_row(const struct top *top)
{
    for (size_t i = 0; i < top->count; i++) {
        if (top->row[i].t.session_id == top->selected)
            return i;
    }
    return 0;
}

/* A line that ends where the terminal does. */
__attribute__((format(printf, 2, 3))) static void text_draw(int y, const char *format, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    mvaddnstr(y, 0, text, COLS);
}

static int head_draw(const struct top *top)
{
    const struct ctl_status_reply *r = &top->status;
    char up[FORMAT_MAX], used[FORMAT_MAX], total[FORMAT_MAX], user[FORMAT_MAX], more[80] = "";
    int y = 0;

    if (top->filtered)
        snprintf(more, sizeof(more), ", of %s: %zu", format_user(user, (uint32_t)top->user),
                 top->count);
    text_draw(y++, "gshare '%s', up %s; tenants: %u%s", top->control->instance,
              format_duration(up, r->uptime_ns), r->tenants, more);
    for (uint32_t i = 0; i < r->device_count && y < LINES - 4; i++) {
        more[0] = 0;
        if (r->device[i].faults)
            snprintf(more, sizeof(more), "  lost workers: %u", r->device[i].faults);
        /* The name comes last: it is what a narrow terminal may cut. */
        text_draw(y++, "device %u  %s%s  %u SMs  %s of %s  %s", i,
                  device_state_name(r->device[i].state), more, r->device[i].sm_count,
                  format_bytes(used, r->device[i].memory_used),
                  format_bytes(total, r->device[i].memory_total), r->device[i].name);
    }
    return y;
}

static void draw(const struct top *top, const char *prompt)
{
    size_t selected = selected_row(top), first = 0;
    int y, rows;

    erase();
    y = head_draw(top);
    attron(A_REVERSE);
    mvprintw(y, 0, "%*s", COLS, "");
    line_draw(y++, NULL);
    attroff(A_REVERSE);
    rows = LINES - 1 - y;
    if (rows > 0 && selected >= (size_t)rows)
        first = selected - (size_t)rows + 1;
    for (size_t i = first; i < top->count && y < LINES - 1; i++, y++) {
        if (i == selected)
            attron(A_BOLD);
        line_draw(y, &top->row[i]);
        if (i == selected)
            attroff(A_BOLD);
    }
    mvprintw(LINES - 1, 0, "%.*s", COLS - 1, prompt ? prompt : *top->note ? top->note : HELP);
    refresh();
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void stop(int signal)
{
    stopped = signal;
}

static void signals_take(sigset_t *former)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t blocked;

    sigemptyset(&blocked);
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
        sigaddset(&blocked, signals[i]);
        sigaction(signals[i], &(struct sigaction){.sa_handler = stop}, NULL);
    }
    sigprocmask(SIG_BLOCK, &blocked, former);
}

/* The next key; ERR: none came in time, or a signal. */
static int key_wait(uint64_t deadline, const sigset_t *unblocked)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    uint64_t now = clock_ns(), left = deadline > now ? deadline - now : 0;
    struct timespec t = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    int key = getch(); /* what ncurses has read already */

    if (key != ERR || stopped)
        return key;
    if (ppoll(&keys, 1, &t, unblocked) > 0 && keys.revents & (POLLHUP | POLLERR))
        stopped = SIGHUP; /* the terminal is gone */
    return stopped ? ERR : getch();
}

/* Asks on the last line. false: the answer was left with Escape or ended by a signal. */
static bool ask(const struct top *top, const sigset_t *unblocked, const char *question,
                char *answer, size_t size)
{
    char prompt[256];
    size_t used = 0;

    answer[0] = 0;
    while (!stopped) {
        int key;

        snprintf(prompt, sizeof(prompt), "%s%s", question, answer);
        draw(top, prompt);
        key = key_wait(clock_ns() + 3600000000000u, unblocked);
        if (key == '\n' || key == KEY_ENTER)
            return true;
        if (key == 27)
            return false;
        if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && used)
            answer[--used] = 0;
        else if (key > ' ' && key < 127 && used + 1 < size) {
            answer[used++] = (char)key;
            answer[used] = 0;
        }
    }
    return false;
}

static void user_choose(struct top *top, const sigset_t *unblocked)
{
    char name[64];

    if (!ask(top, unblocked, "only the tenants of user (none: all): ", name, sizeof(name)))
        return;
    if (*name && !user_parse(name, &top->user)) {
        snprintf(top->note, sizeof(top->note), "there is no user '%s'", name);
        return;
    }
    top->filtered = *name != 0;
}

static void session_end(struct top *top, const sigset_t *unblocked)
{
    char question[160], answer[8], user[FORMAT_MAX], message[REQUEST_MESSAGE_MAX];
    struct ctl_kill request = {.target = CTL_KILL_SESSION, .grace_ms = GRACE_MS};
    struct ctl_kill_reply reply;
    const struct ctl_tenant *t;

    if (top->count == 0)
        return;
    t = &top->row[selected_row(top)].t;
    request.id = t->session_id;
    snprintf(question, sizeof(question), "end session %llu of %s (%s)? [y/N] ",
             (unsigned long long)t->session_id, format_user(user, t->uid), t->name);
    if (!ask(top, unblocked, question, answer, sizeof(answer)) || tolower(answer[0]) != 'y')
        return;
    if (control_ask(top->control, &request.h, CTL_KILL, sizeof(request), &reply, sizeof(reply),
                    ask_deadline(), message) == GS_OK)
        snprintf(top->note, sizeof(top->note), "session %llu is being ended",
                 (unsigned long long)request.id);
    else
        snprintf(top->note, sizeof(top->note), "%s", message);
}

static void select_move(struct top *top, int by)
{
    size_t at = selected_row(top);

    if (by < 0 ? at > 0 : at + 1 < top->count)
        top->selected = top->row[by < 0 ? at - 1 : at + 1].t.session_id;
}

/* Does what the key says. true: the tenants are to be asked for at once. */
static bool key_do(struct top *top, int key, const sigset_t *unblocked)
{
    static const char sorts[] = "nsglm"; /* in the order of enum sort */
    const char *sort = key > 0 && key < 127 ? strchr(sorts, key) : NULL;

    top->note[0] = 0;
    if (sort) {
        top->sort = (enum sort)(sort - sorts);
        top->reversed = false;
    } else if (key == 'r') {
        top->reversed = !top->reversed;
    } else if (key == KEY_UP || key == KEY_DOWN) {
        select_move(top, key == KEY_UP ? -1 : 1);
    } else if (key == 'u') {
        user_choose(top, unblocked);
        return true;
    } else if (key == 'k') {
        session_end(top, unblocked);
        return true;
    }
    rows_sort(top);
    return false;
}

/* ---- The command ----------------------------------------------------------------------------- */

static gs_status run(struct top *top, const sigset_t *unblocked, char message[REQUEST_MESSAGE_MAX])
{
    uint64_t due = 0;
    int key = ERR;

    while (!stopped && key != 'q') {
        if (clock_ns() >= due) {
            gs_status status = sample(top, message);

            if (status != GS_OK)
                return status;
            due = clock_ns() + top->interval_ns;
        }
        draw(top, NULL);
        key = key_wait(due, unblocked);
        if (key != ERR && key != 'q' && key_do(top, key, unblocked))
            due = 0;
    }
    return GS_OK;
}

int command_top(struct control *control, const struct command_options *options)
{
    struct top top = {.control = control,
                      .interval_ns = options->watch_s * UINT64_C(1000000000),
                      .sort = SORT_GPU,
                      .filtered = options->target_given,
                      .user = (uid_t)options->id};
    char message[REQUEST_MESSAGE_MAX];
    sigset_t former;
    SCREEN *screen;
    gs_status status;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        usage("top is for a terminal; elsewhere: gsctl ps --watch");
    if (top.interval_ns == 0)
        top.interval_ns = WATCH_S * UINT64_C(1000000000);
    signals_take(&former);
    screen = newterm(NULL, stdout, stdin);
    if (!screen)
        usage("top: the terminal is of an unknown kind; set TERM");
    cbreak();
    noecho();
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    status = run(&top, &former, message);
    endwin();
    delscreen(screen);
    free(top.row);
    free(top.last);
    if (stopped) {
        signal(stopped, SIG_DFL);
        raise(stopped);
        sigprocmask(SIG_SETMASK, &former, NULL);
    }
    return status == GS_OK ? 0 : ask_failed(status, message);
}

#endif
