/*
 * top.c - `gsctl top`: the tenants, live, with what each has done since the answer before. ncurses
 * sends a terminal only what has changed. Built without ncurses, the command says so; --json does
 * without a terminal (top_sample.c).
 *
 * SIGINT, SIGTERM and SIGHUP come only while top waits for a key, so that the terminal is always
 * put back.
 */
#include <stdio.h>

#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/base/format.h"
#include "gsctl/base/options.h"
#include "gsctl/top/top.h"

#ifndef GS_NCURSES

int command_top(struct control *control, const struct command_options *options)
{
    if (options->json)
        return top_json(control, options);
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

struct top {
    struct top_sample sample;
    uint64_t interval_ns;
    uint64_t selected; /* session; 0: the first row's */
    char note[REQUEST_MESSAGE_MAX];
};

static volatile sig_atomic_t stopped; /* the signal that came; 0: none */

/* ---- The screen ------------------------------------------------------------------------------ */

#define HELP "q quit  k end session  u user  sort: " TOP_SORTS "  r reverse  arrows select"

/* Draws one line of the table; row NULL: the titles. */
static void line_draw(int y, const struct top_row *row)
{
    int x = 0;

    for (size_t i = 0; i < top_column_count && x < COLS; i++) {
        const struct top_column *column = &top_columns[i];
        char text[FORMAT_MAX];
        int width = column->width;

        if (column->from > COLS)
            continue;
        if (row)
            column->text(text, row);
        else
            snprintf(text, sizeof(text), "%s", column->title);
        if (abs(width) > COLS - x)
            width = width < 0 ? x - COLS : COLS - x;
        mvprintw(y, x, "%*.*s", width, abs(width), text);
        x += abs(width) + 1;
    }
}

static size_t selected_row(const struct top *top)
{
    for (size_t i = 0; i < top->sample.count; i++) {
        if (top->sample.row[i].t.session_id == top->selected)
            return i;
    }
    return 0;
}

/* Draws a line, cut at the terminal's width. */
__attribute__((format(printf, 2, 3))) static void text_draw(int y, const char *format, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    mvaddnstr(y, 0, text, COLS);
}

/* Writes the selected session's pid and whole name, for which the table may have no room. */
static void selected_text(char out[96], const struct top *top)
{
    const struct ctl_tenant *t = &top->sample.row[selected_row(top)].t;
    char pid[FORMAT_MAX] = "-";

    out[0] = 0;
    if (COLS >= TOP_PIDS_FROM || top->sample.count == 0)
        return;
    if (t->pid)
        snprintf(pid, sizeof(pid), "%d", t->pid);
    snprintf(out, 96, " | %llu: pid %s, %s", (unsigned long long)t->session_id, pid, t->name);
}

static int head_draw(const struct top *top)
{
    const struct ctl_status_reply *r = &top->sample.status;
    char up[FORMAT_MAX], used[FORMAT_MAX], total[FORMAT_MAX], user[FORMAT_MAX], more[80] = "";
    char selected[96];
    int y = 0;

    if (top->sample.filtered)
        snprintf(more, sizeof(more), ", of %s: %zu", format_user(user, (uint32_t)top->sample.user),
                 top->sample.count);
    selected_text(selected, top);
    text_draw(y++, "gshare '%s', up %s; tenants: %u%s%s", top->sample.control->instance,
              format_duration(up, r->uptime_ns), r->tenants, more, selected);
    for (uint32_t i = 0; i < r->device_count && y < LINES - 4; i++) {
        more[0] = 0;
        if (r->device[i].faults)
            snprintf(more, sizeof(more), "  lost workers: %u", r->device[i].faults);
        /* The name comes last, since a narrow terminal may cut it. */
        text_draw(y++, "device %u  %s%s  %u SMs  %s of %s  %s", i,
                  device_state_name(r->device[i].state), more, r->device[i].sm_count,
                  size_rounded(used, r->device[i].memory_used),
                  size_rounded(total, r->device[i].memory_total), r->device[i].name);
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
    for (size_t i = first; i < top->sample.count && y < LINES - 1; i++, y++) {
        if (i == selected)
            attron(A_BOLD);
        line_draw(y, &top->sample.row[i]);
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

/* Returns the next key; ERR: none came in time, or a signal came. */
static int key_wait(uint64_t deadline, const sigset_t *unblocked)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    uint64_t now = clock_ns(), left = deadline > now ? deadline - now : 0;
    struct timespec t = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    int key = getch(); /* a key that ncurses has read already */

    if (key != ERR || stopped)
        return key;
    if (ppoll(&keys, 1, &t, unblocked) > 0 && keys.revents & (POLLHUP | POLLERR))
        stopped = SIGHUP; /* the terminal is gone */
    return stopped ? ERR : getch();
}

/* Asks on the last line. Returns false if the user pressed Escape or a signal came. */
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
    if (*name && !user_parse(name, &top->sample.user)) {
        snprintf(top->note, sizeof(top->note), "there is no user '%s'", name);
        return;
    }
    top->sample.filtered = *name != 0;
}

static void session_end(struct top *top, const sigset_t *unblocked)
{
    char question[160], answer[8], user[FORMAT_MAX], message[REQUEST_MESSAGE_MAX];
    struct ctl_kill request = {.target = CTL_KILL_SESSION, .grace_ms = GRACE_MS};
    struct ctl_kill_reply reply;
    const struct ctl_tenant *t;

    if (top->sample.count == 0)
        return;
    t = &top->sample.row[selected_row(top)].t;
    request.id = t->session_id;
    snprintf(question, sizeof(question), "end session %llu of %s (%s)? [y/N] ",
             (unsigned long long)t->session_id, format_user(user, t->uid), t->name);
    if (!ask(top, unblocked, question, answer, sizeof(answer)) || tolower(answer[0]) != 'y')
        return;
    if (control_ask(top->sample.control, &request.h, CTL_KILL, sizeof(request), &reply,
                    sizeof(reply), ask_deadline(), message) == GS_OK)
        snprintf(top->note, sizeof(top->note), "session %llu is being ended",
                 (unsigned long long)request.id);
    else
        snprintf(top->note, sizeof(top->note), "%s", message);
}

static void select_move(struct top *top, int by)
{
    size_t at = selected_row(top);

    if (by < 0 ? at > 0 : at + 1 < top->sample.count)
        top->selected = top->sample.row[by < 0 ? at - 1 : at + 1].t.session_id;
}

/* Handles a key. Returns true if the tenants must be read again at once. */
static bool key_do(struct top *top, int key, const sigset_t *unblocked)
{
    const char *sort = key > 0 && key < 127 && isalpha(key) ? strchr(TOP_SORTS, key) : NULL;

    top->note[0] = 0;
    if (sort) {
        top->sample.sort = (enum top_sort)((sort - TOP_SORTS) / 2);
        top->sample.reversed = false;
    } else if (key == 'r') {
        top->sample.reversed = !top->sample.reversed;
    } else if (key == KEY_UP || key == KEY_DOWN) {
        select_move(top, key == KEY_UP ? -1 : 1);
    } else if (key == 'u') {
        user_choose(top, unblocked);
        return true;
    } else if (key == 'k') {
        session_end(top, unblocked);
        return true;
    }
    top_sample_sort(&top->sample);
    return false;
}

/* ---- The command ----------------------------------------------------------------------------- */

static gs_status run(struct top *top, const sigset_t *unblocked, char message[REQUEST_MESSAGE_MAX])
{
    uint64_t due = 0;
    int key = ERR;

    while (!stopped && key != 'q') {
        if (clock_ns() >= due) {
            gs_status status = top_sample_take(&top->sample, message);

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
    struct top top = {.sample = top_sample_of(control, options),
                      .interval_ns = options->watch_s * UINT64_C(1000000000)};
    char message[REQUEST_MESSAGE_MAX];
    sigset_t former;
    SCREEN *screen;
    gs_status status;

    if (options->json)
        return top_json(control, options);
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        usage("top is for a terminal; elsewhere: gsctl top --json, or gsctl ps --watch");
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
    top_sample_deinit(&top.sample);
    if (stopped) {
        signal(stopped, SIG_DFL);
        raise(stopped);
        sigprocmask(SIG_SETMASK, &former, NULL);
    }
    return status == GS_OK ? 0 : ask_failed(status, message);
}

#endif
