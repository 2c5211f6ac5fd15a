// SPDX-License-Identifier: MIT
// Expressions through muParser's C interface, kept silent, finite and independent of the locale.
//
// mupGetErrorMsg and mupGetErrorToken are not used: they write to one static buffer for all threads. The sentences
// below are ours, from muParser's error codes and positions.
#define _GNU_SOURCE // newlocale, strtod_l: a decimal point whatever the locale of the program
#include "io/expression.h"

#include "base/nearest_word.h"
#include "base/number_text.h"
#include "io/units.h"
#include "model/names.h"

#include <muParserDLL.h>

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    EXPRESSION_LENGTH_MAX = 1000, // bytes
    PARAMETER_NAME_MAX = 60       // bytes
};

// Error codes of muParser 2.3 (muParserDef.h, a C++ header) that get a sentence of their own.
enum {
    MU_UNEXPECTED_OPERATOR = 0,
    MU_UNASSIGNABLE_TOKEN = 1,
    MU_UNEXPECTED_EOF = 2,
    MU_UNEXPECTED_ARGUMENT_SEPARATOR = 3,
    MU_UNEXPECTED_ARGUMENT = 4,
    MU_UNEXPECTED_VALUE = 5,
    MU_UNEXPECTED_VARIABLE = 6,
    MU_UNEXPECTED_PARENTHESIS = 7,
    MU_MISSING_PARENTHESIS = 11,
    MU_UNEXPECTED_FUNCTION = 12,
    MU_TOO_MANY_PARAMETERS = 14,
    MU_TOO_FEW_PARAMETERS = 15,
    MU_EMPTY_EXPRESSION = 25,
};

static const char *const FUNCTION_NAMES[] = {"sin",  "cos", "tan", "asin", "acos", "atan", "atan2",
                                             "sqrt", "exp", "log", "abs",  "min",  "max"};
enum { FUNCTION_COUNT = sizeof FUNCTION_NAMES / sizeof FUNCTION_NAMES[0] };

struct expression_set {
    hn_context *context;
    locale_t plain;          // the C locale
    muParserHandle_t parser; // NULL until the first expression
    char **names;            // parameters
    double *values;
    unit_guess *units;
    int count, capacity, value_capacity, unit_capacity;
    bool any_unit; // of any parameter
    name_table table;
};

static double minimum(const double *values, int count)
{
    double smallest = count > 0 ? values[0] : 0.0;
    for (int i = 1; i < count; ++i) smallest = values[i] < smallest ? values[i] : smallest;
    return smallest;
}

static double maximum(const double *values, int count)
{
    double largest = count > 0 ? values[0] : 0.0;
    for (int i = 1; i < count; ++i) largest = values[i] > largest ? values[i] : largest;
    return largest;
}

hn_status expression_set_create(hn_context *context, expression_set **set)
{
    *set = context_allocate(context, sizeof **set);
    if (*set == NULL) return HN_OUT_OF_MEMORY;
    (*set)->context = context;
    (*set)->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if ((*set)->plain != (locale_t)0) return HN_OK;
    context_release(context, *set);
    *set = NULL;
    return context_fail(context, HN_OUT_OF_MEMORY, "no memory for the number reader");
}

void expression_set_destroy(expression_set *set)
{
    if (set == NULL) return;
    freelocale(set->plain);
    if (set->parser != NULL) mupRelease(set->parser);
    for (int i = 0; i < set->count; ++i) context_release(set->context, set->names[i]);
    context_release(set->context, set->names);
    context_release(set->context, set->values);
    context_release(set->context, set->units);
    name_table_clear(set->context, &set->table);
    context_release(set->context, set);
}

HN_PRINTF(3, 4) static bool fail(expression_error *error, int position, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->position = position;
    return false;
}

// ---- plain numbers -------------------------------------------------------------------------------------

static const char *skip_digits(const char *c)
{
    while (*c >= '0' && *c <= '9') ++c;
    return c;
}

// A plain decimal number ("-2.5e-3"); false for anything else.
static bool plain_number(const expression_set *set, const char *text, double *value)
{
    // [+-] digits [. digits] [e [+-] digits], at least one digit before the exponent
    const char *c = text;
    if (*c == '+' || *c == '-') ++c;
    const char *whole = c;
    c = skip_digits(c);
    long digits = c - whole;
    if (*c == '.') {
        const char *fraction = ++c;
        c = skip_digits(c);
        digits += c - fraction;
    }
    if (digits == 0) return false;
    if (*c == 'e' || *c == 'E') {
        ++c;
        if (*c == '+' || *c == '-') ++c;
        const char *exponent = c;
        c = skip_digits(c);
        if (c == exponent) return false;
    }
    if (*c != '\0') return false;
    *value = strtod_l(text, NULL, set->plain);
    return true;
}

// ---- expressions ---------------------------------------------------------------------------------------

static bool is_word_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static hn_status make_parser(expression_set *set)
{
    muParserHandle_t p = mupCreate(muBASETYPE_FLOAT);
    if (p == NULL)
        return context_fail(set->context, HN_OUT_OF_MEMORY, "no memory for the expression reader");
    set->parser = p;
    // only what the format documents
    mupClearFun(p);
    mupClearConst(p);
    mupDefineFun1(p, "sin", sin, 0);
    mupDefineFun1(p, "cos", cos, 0);
    mupDefineFun1(p, "tan", tan, 0);
    mupDefineFun1(p, "asin", asin, 0);
    mupDefineFun1(p, "acos", acos, 0);
    mupDefineFun1(p, "atan", atan, 0);
    mupDefineFun2(p, "atan2", atan2, 0);
    mupDefineFun1(p, "sqrt", sqrt, 0);
    mupDefineFun1(p, "exp", exp, 0);
    mupDefineFun1(p, "log", log, 0);
    mupDefineFun1(p, "abs", fabs, 0);
    mupDefineMultFun(p, "min", minimum, 0);
    mupDefineMultFun(p, "max", maximum, 0);
    mupDefineConst(p, "pi", 3.14159265358979323846);
    for (int i = 0; i < set->count; ++i) mupDefineConst(p, set->names[i], set->values[i]);
    return HN_OK;
}

// The known word nearest to an unknown one: a function before a parenthesis, a parameter or pi elsewhere.
static const char *nearest_known(const expression_set *set, const char *word,
                                 bool before_parenthesis)
{
    if (before_parenthesis) return nearest_word(word, FUNCTION_NAMES, FUNCTION_COUNT);
    if (strcmp(word, "PI") == 0 || strcmp(word, "Pi") == 0) return "pi";
    return nearest_word(word, (const char *const *)set->names, set->count);
}

// Is the word at `position` a unit behind a number?
static bool is_unit(const char *text, int position, const char *word)
{
    char number[PARAMETER_NAME_MAX + 16];
    double factor;
    unit_kind kind;
    while (position > 0 && text[position - 1] == ' ') --position;
    if (position == 0 || !(is_word_character(text[position - 1]) || text[position - 1] == ')'))
        return false;
    snprintf(number, sizeof number, "1 %s", word);
    return unit_split(number, &factor, &kind) < strlen(number);
}

// Would a blank before `position` make the rest of the text the unit of what is before?
static bool is_unit_to_the_end(const char *text, int position)
{
    char number[PARAMETER_NAME_MAX + 16];
    double factor;
    unit_kind kind;
    if (strlen(text + position) > PARAMETER_NAME_MAX) return false;
    snprintf(number, sizeof number, "1 %s", text + position);
    return unit_split(number, &factor, &kind) <= 2; // behind "1" and the blank
}

static bool ends_in_parenthesis(const char *text)
{
    int open = 0;
    for (const char *c = text; *c != '\0'; ++c) open += *c == '(' ? 1 : *c == ')' ? -1 : 0;
    return open > 0;
}

static bool fail_parse(const expression_set *set, const char *text, expression_error *error)
{
    int code = mupGetErrorCode(set->parser), position = mupGetErrorPos(set->parser);
    int length = (int)strlen(text);
    if (position < 0 || position > length) position = length;

    // the word at the position, or the single character
    int end = position;
    while (end < length && end - position < PARAMETER_NAME_MAX && is_word_character(text[end]))
        ++end;
    if (end == position && end < length) ++end;
    while (end < length && ((unsigned char)text[end] & 0xc0) == 0x80)
        ++end; // whole UTF-8 characters
    char word[PARAMETER_NAME_MAX + 8];
    memcpy(word, text + position, (size_t)(end - position));
    word[end - position] = '\0';

    switch (code) {
    case MU_UNASSIGNABLE_TOKEN: {
        if (!is_word_character(word[0]))
            return fail(error, position,
                        "'%s' cannot stand here; expected a number or an expression", word);
        for (int i = 0; i < FUNCTION_COUNT; ++i)
            if (strcmp(word, FUNCTION_NAMES[i]) == 0)
                return fail(error, position, "the function '%s' needs its argument in parentheses",
                            word);
        const char *nearest = nearest_known(set, word, text[end] == '(');
        if (nearest != NULL)
            return fail(error, position, "unknown word '%s' in an expression (did you mean '%s'?)",
                        word, nearest);
        // "30deg", with nothing behind it
        if (is_unit(text, position, word) && position > 0 && text[position - 1] != ' ' &&
            is_unit_to_the_end(text, position))
            return fail(error, position,
                        "'%s' stands close to its number; expected a blank between them", word);
        if (is_unit(text, position, word))
            return fail(
                error, position,
                "'%s' inside an expression; expected units only behind a whole value, such as "
                "'2*3 mm', and SI units inside (a degree is pi/180)",
                word);
        return fail(error, position,
                    "unknown word '%s'; expected a number, a function, pi or a parameter", word);
    }
    case MU_EMPTY_EXPRESSION:
    case MU_UNEXPECTED_EOF:
    case MU_MISSING_PARENTHESIS:
        // the usual cause: in {max(1, 2)} YAML ends the value at the comma
        if (ends_in_parenthesis(text))
            return fail(error, length,
                        "the expression ends inside a parenthesis (with a comma inside [] or {}, "
                        "put it in quotes)");
        return fail(error, length, "the expression ends too early");
    case MU_TOO_MANY_PARAMETERS:
        return fail(error, position, "too many arguments of a function in the expression");
    case MU_TOO_FEW_PARAMETERS:
        return fail(error, position, "too few arguments of a function in the expression");
    case MU_UNEXPECTED_OPERATOR:
    case MU_UNEXPECTED_ARGUMENT_SEPARATOR:
    case MU_UNEXPECTED_ARGUMENT:
    case MU_UNEXPECTED_VALUE:
    case MU_UNEXPECTED_VARIABLE:
    case MU_UNEXPECTED_PARENTHESIS:
    case MU_UNEXPECTED_FUNCTION:
        return fail(error, position, "'%s' cannot stand here in the expression", word);
    default: return fail(error, position, "the expression cannot be read from here on");
    }
}

// <=, >=, == and !=
static bool is_comparison(const char *c)
{
    return c[1] == '=' && (*c == '<' || *c == '>' || *c == '=' || *c == '!');
}

// Characters that cannot stand in any expression, and the parser itself.
static bool prepare(expression_set *set, const char *text, expression_error *error)
{
    if (strlen(text) > EXPRESSION_LENGTH_MAX)
        return fail(error, 0, "the expression is longer than %d characters", EXPRESSION_LENGTH_MAX);
    for (const char *c = text; *c != '\0'; ++c) {
        if (is_comparison(c)) ++c;
        else if (*c == '"' || *c == '=' || (unsigned char)*c >= 0x80)
            return fail(error, (int)(c - text),
                        "this character cannot stand in an expression; expected a number");
    }
    if (set->parser == NULL && make_parser(set) != HN_OK)
        return fail(error, 0, "no memory for the expression reader");
    return true;
}

bool expression_evaluate(expression_set *set, const char *text, double *value,
                         expression_error *error)
{
    if (plain_number(set, text, value)) {
        if (isfinite(*value)) return true;
        return fail(error, 0, "'%.40s' is too large; expected a finite number", text);
    }
    static const char *const NOT_FINITE[] = {"nan",   ".nan", "inf",   ".inf",    "+inf",
                                             "+.inf", "-inf", "-.inf", "infinity"};
    for (size_t i = 0; i < sizeof NOT_FINITE / sizeof NOT_FINITE[0]; ++i)
        if (strcasecmp(text, NOT_FINITE[i]) == 0)
            return fail(error, 0, "'%s' found; expected a finite number", text);
    if (!prepare(set, text, error)) return false;

    mupErrorReset(set->parser);
    mupSetExpr(set->parser, text);
    if (mupError(set->parser)) return fail_parse(set, text, error);
    int count = 0;
    const muFloat_t *results = mupEvalMulti(set->parser, &count);
    if (mupError(set->parser) || results == NULL) return fail_parse(set, text, error);
    if (count != 1) return fail(error, 0, "the expression gives %d numbers; expected one", count);
    *value = results[count - 1];
    if (!isfinite(*value))
        return fail(error, 0, "the value of '%.60s' is %g; expected a finite number", text, *value);
    return true;
}

unit_guess expression_unit(const expression_set *set, const char *text)
{
    double value;
    if (!set->any_unit || plain_number(set, text, &value)) return (unit_guess){.known = false};
    return unit_infer(text, (const char *const *)set->names, set->units, set->count);
}

hn_status expression_define(expression_set *set, const char *name, double value,
                            const unit_guess *unit, expression_error *error)
{
    size_t length = strlen(name);
    bool usable = length > 0 && length <= PARAMETER_NAME_MAX && !(name[0] >= '0' && name[0] <= '9');
    for (size_t i = 0; i < length; ++i) usable = usable && is_word_character(name[i]);
    if (!usable) {
        fail(error, 0,
             "'%.60s' cannot name a parameter; expected letters, digits and _, not beginning with "
             "a digit",
             name);
        return HN_INVALID_ARGUMENT;
    }
    bool taken = strcmp(name, "pi") == 0 || name_table_find(&set->table, name) >= 0;
    for (int i = 0; i < FUNCTION_COUNT; ++i) taken = taken || strcmp(name, FUNCTION_NAMES[i]) == 0;
    if (taken) {
        fail(error, 0, "'%s' cannot name a parameter: it already has a meaning", name);
        return HN_INVALID_ARGUMENT;
    }

    void *names = set->names, *values = set->values, *units = set->units;
    hn_status status =
        context_grow(set->context, &names, &set->capacity, set->count + 1, sizeof *set->names);
    set->names = names;
    TRY(status);
    status = context_grow(set->context, &values, &set->value_capacity, set->count + 1,
                          sizeof *set->values);
    set->values = values;
    TRY(status);
    status =
        context_grow(set->context, &units, &set->unit_capacity, set->count + 1, sizeof *set->units);
    set->units = units;
    TRY(status);
    char *copy = context_copy_string(set->context, name);
    if (copy == NULL) return HN_OUT_OF_MEMORY;
    status = name_table_add(set->context, &set->table, copy, set->count);
    if (status != HN_OK) {
        context_release(set->context, copy);
        return status;
    }
    set->names[set->count] = copy;
    set->values[set->count] = value;
    set->units[set->count] = *unit;
    set->any_unit = set->any_unit || unit->known;
    set->count += 1;
    if (set->parser != NULL) mupDefineConst(set->parser, name, value);
    return HN_OK;
}

// ---- expressions in time ---------------------------------------------------------------------------------

// End of the number, the word or the single character at `c`; numbers as muParser reads them.
static const char *token_end(const char *c)
{
    if ((*c >= '0' && *c <= '9') || *c == '.') {
        while ((*c >= '0' && *c <= '9') || *c == '.') ++c;
        if (*c != 'e' && *c != 'E') return c;
        const char *digits = c + (c[1] == '+' || c[1] == '-' ? 2 : 1), *end = skip_digits(digits);
        return end > digits ? end : c;
    }
    if (!is_word_character(*c)) return c + 1;
    while (is_word_character(*c)) ++c;
    return c;
}

bool expression_has_time(const char *text)
{
    for (const char *c = text, *end; *c != '\0'; c = end) {
        end = token_end(c);
        if (end - c == 1 && *c == 't') return true;
    }
    return false;
}

bool expression_in_time(expression_set *set, const char *text, char *plain, size_t size,
                        expression_error *error)
{
    double t = 0.0;
    if (!prepare(set, text, error)) return false;
    if (name_table_find(&set->table, "t") >= 0)
        return fail(error, 0, "a parameter has the name t, which is the time here; rename it");
    mupErrorReset(set->parser);
    mupDefineVar(set->parser, "t", &t);
    mupSetExpr(set->parser, text);
    int count = 0;
    bool read = !mupError(set->parser) && mupEvalMulti(set->parser, &count) != NULL &&
                !mupError(set->parser);
    if (!read) (void)fail_parse(set, text, error);
    mupErrorReset(set->parser);
    mupRemoveVar(set->parser, "t");
    if (!read) return false;
    if (count != 1) return fail(error, 0, "the expression gives %d numbers; expected one", count);

    size_t used = 0;
    for (const char *c = text, *end; *c != '\0'; c = end) {
        char word[PARAMETER_NAME_MAX + 1] = "";
        end = token_end(c);
        size_t length = (size_t)(end - c);
        if (is_word_character(*c) && length < sizeof word) memcpy(word, c, length);
        int known = word[0] == '\0' ? -1 : name_table_find(&set->table, word);
        char number[NUMBER_TEXT_SIZE];
        int written = known < 0 ? snprintf(plain + used, size - used, "%.*s", (int)length, c)
                                : snprintf(plain + used, size - used, "(%s)",
                                           number_text(set->values[known], number));
        used += (size_t)written;
        if (used >= size) return fail(error, 0, "the expression is too long with its parameters");
    }
    return true;
}
