// SPDX-License-Identifier: MIT
// "Did you mean ...?": the known word nearest to a misspelt one.
#ifndef BASE_NEAREST_WORD_H
#define BASE_NEAREST_WORD_H

/// The word of `words` nearest to `word` by edit distance, or NULL when none is near enough to be a likely typo.
const char *nearest_word(const char *word, const char *const *words, int count);

#endif
