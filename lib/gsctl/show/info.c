/* info.c - `gsctl info`: prints the devices, and a map of their SMs with a row for each session and
 * each reservation, and a cell for each SM. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/rows.h"
#include "gsctl/ask/server.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/show/show.h"

#define LABEL_MAX 64

/* The characters of cells, which show the state of an SM. */
enum {
    CELL_NONE = '.',
    CELL_GRANTED = '#',
    CELL_ALONE = 'X',
    CELL_RESERVED = 'R',
    CELL_HEADROOM = 'L'
};

/* The SMs of one device by their use. */
struct map {
    uint32_t sm_count;
    struct sm_mask granted, alone, reserved, headroom, none;
};

static struct map map_make(const struct rows *rows, uint32_t device, uint32_t sm_count)
{
    struct map map = {.sm_count = sm_count < SM_MASK_SMS ? sm_count : SM_MASK_SMS};

    for (size_t i = 0; i < rows->count; i++) {
        const struct ctl_row *row = &rows->row[i];
        struct sm_mask sms = sm_mask_of(row->sm_mask);

        if (row->device != (int32_t)device)
            continue;
        if (row_target(row) == CTL_DEVICE)
            map.headroom = sms;
        else if (row_target(row) == CTL_RESERVATION)
            map.reserved = sm_mask_or(map.reserved, sms);
        else if (row_target(row) == CTL_TENANT && row->exclusive)
            map.alone = sm_mask_or(map.alone, sms);
        if (row_target(row) == CTL_TENANT)
            map.granted = sm_mask_or(map.granted, sms);
    }
    map.none = sm_mask_minus(sm_mask_first(sm_count), sm_mask_or(map.granted, map.reserved));
    return map;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static const char *cell_colour(char cell)
{
    switch (cell) {
    case CELL_GRANTED:
        return "\033[32m";
    case CELL_ALONE:
        return "\033[1;35m";
    case CELL_RESERVED:
        return "\033[33m";
    case CELL_HEADROOM:
        return "\033[36m";
    default:
        return "\033[2m";
    }
}

/* One row of the map, from the first to the last SM. */
struct line {
    char label[LABEL_MAX];
    char cell[SM_MASK_SMS];
};

static void cells_set(struct line *line, const struct map *map, const struct sm_mask *sms,
                      char cell)
{
    for (uint32_t sm = 0; sm < map->sm_count && sm < SM_MASK_SMS; sm++) {
        if (sm_mask_has(sms, sm))
            line->cell[sm] = cell;
    }
}

static bool line_of_row(struct line *line, const struct map *map, const struct ctl_row *row)
{
    struct sm_mask sms = sm_mask_of(row->sm_mask);
    char user[FORMAT_MAX];

    memset(line->cell, CELL_NONE, sizeof(line->cell));
    switch (row_target(row)) {
    case CTL_RESERVATION:
        snprintf(line->label, sizeof(line->label), "reservation %s", row->name);
        cells_set(line, map, &sms, CELL_RESERVED);
        return true;
    case CTL_TENANT:
        snprintf(line->label, sizeof(line->label), "%llu %s %s", row_id(row),
                 format_user(user, row->uid), row->name);
        cells_set(line, map, &sms, row->exclusive ? CELL_ALONE : CELL_GRANTED);
        return true;
    case CTL_DEVICE:
        snprintf(line->label, sizeof(line->label), "for latency work");
        cells_set(line, map, &sms, CELL_HEADROOM);
        return row->sm_count != 0;
    default:
        return false;
    }
}

static void line_of_all(struct line *line, const struct map *map)
{
    memset(line->cell, CELL_NONE, sizeof(line->cell));
    snprintf(line->label, sizeof(line->label), "all");
    cells_set(line, map, &map->granted, CELL_GRANTED);
    cells_set(line, map, &map->reserved, CELL_RESERVED);
    cells_set(line, map, &map->alone, CELL_ALONE);
}

static void line_print(const struct line *line, unsigned label, uint32_t from, uint32_t to)
{
    bool colour = colour_wanted();
    char last = 0;

    printf("%-*.*s  ", (int)label, (int)label, line->label);
    for (uint32_t sm = from; sm < to; sm++) {
        if (colour && line->cell[sm] != last)
            printf("\033[0m%s", cell_colour(line->cell[sm]));
        last = line->cell[sm];
        putchar(last);
    }
    puts(colour ? "\033[0m" : "");
}

/* Prints the number of every tenth SM, above its cell. */
static void numbers_print(unsigned label, uint32_t from, uint32_t to)
{
    printf("%-*s  ", (int)label, "SM");
    for (uint32_t sm = from; sm < to; sm += 10)
        printf("%-*u", sm + 10 < to ? 10 : 0, sm);
    putchar('\n');
}

/* Prints the map. A line has as many SMs, in tens, as fit the terminal; the others follow below. */
static void map_print(const struct rows *rows, uint32_t device, const struct map *map)
{
    const unsigned columns = columns_wanted();
    unsigned label = 2, count = 0, width;
    struct line *lines = memory_more(NULL, rows->count + 1, sizeof(*lines));

    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i].device == (int32_t)device)
            count += line_of_row(&lines[count], map, &rows->row[i]);
    }
    line_of_all(&lines[count++], map);
    for (unsigned i = 0; i < count; i++)
        label = strlen(lines[i].label) > label ? (unsigned)strlen(lines[i].label) : label;
    label = label > columns / 3 ? columns / 3 : label;
    width = (columns - label - 2) / 10 * 10;
    width = width ? width : 10;
    for (uint32_t from = 0; from < map->sm_count; from += width) {
        uint32_t to = from + width < map->sm_count ? from + width : map->sm_count;

        putchar('\n');
        numbers_print(label, from, to);
        for (unsigned i = 0; i < count; i++)
            line_print(&lines[i], label, from, to);
    }
    free(lines);
}

static void legend_print(void)
{
    static const struct {
        char cell;
        const char *text;
    } legend[] = {{CELL_GRANTED, "granted"},
                  {CELL_ALONE, "exclusive"},
                  {CELL_RESERVED, "reserved"},
                  {CELL_HEADROOM, "left to latency work"},
                  {CELL_NONE, "none (all: free)"}};
    bool colour = colour_wanted();

    putchar('\n');
    for (size_t i = 0; i < ARRAY_SIZE(legend); i++)
        printf("%s%s%c%s %s", i ? "  " : "", colour ? cell_colour(legend[i].cell) : "",
               legend[i].cell, colour ? "\033[0m" : "", legend[i].text);
    putchar('\n');
}

static void hidden_print(const struct ctl_device *d, const struct rows *rows, uint32_t device)
{
    const uint32_t hidden = rows_hidden(rows, device, d->tenants);

    if (hidden)
        printf(
            "          sessions of other users that are not shown: %u; their SMs count as free\n",
            hidden);
}

static void device_print(const struct ctl_status_reply *reply, const struct rows *rows,
                         uint32_t device)
{
    const struct ctl_device *d = &reply->device[device];
    struct map map = map_make(rows, device, d->sm_count);
    char used[FORMAT_MAX], total[FORMAT_MAX];

    device_title_print(device, d);
    printf("          %s%s%s, %s\n", d->driver, *d->driver ? ", " : "", format_worker(used, d),
           device_state_name(d->state));
    if (!*d->name)
        return;
    printf("          memory %s of %s\n          SMs %u granted (%u exclusive), %u reserved, %u "
           "free\n",
           size_rounded(used, d->memory_used), size_rounded(total, d->memory_total),
           sm_mask_count(&map.granted), sm_mask_count(&map.alone), sm_mask_count(&map.reserved),
           sm_mask_count(&map.none));
    hidden_print(d, rows, device);
    map_print(rows, device, &map);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_sms(const char *name, const struct sm_mask *sms)
{
    char text[SM_MASK_TEXT_MAX];

    json_text(name, sm_mask_print(text, sizeof(text), sms));
}

static void json_row(const struct ctl_row *row)
{
    struct sm_mask sms = sm_mask_of(row->sm_mask);

    if (row_target(row) != CTL_RESERVATION && row_target(row) != CTL_TENANT)
        return;
    json_open(NULL, '{');
    json_text("kind", target_name(row_target(row)));
    if (row_target(row) == CTL_TENANT) {
        json_number("session", row_id(row));
        json_user(row->uid);
        json_number("exclusive", row->exclusive);
        json_text("reservation", row->reservation);
    }
    json_text("name", row->name);
    json_number("sm_count", row->sm_count);
    json_sms("sms", &sms);
    json_close('}');
}

static void device_json(const struct ctl_status_reply *reply, const struct rows *rows,
                        uint32_t device)
{
    const struct ctl_device *d = &reply->device[device];
    struct map map = map_make(rows, device, d->sm_count);

    json_open(NULL, '{');
    json_number("index", device);
    json_text("name", d->name);
    json_text("driver", d->driver);
    json_number("sm_count", d->sm_count);
    json_number("memory_used", d->memory_used);
    json_number("memory_total", d->memory_total);
    json_pid("worker_pid", d->worker_pid);
    json_text("state", device_state_name(d->state));
    json_sms("granted", &map.granted);
    json_sms("exclusive", &map.alone);
    json_sms("reserved", &map.reserved);
    json_sms("latency_sms", &map.headroom);
    json_sms("free", &map.none);
    json_open("rows", '[');
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i].device == (int32_t)device)
            json_row(&rows->row[i]);
    }
    json_close(']');
    json_close('}');
}

/* ---- The command ----------------------------------------------------------------------------- */

int command_info(struct control *control, const struct command_options *options)
{
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_status_reply reply;
    struct rows rows = {0};
    gs_status status = status_read(control, &reply, message);

    if (status == GS_OK)
        status = rows_read(control, &rows, message);
    if (status != GS_OK) {
        free(rows.row);
        return ask_failed(status, message);
    }
    if (options->json) {
        json_open(NULL, '{');
        json_text("instance", control->instance);
        json_open("devices", '[');
    }
    for (uint32_t i = 0; i < reply.device_count; i++)
        (options->json ? device_json : device_print)(&reply, &rows, i);
    if (options->json) {
        json_close(']');
        json_close('}');
    } else {
        legend_print();
    }
    free(rows.row);
    return 0;
}
