/* help_text.c - see help_text.h. */
#include "common/help_text.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS 80

static size_t indent_of(const char *line)
{
    return strspn(line, " ");
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

/* Prints the words of one line from the column `at` on. Words that do not fit go to further lines
 * that begin at `margin`. Returns the column behind the last word. */
static unsigned words_print(const char *line, size_t length, unsigned at, unsigned margin)
{
    const char *end = line + length;

    while (line < end) {
        const size_t word = strcspn(line, " \n");

        if (word > 0 && at > margin && at + 1 + word > COLUMNS) {
            printf("\n%*s", (int)margin, "");
            at = margin;
        } else if (word > 0 && at > margin) {
            putchar(' ');
            at++;
        }
        fwrite(line, 1, word, stdout);
        at += (unsigned)word;
        line += word + strspn(line + word, " ");
        if (*line == '\n')
            break;
    }
    return at;
}

/* Prints the option and its description. Returns the line behind them. */
static const char *option_print(const char *line, unsigned column)
{
    size_t length = strcspn(line, "\n"), label = length;
    unsigned at = column;

    if (length > column && line[column - 1] == ' ')
        label = column;
    while (label > 0 && line[label - 1] == ' ')
        label--;
    printf("%.*s", (int)label, line);
    if (label < column)
        printf("%*s", (int)(column - label), "");
    else
        printf("\n%*s", (int)column, "");
    if (length > column && label < column)
        at = words_print(line + column, length - column, at, column);
    for (line = next_line(line); *line && indent_of(line) >= column; line = next_line(line))
        at = words_print(line + indent_of(line), strcspn(line, "\n") - indent_of(line), at, column);
    putchar('\n');
    return line;
}

static const char *paragraph_print(const char *line)
{
    unsigned at = 0;

    for (; *line && *line != '\n' && *line != ' '; line = next_line(line))
        at = words_print(line, strcspn(line, "\n"), at, 0);
    putchar('\n');
    return line;
}

void help_text_print(const char *text, unsigned column)
{
    while (*text) {
        if (*text == '\n') {
            putchar('\n');
            text++;
        } else if (*text == ' ') {
            text = option_print(text, column);
        } else {
            text = paragraph_print(text);
        }
    }
}
