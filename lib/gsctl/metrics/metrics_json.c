/*
 * metrics_json.c - `gsctl metrics --json`: the OpenMetrics text as JSON, with its names: a member
 * "families", each with "name", "type", "unit", "help" and "samples", and each of those with
 * "name", "labels" and "value". It is made from the text, so that both agree.
 */
#include <stdio.h>
#include <string.h>

#include "gsctl/base/json.h"
#include "gsctl/metrics/metrics.h"

/* Cuts off the next word of the line, which a blank ends. */
static char *word_cut(char **at)
{
    char *word = *at, *end = word + strcspn(word, " ");

    *at = end + (*end != 0);
    *end = 0;
    return word;
}

/* Cuts off a quoted value, whose quote *at is, without its escapes. */
static char *value_cut(char **at)
{
    char *value = *at + 1, *to = value, *from = value;

    for (; *from && *from != '"'; from++) {
        if (*from == '\\' && from[1])
            from++;
        *to++ = *from;
    }
    *at = from + (*from == '"');
    *to = 0;
    return value;
}

/* Prints a line NAME{LABEL="VALUE",...} FIGURE. */
static void sample_print(char *line)
{
    char *at = line + strcspn(line, "{ ");
    const bool labels = *at == '{';

    *at++ = 0;
    json_open(NULL, '{');
    json_text("name", line);
    json_open("labels", '{');
    while (labels && *at && *at != '}') {
        char *label = at;

        at += strcspn(at, "=");
        *at++ = 0;
        json_text(label, value_cut(&at));
        at += *at == ',';
    }
    json_close('}');
    at += labels;
    json_figure("value", at + (*at == ' '));
    json_close('}');
}

/* The state of the reader: within a family, and within its samples. */
struct nesting {
    bool family, samples;
};

static void samples_begin(struct nesting *nesting)
{
    if (!nesting->samples)
        json_open("samples", '[');
    nesting->samples = true;
}

static void family_end(struct nesting *nesting)
{
    if (!nesting->family)
        return;
    samples_begin(nesting); /* a family may have none */
    json_close(']');
    json_close('}');
    *nesting = (struct nesting){false, false};
}

/* Handles "# TYPE NAME TEXT", with which a family begins, "# UNIT" and "# HELP" lines, and "#
 * EOF". */
static void remark_print(char *line, struct nesting *nesting)
{
    char *at = line + 2;
    const char *what = word_cut(&at), *name = word_cut(&at);

    if (!strcmp(what, "UNIT") || !strcmp(what, "HELP")) {
        json_text(!strcmp(what, "UNIT") ? "unit" : "help", at);
        return;
    }
    family_end(nesting);
    if (strcmp(what, "TYPE") != 0)
        return;
    json_open(NULL, '{');
    json_text("name", name);
    json_text("type", at);
    nesting->family = true;
}

void metrics_json_print(char *text, const char *instance)
{
    struct nesting nesting = {false, false};

    json_open(NULL, '{');
    json_text("instance", instance);
    json_open("families", '[');
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        if (*line == '#') {
            remark_print(line, &nesting);
            continue;
        }
        samples_begin(&nesting);
        sample_print(line);
    }
    json_close(']');
    json_close('}');
}
