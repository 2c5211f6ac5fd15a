// SPDX-License-Identifier: MIT
// "Did you mean ...?": the known word nearest to a misspelt one.
#ifndef BASE_NEAREST_WORD_H
#define BASE_NEAREST_WORD_H

/// The word of `words` nearest to `word` by edit distance, or the only one that `word` is a part of (`length`:
/// `rest_length`) or that is a part of it; NULL when none is likely to be meant.
const char *nearest_word(const char *word, const char *const *words, int count);

#endif
