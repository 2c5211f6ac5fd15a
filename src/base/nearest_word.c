// SPDX-License-Identifier: MIT
// Edit distance with transpositions (optimal string alignment) over short words; failing that, parts of words.
#include "base/nearest_word.h"

#include <stdbool.h>
#include <string.h>

enum { WORD_MAX = 48 };

static int minimum(int a, int b)
{
    return a < b ? a : b;
}

static int edit_distance(const char *a, int a_length, const char *b, int b_length)
{
    int row[3][WORD_MAX + 1];
    for (int j = 0; j <= b_length; ++j) row[0][j] = j;
    for (int i = 1; i <= a_length; ++i) {
        int *current = row[i % 3], *previous = row[(i - 1) % 3], *before = row[(i + 1) % 3];
        current[0] = i;
        for (int j = 1; j <= b_length; ++j) {
            int change = a[i - 1] == b[j - 1] ? 0 : 1;
            int best =
                minimum(minimum(previous[j] + 1, current[j - 1] + 1), previous[j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = minimum(best, before[j - 2] + 1);
            current[j] = best;
        }
    }
    return row[a_length % 3][b_length];
}

// Is `part` one of the parts of a word like `rest_length` or `energy-momentum`?
static bool is_part(const char *part, int length, const char *whole)
{
    if (length == 0) return false;
    for (const char *at = strstr(whole, part); at != NULL; at = strstr(at + 1, part)) {
        bool begins = at == whole || at[-1] == '_' || at[-1] == '-';
        if (begins && (at[length] == '\0' || at[length] == '_' || at[length] == '-')) return true;
    }
    return false;
}

// The only word that `word` is a part of, or that is a part of it.
static const char *only_relative(const char *word, int length, const char *const *words, int count)
{
    const char *only = NULL;
    for (int i = 0; i < count; ++i) {
        if (!is_part(word, length, words[i]) && !is_part(words[i], (int)strlen(words[i]), word))
            continue;
        if (only != NULL) return NULL;
        only = words[i];
    }
    return only;
}

const char *nearest_word(const char *word, const char *const *words, int count)
{
    int length = (int)strlen(word);
    if (length == 0 || length > WORD_MAX) return NULL;
    const char *best = NULL;
    int best_distance = WORD_MAX;
    for (int i = 0; i < count; ++i) {
        int other = (int)strlen(words[i]);
        if (other > WORD_MAX) continue;
        int distance = edit_distance(word, length, words[i], other);
        int allowed =
            (length > other ? length : other) / 3; // up to a third of the letters may be wrong
        if (distance < best_distance && distance <= (allowed > 0 ? allowed : 1) &&
            distance < minimum(length, other)) {
            best_distance = distance;
            best = words[i];
        }
    }
    return best != NULL ? best : only_relative(word, length, words, count);
}
