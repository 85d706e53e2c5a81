// From a line of the table to a kernel around that instruction.
#include "instructions.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool instruction_read(struct instruction *i, char *line)
{
    char *part[5];

    memset(i, 0, sizeof *i);
    line[strcspn(line, "\n")] = 0;
    for (unsigned k = 0; k < 5; k++) {
        part[k] = line;
        if (k < 4) {
            line = strchr(line, ';');
            if (!line)
                return false;
            *line++ = 0;
        }
    }
    snprintf(i->name, sizeof i->name, "%s", part[0]);
    i->nresults = 1;
    if (sscanf(part[1], "%15[^*]*%u", i->result, &i->nresults) < 1 || i->nresults > MAX_RESULTS)
        return false;
    snprintf(i->ptx, sizeof i->ptx, "%s", part[4]);
    i->is_known = part[3][0] == 'x';
    i->is_relative = part[3][0] == '~';
    i->tolerance = i->is_relative ? -atoi(part[3] + 1) : atoi(part[3]);
    for (char *o = strtok(part[2], ","); o && i->noperands < MAX_OPERANDS; o = strtok(NULL, ","))
        snprintf(i->operands[i->noperands++], sizeof i->operands[0], "%s", o);
    return true;
}

static void append(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *out, size_t size, const char *format, ...)
{
    size_t n = strlen(out);
    va_list args;

    va_start(args, format);
    vsnprintf(out + n, size - n, format, args);
    va_end(args);
}

const char *result_name(unsigned k)
{
    static const char names[MAX_RESULTS][4] = {"d", "d1", "d2", "d3", "d4", "d5", "d6", "d7"};

    return names[k];
}

/* What an instruction works on besides registers, where it does: 16 bytes of each thread. */
static void write_memory(const struct instruction *in, char *out, size_t size)
{
    if (strstr(in->ptx, "%own"))
        append(
            out, size,
            ".reg .b64 %%own; mov.u64 %%own, memory;\n{.reg .b64 %%o; mul.wide.u32 %%o, %%t, 16; "
            "add.u64 %%own, %%own, %%o;}\n");
    if (strstr(in->ptx, "%tile"))
        append(out, size,
               ".reg .b32 %%tile; mov.u32 %%tile, tile;\n{.reg .b32 %%o; mov.u32 %%o, %%tid.x; "
               "mad.lo.u32 %%tile, %%o, 16, %%tile;}\n");
}

bool instruction_names(const struct instruction *in, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = strchr(in->ptx, '%'); at; at = strchr(at + 1, '%'))
        if (!strncmp(at + 1, name, length) && at[length + 1] != '_' &&
            !isalnum((unsigned char)at[length + 1]))
            return true;
    return false;
}

static bool names_objects(const struct instruction *in)
{
    for (unsigned k = 0; k < object_count(); k++)
        if (instruction_names(in, object_name(k)))
            return true;
    return false;
}

static void write_objects(const struct instruction *in, char *out, size_t size)
{
    for (unsigned k = 0; k < object_count(); k++)
        if (instruction_names(in, object_name(k)))
            append(out, size, ".reg .b64 %%%s; ld.param.u64 %%%s, [objects+%u];\n", object_name(k),
                   object_name(k), 8 * k);
}

void kernel_write(const struct instruction *in, char *out, size_t size)
{
    static const char names[] = "abcefghijklmnopq";
    unsigned bits = type_bits(in->result);

    snprintf(out, size, ".version 8.4\n.target sm_90\n.address_size 64\n");
    if (strstr(in->ptx, "%own") || strstr(in->ptx, "memory"))
        append(out, size, ".global .align 16 .b8 memory[%u];\n", COUNT * 16);
    if (strstr(in->ptx, "fixed"))
        append(out, size,
               ".const .align 8 .b64 fixed[4] = {0x8123456789abcdef, 1, 0xfffffffffffffffe, "
               "0x7f80ff7f00008080};\n");
    append(out, size, ".visible .entry k(.param .u64 p0, .param .u64 p1");
    if (names_objects(in))
        append(out, size, ", .param .align 8 .b8 objects[%u]", 8 * MAX_OBJECTS);
    append(out, size, ")\n{\n.reg .b32 %%t; .reg .b64 %%x, %%in, %%out;\n");
    if (strstr(in->ptx, "tile"))
        append(out, size, ".shared .align 32 .b8 tile[512];\n");
    for (unsigned k = 0; k < in->nresults; k++)
        append(out, size, ".reg .b%u %%%s;\n", bits, result_name(k));
    for (unsigned k = 0; k < in->noperands; k++)
        append(out, size, ".reg .b%u %%%c;\n", type_bits(in->operands[k]), names[k]);
    append(out, size,
           "ld.param.u64 %%in, [p0];\nld.param.u64 %%out, [p1];\nmov.u32 %%t, %%ctaid.x;\nshl.b32 "
           "%%t, %%t, 5;\n"
           "{.reg .b32 %%lane; mov.u32 %%lane, %%tid.x; add.u32 %%t, %%t, %%lane;}\nmul.wide.u32 "
           "%%x, %%t, 8;\n"
           "add.u64 %%in, %%in, %%x;\nadd.u64 %%out, %%out, %%x;\n");
    write_memory(in, out, size);
    write_objects(in, out, size);
    for (unsigned k = 0; k < in->noperands; k++)
        append(out, size, "ld.global.b%u %%%c, [%%in+%u];\n", type_bits(in->operands[k]), names[k],
               k * COUNT * 8);
    append(out, size, "%s\n", in->ptx);
    for (unsigned k = 0; k < in->nresults; k++)
        append(out, size, "st.global.b%u [%%out+%u], %%%s;\n", bits, k * COUNT * 8, result_name(k));
    append(out, size, "ret;\n}\n");
}
