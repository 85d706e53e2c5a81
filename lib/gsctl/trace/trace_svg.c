/*
 * trace_svg.c - a trace as a picture for a report; see trace.h. A row for each stream of each
 * tenant over one axis of time: a bar is a span on the device, and as high as its part of the
 * device's SMs. Spans narrower than a point or two are not drawn one by one: the shade of their
 * row's bins shows how much of the time they took.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/setting_text.h"
#include "common/util.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/base/memory.h"
#include "gsctl/trace/trace.h"

/* In points. */
#define WIDTH        1000.0
#define PLOT_LEFT    190.0
#define PLOT_WIDE    690.0
#define ROW_HIGH     26.0
#define ROW_GAP      6.0
#define TOP          68.0
#define NARROW       2.5 /* narrower spans go into bins */
#define BIN_WIDE     0.5
#define NAME_LETTERS 25u /* letters of a tenant's name */
#define BINS         ((size_t)(PLOT_WIDE / BIN_WIDE))
#define SHADES       8   /* shades of a bin */
#define GLYPH        5.6 /* the width of a letter of a bar's name, at least */
#define UNFINISHED   0.5 /* opacity of a span that had not ended */

struct picture {
    FILE *out;
    const struct trace_model *m;
    uint64_t begin_ns, end_ns; /* the axis's range */
    double bottom;             /* the bottom of the rows */
};

/* A bin of a row's narrow spans. */
struct bin {
    double taken, high; /* part of the bin's time in use, 0 to 1; the sum of that times height */
};

/* Okabe and Ito's colours, which colour-blind people can distinguish, without yellow and black. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73",
                                      "#cc79a7", "#56b4e9", "#e69f00"};

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void text_print(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    while (*s) {
        const size_t length = utf8_length(s);

        if (length == 0 || *s < ' ' || *s == 0x7f)
            fputs("\xef\xbf\xbd", out);
        else if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
            fprintf(out, "&#%u;", *s);
        else
            fwrite(s, 1, length, out);
        s += length ? length : 1;
    }
}

static void label(const struct picture *p, double x, double y, const char *style, const char *text)
{
    fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
    text_print(p->out, text);
    fputs("</text>\n", p->out);
}

static double x_of(const struct picture *p, uint64_t ns)
{
    if (ns < p->begin_ns)
        ns = p->begin_ns;
    if (ns > p->end_ns)
        ns = p->end_ns;
    return PLOT_LEFT + PLOT_WIDE * (double)(ns - p->begin_ns) / (double)(p->end_ns - p->begin_ns);
}

/* Draws a bar on the row's floor; `high` is its part of the row's height. */
static void bar(const struct picture *p, double x, double wide, double floor, double high,
                const char *colour, double opacity)
{
    fprintf(p->out,
            "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\" "
            "fill-opacity=\"%.2f\"/>\n",
            x, floor - high * ROW_HIGH, wide, high * ROW_HIGH, colour, opacity);
}

/* ---- The axis -------------------------------------------------------------------------------- */

static void time_print(char out[FORMAT_MAX], uint64_t ns, uint64_t step)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    size_t u = 0;

    while (units[u].ns > step && u + 1 < ARRAY_SIZE(units))
        u++;
    snprintf(out, FORMAT_MAX, "%" PRIu64 " %s", ns / units[u].ns, units[u].name);
}

/* Returns 1, 2 or 5 times a power of ten, for five to twelve ticks. */
static uint64_t axis_step(uint64_t all)
{
    static const uint64_t factors[] = {1, 2, 5};

    for (uint64_t power = 1;; power *= 10) {
        for (size_t i = 0; i < ARRAY_SIZE(factors); i++) {
            if (all / (power * factors[i]) <= 10)
                return power * factors[i];
        }
    }
}

static void axis_print(const struct picture *p)
{
    const uint64_t all = p->end_ns - p->begin_ns, step = axis_step(all);
    char text[FORMAT_MAX];

    for (uint64_t at = 0; at <= all; at += step) {
        const double x = x_of(p, p->begin_ns + at);

        fprintf(p->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n",
                x, TOP - 6, x, p->bottom + 4);
        time_print(text, at, step);
        label(p, x, p->bottom + 18, "middle", text);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool transfers_alone(const struct trace_span *span)
{
    return span->launches + span->graphs == 0;
}

/* Returns a span's height: of kernels their part of the device's SMs, of copies a third. */
static double span_high(const struct picture *p, const struct trace_span *span)
{
    const uint32_t all = p->m->log->status.device[p->m->tenant[span->tenant].device].sm_count;

    if (transfers_alone(span))
        return 0.33;
    return span->sms && all ? 0.15 + 0.85 * span->sms / all : 1;
}

static void bins_add(struct bin *bins, double from, double to, double high)
{
    for (size_t i = (size_t)(from / BIN_WIDE); i < BINS; i++) {
        const double begin = (double)i * BIN_WIDE, end = begin + BIN_WIDE;
        const double taken = ((to < end ? to : end) - (from > begin ? from : begin)) / BIN_WIDE;

        if (taken <= 0)
            break;
        bins[i].taken += taken;
        bins[i].high += taken * high;
    }
}

static int bin_shade(const struct bin *bin)
{
    const double taken = bin->taken < 1 ? bin->taken : 1;

    return bin->taken > 0 ? 1 + (int)(taken * (SHADES - 1) + 0.5) : 0;
}

/* Draws the bins. Adjacent bins of the same shade are one bar. */
static void bins_print(const struct picture *p, const struct bin *bins, double floor,
                       const char *colour)
{
    for (size_t i = 0, next; i < BINS; i = next) {
        const int shade = bin_shade(&bins[i]);
        double taken = 0, high = 0;

        for (next = i; next < BINS && bin_shade(&bins[next]) == shade; next++) {
            taken += bins[next].taken;
            high += bins[next].high;
        }
        if (shade)
            bar(p, PLOT_LEFT + (double)i * BIN_WIDE, (double)(next - i) * BIN_WIDE, floor,
                high / taken, colour, 0.08 + 0.92 * shade / SHADES);
    }
}

static void span_bar(const struct picture *p, const struct trace_span *span, double floor,
                     const char *colour)
{
    const double x = x_of(p, span->begin_ns), wide = x_of(p, span->end_ns) - x;
    const double high = span_high(p, span);
    const int letters = (int)((wide - 6) / GLYPH);
    char name[TRACE_NAME_MAX];

    bar(p, x, wide > 0.8 ? wide - 0.4 : wide, floor, high,
        transfers_alone(span) ? "#777777" : colour, span->ended ? 1 : UNFINISHED);
    trace_span_name(span, name);
    if (letters < 4 || high < 0.5 || !span->ended)
        return;
    if ((int)strlen(name) > letters)
        snprintf(name + letters - 2, sizeof(name) - (size_t)letters, "..");
    label(p, x + 3, floor - high * ROW_HIGH / 2 + 3.5, "bar", name);
}

static void row_print(const struct picture *p, uint32_t tenant, uint32_t stream, double floor)
{
    const char *colour = colours[tenant % ARRAY_SIZE(colours)];
    struct bin *bins = memory_more(NULL, BINS, sizeof(*bins));

    memset(bins, 0, BINS * sizeof(*bins));
    fprintf(p->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"floor\"/>\n",
            PLOT_LEFT, floor, PLOT_LEFT + PLOT_WIDE, floor);
    for (size_t i = 0; i < p->m->span_count; i++) {
        const struct trace_span *span = &p->m->span[i];
        const double from = x_of(p, span->begin_ns), to = x_of(p, span->end_ns);

        if (span->tenant != tenant || span->stream != stream || !trace_span_works(span) ||
            span->end_ns <= p->begin_ns)
            continue;
        if (to - from >= NARROW)
            span_bar(p, span, floor, colour);
        else
            bins_add(bins, from - PLOT_LEFT, to - PLOT_LEFT, span_high(p, span));
    }
    bins_print(p, bins, floor, colour);
    free(bins);
}

/* Returns the part of the time in which the tenant has work on the device. Its streams' times are
 * added, up to 1 in all. */
static double busy_part(const struct picture *p, uint32_t tenant)
{
    double busy = 0;

    for (size_t i = 0; i < p->m->span_count; i++) {
        const struct trace_span *span = &p->m->span[i];
        if (span->tenant == tenant && trace_span_works(span))
            busy += x_of(p, span->end_ns) - x_of(p, span->begin_ns);
    }
    return busy < PLOT_WIDE ? busy / PLOT_WIDE : 1;
}

static void tenant_label(const struct picture *p, uint32_t index, double floor)
{
    const struct trace_tenant *t = &p->m->tenant[index];
    char text[160], user[FORMAT_MAX], count[FORMAT_MAX];

    snprintf(text, sizeof(text), "%s", t->name);
    if (strlen(text) > NAME_LETTERS)
        snprintf(text + NAME_LETTERS - 2, sizeof(text) - NAME_LETTERS, "..");
    label(p, 8, floor - ROW_HIGH + 11, "name", text);
    snprintf(text, sizeof(text), "session %" PRIu64 ", %.12s, %s", t->session,
             t->known ? format_user(user, t->uid) : "?", t->known ? class_name(t->cls) : "?");
    label(p, 8, floor - 3, "small", text);
    snprintf(text, sizeof(text), "%.0f%% of the time", 100 * busy_part(p, index));
    label(p, PLOT_LEFT + PLOT_WIDE + 10, floor - ROW_HIGH + 11, "small", text);
    snprintf(text, sizeof(text), "%s launches", format_count(count, t->launches));
    label(p, PLOT_LEFT + PLOT_WIDE + 10, floor - 3, "small", text);
}

static unsigned rows_of(const struct trace_tenant *tenant)
{
    return tenant->streams ? (unsigned)__builtin_popcountll(tenant->streams) : 1;
}

static void rows_print(const struct picture *p)
{
    double floor = TOP;

    for (uint32_t i = 0; i < p->m->tenant_count; i++) {
        const struct trace_tenant *tenant = &p->m->tenant[i];
        if (!tenant->wanted)
            continue;
        tenant_label(p, i, floor + ROW_HIGH);
        for (uint32_t s = 0; s < SEG_STREAMS; s++) {
            if (!(tenant->streams >> s & 1) && !(tenant->streams == 0 && s == 0))
                continue;
            row_print(p, i, s, floor += ROW_HIGH);
            floor += ROW_GAP / 2;
        }
        floor += ROW_GAP;
    }
}

/* ---- What concerns all rows ------------------------------------------------------------------ */

/* Draws the lost workers and takeovers. Returns whether there was a takeover. */
static bool losses_print(const struct picture *p)
{
    bool any = false;

    for (size_t i = 0; i < p->m->log->count; i++) {
        const struct trace_event *e = &p->m->log->record[i].event;
        const double x = x_of(p, e->begin_ns);

        if (e->end_ns < p->begin_ns || e->begin_ns > p->end_ns)
            continue;
        any = any || e->kind == TRACE_TAKEOVER;
        if (e->kind == TRACE_TAKEOVER)
            fprintf(p->out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"gap\"/>\n",
                    x, TOP - 4, x_of(p, e->end_ns) - x, p->bottom - TOP + 4);
        if (e->kind == TRACE_LOST) {
            fprintf(p->out,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"lost\"/>\n", x,
                    TOP - 10, x, p->bottom);
            label(p, x, TOP - 12, "lostname", "worker lost");
        }
    }
    return any;
}

static bool unfinished_any(const struct picture *p)
{
    for (size_t i = 0; i < p->m->span_count; i++) {
        const struct trace_span *span = &p->m->span[i];
        if (p->m->tenant[span->tenant].wanted && trace_span_works(span) && !span->ended)
            return true;
    }
    return false;
}

static void legend_print(const struct picture *p, bool takeover)
{
    const double y = p->bottom + 44;
    double x = 8;

    bar(p, x, 18, y, 0.45, colours[0], 1);
    label(p, x + 24, y - 1, "small", "kernels, as high as their part of the SMs");
    bar(p, x += 250, 18, y, 0.33, "#777777", 1);
    label(p, x + 24, y - 1, "small", "copies alone");
    bar(p, x += 110, 6, y, 0.45, colours[0], 0.25);
    bar(p, x + 6, 6, y, 0.45, colours[0], 0.55);
    bar(p, x + 12, 6, y, 0.45, colours[0], 0.9);
    label(p, x + 24, y - 1, "small", "many short ones: the darker, the more of the time");
    x += 300;
    if (unfinished_any(p)) {
        bar(p, x, 18, y, 0.45, colours[0], UNFINISHED);
        label(p, x + 24, y - 1, "small", "had not ended");
        x += 120;
    }
    if (takeover) {
        fprintf(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"18\" height=\"12\" class=\"gap\"/>\n",
                x, y - 12);
        label(p, x + 24, y - 1, "small", "takeover");
    }
}

static const char style[] =
    "<style>text{font:11px 'DejaVu Sans',Helvetica,Arial,sans-serif;fill:#222}"
    ".title{font-size:14px;font-weight:bold}.name{font-weight:bold}.small{font-size:9.5px;"
    "fill:#555}.middle{text-anchor:middle;fill:#555;font-size:10px}.bar{fill:#fff;"
    "font-size:9px}.grid{stroke:#ddd;stroke-width:1}.floor{stroke:#999;stroke-width:.7}"
    ".gap{fill:#c00;fill-opacity:.18}.lost{stroke:#c00;stroke-width:1.5;stroke-dasharray:4 2}"
    ".lostname{text-anchor:middle;fill:#c00;font-size:9.5px}</style>\n";

static void title_print(const struct picture *p)
{
    const struct ctl_status_reply *status = &p->m->log->status;
    char text[256], time[FORMAT_MAX];
    int length = 0;

    for (uint32_t d = 0; d < status->device_count && length < 160; d++)
        length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%.64s, %u SMs",
                           d ? "; " : "", status->device[d].name, status->device[d].sm_count);
    label(p, 8, 22, "title", text);
    format_duration(time, p->end_ns - p->begin_ns);
    if (p->end_ns - p->begin_ns < 10000000000u)
        snprintf(time, sizeof(time), "%.2f s", (double)(p->end_ns - p->begin_ns) * 1e-9);
    snprintf(text, sizeof(text), "work on the device, by its clock, over %s%s", time,
             p->m->log->lost ? "; some of it is missing" : "");
    label(p, 8, 38, "small", text);
}

/* Sets the axis's range: from the first span to the last, or to the takeover behind it. A user
 * begins a trace before the work and ends it after. */
static void axis_find(struct picture *p)
{
    p->begin_ns = UINT64_MAX;
    p->end_ns = 0;
    for (size_t i = 0; i < p->m->span_count; i++) {
        const struct trace_span *span = &p->m->span[i];
        if (!p->m->tenant[span->tenant].wanted || !trace_span_works(span))
            continue;
        if (span->begin_ns < p->begin_ns)
            p->begin_ns = span->begin_ns;
        if (span->end_ns > p->end_ns)
            p->end_ns = span->end_ns;
    }
    for (size_t i = 0; i < p->m->log->count; i++) {
        const struct trace_event *e = &p->m->log->record[i].event;
        if (e->kind == TRACE_TAKEOVER && e->begin_ns <= p->end_ns && e->end_ns > p->end_ns)
            p->end_ns = e->end_ns;
    }
    if (p->begin_ns >= p->end_ns) {
        p->begin_ns = p->m->log->begin_ns;
        p->end_ns = p->m->log->end_ns + 1;
    }
}

void trace_svg_print(const struct trace_model *m, FILE *out)
{
    struct picture p = {.out = out, .m = m, .bottom = TOP};

    for (size_t i = 0; i < m->tenant_count; i++) {
        if (m->tenant[i].wanted)
            p.bottom += rows_of(&m->tenant[i]) * (ROW_HIGH + ROW_GAP / 2) + ROW_GAP;
    }
    axis_find(&p);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n%s",
            WIDTH, p.bottom + 56, WIDTH, p.bottom + 56, style);
    title_print(&p);
    axis_print(&p);
    rows_print(&p);
    legend_print(&p, losses_print(&p));
    fputs("</svg>\n", out);
}
