/* report.c - see report.h. */
#include "lib/report.h"

#include <string.h>

#include "lib/report_lines.h"

const char *const side_names[SIDE_COUNT] = {"native", "slicing", "MPS", "gshare"};
static const char *const side_short[SIDE_COUNT] = {"nat", "sli", "MPS", "gsh"};
static const char *const unit_names[] = {"ns", "1/s", "B/s", "B", "ratio", "count", "share"};

/* Whether the line is for machines like this one. */
static bool line_applies(const struct run_info *info, const struct row *row,
                         const struct line *line)
{
    bool nodes = info->facts->numa_nodes > 1;

    return strcmp(line->row, row->name) == 0 &&
           (line->goal.host == HOST_ANY || (line->goal.host == HOST_NODES) == nodes);
}

/* ---- Figures --------------------------------------------------------------------------------- */

static const double *line_value(const struct row *row, const struct line *line, enum side side)
{
    return board_find(row->board[side], line->metric);
}

/* gshare's value by that of the side the goal names, else native's, else MPS's, else slicing's.
 * False: one of them is missing. */
static bool line_ratio(const struct row *row, const struct line *line, double *ratio,
                       enum side *against)
{
    static const enum side order[] = {SIDE_NATIVE, SIDE_MPS, SIDE_SLICED};
    const double *gshare = line_value(row, line, SIDE_GSHARE), *other = NULL;
    bool given = line->goal.kind == GOAL_RATIO_AT_MOST || line->goal.kind == GOAL_RATIO_AT_LEAST;

    if (gshare == NULL)
        return false;
    for (int i = 0; i < 3 && other == NULL; i++) {
        *against = given ? line->goal.against : order[i];
        other = line_value(row, line, *against);
    }
    if (other == NULL || *other == 0)
        return false;
    *ratio = *gshare / *other;
    return true;
}

enum verdict { VERDICT_NONE, VERDICT_MET, VERDICT_NOT_MET };

/* Goals for a GPU are not judged on the software device, which has goals of its own; nor are goals
 * for a count of tenants that a quick run does not try. */
static enum verdict line_verdict(const struct run_info *info, const struct row *row,
                                 const struct line *line)
{
    const double *value = line_value(row, line, SIDE_GSHARE);
    enum side against;
    double ratio;
    bool met;

    if (line->goal.kind == GOAL_SOFT_AT_MOST || line->goal.kind == GOAL_SOFT_AT_LEAST) {
        value = line_value(row, line, SIDE_NATIVE);
        if (value == NULL)
            return VERDICT_NONE;
        met = line->goal.kind == GOAL_SOFT_AT_MOST ? *value <= line->goal.bound
                                                   : *value >= line->goal.bound;
        return met ? VERDICT_MET : VERDICT_NOT_MET;
    }
    if (info->facts->soft || value == NULL || (info->quick && line->unit == UNIT_COUNT))
        return VERDICT_NONE;
    switch (line->goal.kind) {
    case GOAL_AT_MOST:
        met = *value <= line->goal.bound;
        break;
    case GOAL_AT_LEAST:
        met = *value >= line->goal.bound;
        break;
    case GOAL_RATIO_AT_MOST:
    case GOAL_RATIO_AT_LEAST:
        if (!line_ratio(row, line, &ratio, &against))
            return VERDICT_NONE;
        met = line->goal.kind == GOAL_RATIO_AT_MOST ? ratio <= line->goal.bound
                                                    : ratio >= line->goal.bound;
        break;
    default:
        return VERDICT_NONE;
    }
    return met ? VERDICT_MET : VERDICT_NOT_MET;
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* Three digits, or as many as there are before the point; small values in two places or four. */
static void digits_print(char *out, size_t size, double value, const char *unit)
{
    double magnitude = value < 0 ? -value : value;
    int places = magnitude > 0 && magnitude < 0.0995 ? 3
                 : magnitude < 9.995                 ? 2
                 : magnitude < 99.95                 ? 1
                                                     : 0;

    snprintf(out, size, "%.*f%s", places, value, unit);
}

static void value_print(char *out, size_t size, double value, enum unit unit)
{
    switch (unit) {
    case UNIT_TIME:
        if (value < 999.5)
            snprintf(out, size, "%.0f ns", value);
        else if (value < 999.5e3)
            digits_print(out, size, value / 1e3, " us");
        else if (value < 999.5e6)
            digits_print(out, size, value / 1e6, " ms");
        else
            digits_print(out, size, value / 1e9, " s");
        break;
    case UNIT_RATE:
        if (value >= 999.5e3)
            digits_print(out, size, value / 1e6, " M/s");
        else if (value >= 999.5)
            digits_print(out, size, value / 1e3, " k/s");
        else
            snprintf(out, size, "%.0f /s", value);
        break;
    case UNIT_GB:
        digits_print(out, size, value / 1e9, "");
        break;
    case UNIT_BYTES:
        digits_print(out, size, value / (1 << 20), " MiB");
        break;
    case UNIT_RATIO:
        digits_print(out, size, value, "");
        break;
    case UNIT_COUNT:
        snprintf(out, size, "%.0f", value);
        break;
    case UNIT_PERCENT:
        digits_print(out, size, value * 100, " %");
        break;
    }
}

static void goal_print(char *out, size_t size, const struct line *line)
{
    char bound[32];
    bool least = line->goal.kind == GOAL_AT_LEAST || line->goal.kind == GOAL_RATIO_AT_LEAST ||
                 line->goal.kind == GOAL_SOFT_AT_LEAST;
    const char *sign = least ? ">=" : "<=";

    switch (line->goal.kind) {
    case GOAL_AT_MOST:
    case GOAL_AT_LEAST:
    case GOAL_SOFT_AT_MOST:
    case GOAL_SOFT_AT_LEAST:
        value_print(bound, sizeof(bound), line->goal.bound, line->unit);
        snprintf(out, size, "%s %s", sign, bound);
        break;
    case GOAL_RATIO_AT_MOST:
    case GOAL_RATIO_AT_LEAST:
        snprintf(out, size, "%s %.2f %s", sign, line->goal.bound, side_names[line->goal.against]);
        break;
    default:
        out[0] = '\0';
    }
}

static void line_print(FILE *out, const struct run_info *info, const struct row *row,
                       const struct line *line)
{
    static const char *const verdicts[] = {"", "yes", "NO"};
    char goal[64], ratio_text[64] = "";
    enum side against;
    double ratio;
    bool any = false;

    for (int side = 0; side < SIDE_COUNT; side++)
        any |= line_value(row, line, (enum side)side) != NULL;
    if (!any)
        return;
    fprintf(out, "  %-28s", line->text);
    for (int side = 0; side < SIDE_COUNT; side++) {
        const double *value = line_value(row, line, (enum side)side);
        char text[32] = "-";

        if (value != NULL)
            value_print(text, sizeof(text), *value, line->unit);
        fprintf(out, "%10s", text);
    }
    if (line->unit != UNIT_COUNT && line_ratio(row, line, &ratio, &against)) {
        char number[32];

        digits_print(number, sizeof(number), ratio, "");
        snprintf(ratio_text, sizeof(ratio_text), "%s %s", number, side_short[against]);
    }
    goal_print(goal, sizeof(goal), line);
    fprintf(out, "%10s  %-15s%s\n", ratio_text, goal, verdicts[line_verdict(info, row, line)]);
}

/* Why it failed, and the notes, line by line. */
static void remarks_print(FILE *out, const char *side, const struct board *board)
{
    if (board->failure[0] != '\0')
        fprintf(out, "  FAILED %s: %.80s\n", side, board->failure);
    for (const char *line = board->notes; *line != '\0';) {
        const char *end = strchrnul(line, '\n');

        fprintf(out, "  %s: %.*s\n", side, (int)(end - line), line);
        line = *end != '\0' ? end + 1 : end;
    }
}

static void row_print(FILE *out, const struct run_info *info, const struct row *row)
{
    fprintf(out, "%s\n", row->title);
    if (row->gpu_only && info->facts->soft)
        fprintf(out, "  not measured: needs a GPU\n");
    else if (info->quick && !row->quick_sides)
        fprintf(out, "  not measured with --quick\n");
    for (size_t i = 0; i < report_line_count; i++) {
        if (line_applies(info, row, &report_lines[i]))
            line_print(out, info, row, &report_lines[i]);
    }
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (row->board[side] != NULL)
            remarks_print(out, side_names[side], row->board[side]);
    }
}

static void head_print(FILE *out, const struct run_info *info)
{
    const struct facts *facts = info->facts;

    fprintf(out, "gshare%s%s, %s\n%s, %d SMs, driver %d.%d, %ld processors, ",
            info->revision[0] != '\0' ? " " : "", info->revision, info->when, facts->device,
            facts->sm_count, facts->driver_version / 1000, facts->driver_version % 1000 / 10,
            info->cpus);
    fprintf(out, "%d NUMA node%s", facts->numa_nodes, facts->numa_nodes > 1 ? "s" : "");
    if (facts->gpu_node >= 0)
        fprintf(out, ", the GPU on node %d", facts->gpu_node);
    else if (!facts->soft)
        fprintf(out, ", the GPU's not known");
    fprintf(out, "\n");
    if (facts->soft)
        fprintf(out, "software device: goals for an NVIDIA H200 are not judged, only its own\n");
    else if (!info->mps)
        fprintf(out, "no nvidia-cuda-mps-control here: MPS left out\n");
    if (info->quick)
        fprintf(out, "--quick: fewer and shorter measurements\n");
    fprintf(out, "\n%-30s", "");
    for (int side = 0; side < SIDE_COUNT; side++)
        fprintf(out, "%10s", side_names[side]);
    fprintf(out, "%10s  %-15s%s\n", "gshare by", "goal", "met");
}

static void tally_print(FILE *out, const struct run_info *info, const struct row *rows,
                        size_t count)
{
    unsigned goals = 0, met = 0, failed = 0;

    for (size_t r = 0; r < count; r++) {
        for (size_t i = 0; i < report_line_count; i++) {
            enum verdict v;

            if (!line_applies(info, &rows[r], &report_lines[i]))
                continue;
            v = line_verdict(info, &rows[r], &report_lines[i]);
            goals += v != VERDICT_NONE;
            met += v == VERDICT_MET;
        }
        for (int side = 0; side < SIDE_COUNT; side++)
            failed += rows[r].board[side] != NULL && rows[r].board[side]->failure[0] != '\0';
    }
    fprintf(out, "\n%u of %u goals met, %u measurements failed, %.0f s\n", met, goals, failed,
            info->seconds);
}

/* What each row took, for a reader who plans a run of a given time. */
static void seconds_print(FILE *out, const struct row *rows, size_t count)
{
    fprintf(out, "\nSeconds                   all");
    for (int side = 0; side < SIDE_COUNT; side++)
        fprintf(out, "%10s", side_names[side]);
    fprintf(out, "\n");
    for (size_t r = 0; r < count; r++) {
        if (!rows[r].chosen)
            continue;
        fprintf(out, "  %-17s%10.1f", rows[r].name, rows[r].seconds);
        for (int side = 0; side < SIDE_COUNT; side++) {
            char text[32] = "-";

            if (rows[r].board[side] != NULL)
                snprintf(text, sizeof(text), "%.1f", rows[r].board[side]->seconds);
            fprintf(out, "%10s", text);
        }
        fprintf(out, "\n");
    }
}

void report_table(FILE *out, const struct run_info *info, const struct row *rows, size_t count)
{
    head_print(out, info);
    for (size_t r = 0; r < count; r++) {
        if (rows[r].chosen)
            row_print(out, info, &rows[r]);
    }
    seconds_print(out, rows, count);
    tally_print(out, info, rows, count);
}

/* ---- Raw figures ----------------------------------------------------------------------------- */

void report_raw(FILE *out, const struct run_info *info, const struct row *rows, size_t count)
{
    fprintf(out, "%s, %s; nanoseconds, bytes, a second\n", info->facts->device, info->when);
    for (size_t r = 0; r < count; r++) {
        for (int side = 0; side < SIDE_COUNT; side++) {
            const struct board *b = rows[r].board[side];

            if (b == NULL)
                continue;
            fprintf(out, "\n[%s %s] %.2f s\n", rows[r].name, side_names[side], b->seconds);
            if (b->failure[0] != '\0')
                fprintf(out, "FAILED %s\n", b->failure);
            fputs(b->notes, out);
            for (unsigned i = 0; i < b->count; i++)
                fprintf(out, "%-24s %.17g\n", b->metric[i].name, b->metric[i].value);
        }
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void json_line(FILE *out, const struct run_info *info, const struct row *row,
                      const struct line *line)
{
    static const char *const verdicts[] = {"null", "true", "false"};
    enum side against;
    char goal[64];
    double ratio;

    fputs("    {\"row\": ", out);
    json_text(out, row->name);
    fputs(", \"line\": ", out);
    json_text(out, line->text);
    fprintf(out, ", \"metric\": \"%s\", \"unit\": \"%s\"", line->metric, unit_names[line->unit]);
    for (int side = 0; side < SIDE_COUNT; side++) {
        const double *value = line_value(row, line, (enum side)side);

        fprintf(out, ", \"%s\": ", side_names[side]);
        if (value != NULL)
            fprintf(out, "%.17g", *value);
        else
            fputs("null", out);
    }
    if (line_ratio(row, line, &ratio, &against))
        fprintf(out, ", \"ratio\": %.6g, \"against\": \"%s\"", ratio, side_names[against]);
    goal_print(goal, sizeof(goal), line);
    if (goal[0] != '\0')
        fprintf(out, ", \"goal\": \"%s\", \"met\": %s", goal,
                verdicts[line_verdict(info, row, line)]);
    fputc('}', out);
}

static void json_cell(FILE *out, const struct row *row, enum side side)
{
    const struct board *b = row->board[side];

    fprintf(out,
            "    {\"row\": \"%s\", \"side\": \"%s\", \"seconds\": %.3f, \"failure\": ", row->name,
            side_names[side], b->seconds);
    if (b->failure[0] != '\0')
        json_text(out, b->failure);
    else
        fputs("null", out);
    fputs(", \"notes\": ", out);
    json_text(out, b->notes);
    fputs(", \"results\": {", out);
    for (unsigned i = 0; i < b->count; i++)
        fprintf(out, "%s\"%s\": %.17g", i ? ", " : "", b->metric[i].name, b->metric[i].value);
    fputs("}}", out);
}

void report_json(FILE *out, const struct run_info *info, const struct row *rows, size_t count)
{
    const char *separator = "";

    fputs("{\n  \"device\": ", out);
    json_text(out, info->facts->device);
    fprintf(out,
            ",\n  \"software_device\": %s,\n  \"sm_count\": %d,\n  \"driver\": %d,\n"
            "  \"processors\": %ld,\n  \"numa_nodes\": %d,\n  \"gpu_node\": %d,\n"
            "  \"when\": \"%s\",\n  \"revision\": ",
            info->facts->soft ? "true" : "false", info->facts->sm_count,
            info->facts->driver_version, info->cpus, info->facts->numa_nodes, info->facts->gpu_node,
            info->when);
    json_text(out, info->revision);
    fprintf(out, ",\n  \"quick\": %s,\n  \"seconds\": %.1f,\n  \"lines\": [\n",
            info->quick ? "true" : "false", info->seconds);
    for (size_t r = 0; r < count; r++) {
        for (size_t i = 0; i < report_line_count && rows[r].chosen; i++) {
            if (!line_applies(info, &rows[r], &report_lines[i]))
                continue;
            fputs(separator, out);
            json_line(out, info, &rows[r], &report_lines[i]);
            separator = ",\n";
        }
    }
    fputs("\n  ],\n  \"cells\": [\n", out);
    separator = "";
    for (size_t r = 0; r < count; r++) {
        for (int side = 0; side < SIDE_COUNT; side++) {
            if (rows[r].board[side] == NULL)
                continue;
            fputs(separator, out);
            json_cell(out, &rows[r], (enum side)side);
            separator = ",\n";
        }
    }
    fputs("\n  ]\n}\n", out);
}
