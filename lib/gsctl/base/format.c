/* format.c - see format.h. */
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl/base/format.h"
#include "gsctl/base/memory.h"

const char *format_count(char out[FORMAT_MAX], uint64_t count)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};

    scaled_print(out, FORMAT_MAX, count, 1000, units, ARRAY_SIZE(units));
    return out;
}

const char *format_time(char out[FORMAT_MAX], uint64_t ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    size_t unit = 0;
    double value;

    while (unit + 1 < ARRAY_SIZE(units) && (double)ns >= 999.5 * units[unit].ns)
        unit++;
    value = (double)ns / units[unit].ns;
    if (ns == 0)
        snprintf(out, FORMAT_MAX, "-");
    else
        snprintf(out, FORMAT_MAX, value < 9.95 && unit > 0 ? "%.1f%s" : "%.0f%s", value,
                 units[unit].unit);
    return out;
}

const char *format_duration(char out[FORMAT_MAX], uint64_t ns)
{
    unsigned long long s = ns / 1000000000u;

    if (s < 60)
        snprintf(out, FORMAT_MAX, "%llu s", s);
    else if (s < 3600)
        snprintf(out, FORMAT_MAX, "%llu min %llu s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(out, FORMAT_MAX, "%llu h %llu min", s / 3600, s % 3600 / 60);
    else
        snprintf(out, FORMAT_MAX, "%llu d %llu h", s / 86400, s % 86400 / 3600);
    return out;
}

const char *format_user(char out[FORMAT_MAX], uint32_t uid)
{
    /* A user's sessions mostly come together, and each look-up reads a file. */
    static char last[FORMAT_MAX] = "others";
    static uint32_t last_uid = CTL_OTHERS;
    const struct passwd *user;

    if (uid != last_uid) {
        user = uid == CTL_OTHERS ? NULL : getpwuid(uid);
        if (uid == CTL_OTHERS)
            snprintf(last, sizeof(last), "others");
        else if (user)
            snprintf(last, sizeof(last), "%.31s", user->pw_name);
        else
            snprintf(last, sizeof(last), "%u", uid);
        last_uid = uid;
    }
    memcpy(out, last, sizeof(last));
    return out;
}

const char *format_worker(char out[FORMAT_MAX], const struct ctl_device *device)
{
    if (device->worker_pid)
        snprintf(out, FORMAT_MAX, "worker pid %d", device->worker_pid);
    else
        snprintf(out, FORMAT_MAX, "no worker");
    return out;
}

void device_title_print(uint32_t index, const struct ctl_device *d)
{
    if (*d->name)
        printf("device %u  %s, compute %u.%u, %u SMs\n", index, d->name, d->compute_major,
               d->compute_minor, d->sm_count);
    else
        printf("device %u  not known before its worker is ready\n", index);
}

/* ---- The terminal --------------------------------------------------------------------------- */

bool colour_wanted(void)
{
    const char *no = getenv("NO_COLOR");

    return isatty(STDOUT_FILENO) && (!no || !*no);
}

unsigned columns_wanted(void)
{
    const char *told = getenv("COLUMNS");
    struct winsize size;
    long columns = told ? strtol(told, NULL, 10) : 0;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        columns = size.ws_col;
    return columns >= 20 && columns <= 1000 ? (unsigned)columns : 80;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

void table_add(struct table *table, const char *text)
{
    if (table->cells == table->room) {
        table->room = table->room ? table->room * 2 : 64;
        table->cell = memory_more(table->cell, table->room, sizeof(table->cell[0]));
    }
    snprintf(table->cell[table->cells++], TABLE_CELL_MAX, "%s", text);
}

static bool column_dull(const struct table *table, unsigned column)
{
    const char *dull = table->dull ? table->dull[column] : NULL;

    for (unsigned at = column; dull && at < table->cells; at += table->columns) {
        if (strcmp(table->cell[at], dull) != 0 && strcmp(table->cell[at], "-") != 0)
            return false;
    }
    return dull != NULL;
}

/* The caller never declares the first or the last column dull. */
static void print_row(const struct table *table, const unsigned *width, unsigned row)
{
    for (unsigned c = 0; c < table->columns; c++) {
        if (width[c] == 0)
            continue;
        const char *text =
            row == 0 ? table->header[c] : table->cell[(row - 1) * table->columns + c];
        const char *gap = c ? "  " : "";

        if (table->right[c])
            printf("%s%*s", gap, (int)width[c], text);
        else if (c + 1 == table->columns)
            printf("%s%.*s", gap, (int)width[c], text);
        else
            printf("%s%-*s", gap, (int)width[c], text);
    }
}

static unsigned table_width(const struct table *table, const unsigned *width)
{
    unsigned sum = 0;

    for (unsigned c = 0; c < table->columns; c++)
        sum += width[c] ? width[c] + (c ? 2 : 0) : 0;
    return sum;
}

/* Leaves out or cuts columns, so that the terminal does not break the table's lines. */
static void table_narrow(const struct table *table, unsigned *width)
{
    const unsigned columns = columns_wanted(), last = table->columns - 1;
    unsigned wanted = table_width(table, width);

    for (unsigned i = 0; i < table->spare_count && wanted > columns; i++) {
        width[table->spare[i]] = 0;
        wanted = table_width(table, width);
    }
    if (wanted > columns && !table->right[last])
        width[last] = width[last] > wanted - columns ? width[last] - (wanted - columns) : 1;
}

void table_print(const struct table *table)
{
    unsigned width[TABLE_COLUMNS_MAX], rows = table->cells / table->columns;
    bool colour = colour_wanted();

    for (unsigned c = 0; c < table->columns; c++) {
        width[c] = column_dull(table, c) ? 0 : (unsigned)strlen(table->header[c]);
        for (unsigned r = 0; r < rows && width[c]; r++) {
            unsigned length = (unsigned)strlen(table->cell[r * table->columns + c]);
            width[c] = length > width[c] ? length : width[c];
        }
    }
    if (isatty(STDOUT_FILENO))
        table_narrow(table, width);
    for (unsigned r = 0; r <= rows; r++) {
        fputs(r == 0 && colour ? "\033[1m" : "", stdout);
        print_row(table, width, r);
        puts(r == 0 && colour ? "\033[0m" : "");
    }
}

void table_deinit(struct table *table)
{
    free(table->cell);
    table->cell = NULL;
}
