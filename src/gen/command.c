// `keyway gen`: makes C of a file of schemas.
//
// Layer:   gen (public headers and cli)
// Threads: one.
// SPDX-License-Identifier: MIT

#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "gen/output.h"
#include "gen/unit.h"
#include "gen/word.h"

static int refuse(const char *word, const char *problem)
{
    (void)fprintf(stderr, "keyway gen: `%s` %s; try `keyway help`\n", word, problem);
    return CLI_UNUSABLE;
}

// "my_tensor", "struct my_tensor".
static bool is_type(const char *text)
{
    size_t skipped = strspn(text, " ");
    bool is_tagged = strncmp(text, "struct ", strlen("struct ")) == 0;
    const char *name = is_tagged ? text + strlen("struct ") : text;
    return skipped == 0 && (strcmp(text, "void") == 0 || gen_word_is_identifier(name));
}

// `<a.h>` and `"a.h"` as they are, others in quotes; NULL: it cannot stand behind #include.
static const char *include_of(gen_arena *arena, const char *text)
{
    size_t length = strlen(text);
    bool is_bracketed = length > 2 && ((text[0] == '<' && text[length - 1] == '>') ||
                                       (text[0] == '"' && text[length - 1] == '"'));
    const char *inside = is_bracketed ? gen_copy(arena, text + 1, length - 2) : text;
    if (inside[0] == '\0' || strpbrk(inside, "<>\"\\\n\r") != NULL) {
        return NULL;
    }
    return is_bracketed ? text : gen_format(arena, "\"%s\"", text);
}

// Takes one option's value; the exit status, CLI_SUCCESS if it is good.
static int take_value(gen_unit *unit, const char *option, const char *value)
{
    gen_options *options = &unit->options;
    if (strcmp(option, "-o") == 0) {
        options->folder = value;
        return value[0] != '\0' ? CLI_SUCCESS : refuse(value, "is no folder");
    }
    if (strcmp(option, "--include") == 0) {
        const char *include = include_of(&unit->arena, value);
        options->includes[options->include_count++] = include;
        return include != NULL ? CLI_SUCCESS : refuse(value, "is no header");
    }
    if (strcmp(option, "--tensor-type") == 0) {
        options->tensor_type = value;
        return is_type(value) ? CLI_SUCCESS : refuse(value, "is no C type");
    }
    const char **place = strcmp(option, "--name") == 0        ? &options->stem
                         : strcmp(option, "--namespace") == 0 ? &options->ns
                                                              : &options->tensor_keys;
    *place = value;
    return gen_word_is_identifier(value) ? CLI_SUCCESS : refuse(value, "is no identifier");
}

static bool is_option(const char *word)
{
    static const char *const known[] = {"-o",          "--include",     "--name",
                                        "--namespace", "--tensor-type", "--tensor-keys"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(word, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int read_options(gen_unit *unit, int argc, char **argv)
{
    unit->options.tensor_type = "void";
    unit->options.includes = gen_allocate(&unit->arena, (size_t)argc * sizeof(char *));
    for (int i = 0; i < argc; i++) {
        if (is_option(argv[i])) {
            if (i + 1 == argc) {
                return refuse(argv[i], "lacks its value");
            }
            int status = take_value(unit, argv[i], argv[i + 1]);
            if (status != CLI_SUCCESS) {
                return status;
            }
            i++;
        } else if (argv[i][0] == '-') {
            return refuse(argv[i], "is no option");
        } else if (unit->options.file != NULL) {
            return refuse(argv[i], "is one argument too many");
        } else {
            unit->options.file = argv[i];
        }
    }
    if (unit->options.file == NULL) {
        return refuse("OPS_FILE", "is missing");
    }
    return unit->options.folder != NULL ? CLI_SUCCESS : refuse("-o DIR", "is missing");
}

// What the options leave to the name of the file.
static void read_name(gen_unit *unit)
{
    const char *slash = strrchr(unit->options.file, '/');
    char *name = gen_format(&unit->arena, "%s", slash != NULL ? slash + 1 : unit->options.file);
    for (char *c = name; *c != '\0'; c++) {
        *c = *c < ' ' || *c > '~' || *c == '"' || *c == '\\' ? '_' : *c; // it stands in a string
    }
    unit->file_name = name;
    if (unit->options.stem == NULL) {
        const char *dot = strrchr(name, '.');
        size_t length = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
        unit->options.stem = gen_identifier(&unit->arena, gen_copy(&unit->arena, name, length));
    }
}

static bool write_outputs(gen_unit *unit)
{
    gen_output outputs[2] = {{.path = NULL}};
    const char *endings[] = {"h", "c"};
    for (size_t i = 0; i < 2; i++) {
        outputs[i].path = gen_format(&unit->arena, "%s/%s.%s", unit->options.folder,
                                     unit->options.stem, endings[i]);
    }
    gen_add_header(&outputs[0].text, unit);
    gen_add_source(&outputs[1].text, unit);
    bool is_written = gen_make_folder(unit->options.folder) && gen_write(outputs, 2);
    gen_text_fini(&outputs[0].text);
    gen_text_fini(&outputs[1].text);
    return is_written;
}

static int generate(gen_unit *unit)
{
    if (!gen_unit_read(unit)) {
        return CLI_UNUSABLE;
    }
    gen_unit_check_names(unit);
    if (unit->op_count == 0 && !unit->has_failed) {
        gen_unit_fail(unit, 1, 1, "there is no operator in it");
    }
    if (unit->has_failed) {
        return CLI_FAILURE;
    }
    return write_outputs(unit) ? CLI_SUCCESS : CLI_UNUSABLE;
}

int cli_gen_command(int argc, char **argv)
{
    gen_unit unit = {.ops = NULL};
    int status = read_options(&unit, argc, argv);
    if (status == CLI_SUCCESS) {
        read_name(&unit);
        status = generate(&unit);
    }
    gen_unit_fini(&unit);
    return status;
}
