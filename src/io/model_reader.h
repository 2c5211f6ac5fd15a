// SPDX-License-Identifier: MIT
// Reading a model file: typed values out of YAML nodes, with file:line:column in every message.
#ifndef IO_MODEL_READER_H
#define IO_MODEL_READER_H

#include "base/vector.h"
#include "io/expression.h"
#include "io/yaml_tree.h"
#include "model/model.h"

typedef struct model_reader {
    hn_context *context;
    const char *file;
    yaml_tree tree;
    expression_set *expressions;
    hn_model *model;
    const char **jointed; ///< bodies at joints with places in the bodies' frames, sorted
    const char **drawn;   ///< bodies at joints with places in the world, likewise
    int jointed_count, drawn_count;
    int *wide_angles; ///< bare angles of more than a turn
} model_reader;

/// HN_FILE_FORMAT with a message that begins with the place of the node at `index`.
HN_PRINTF(3, 4) hn_status reader_fail(const model_reader *r, int index, const char *format, ...);

/// Put the place of a node before the message that a call of the model layer left; HN_OK passes.
hn_status reader_place(const model_reader *r, int index, hn_status status);

/// Line and column of a node, for the model to remember.
model_place reader_position(const model_reader *r, int index);

/// The node at an index, aliases followed.
static inline const yaml_node *reader_node(const model_reader *r, int index)
{
    return yaml_node_at(&r->tree, index);
}

/// Text of the scalar at an index.
static inline const char *reader_text(const model_reader *r, int index)
{
    return yaml_text(&r->tree, reader_node(r, index));
}

/// Next key of a mapping after `key` (a key's index), or -1; reader_value gives the value of a key.
static inline int reader_next_key(const model_reader *r, int key)
{
    return r->tree.nodes[r->tree.nodes[key].next].next;
}
static inline int reader_value(const model_reader *r, int key)
{
    return r->tree.nodes[key].next;
}

/// Index of the value of `key` in the mapping at `map`, or -1.
int reader_find(const model_reader *r, int map, const char *key);
/// As reader_find, but a missing key is an error: "missing 'key' in WHAT".
hn_status reader_require(const model_reader *r, int map, const char *key, const char *what, int *value);

/// Expect a mapping; `what` names it in the message.
hn_status reader_expect_map(const model_reader *r, int index, const char *what);
/// Expect a mapping whose keys are all among `words`; an unknown key names the nearest word.
hn_status reader_expect_keys(const model_reader *r, int index, const char *what, const char *const *words, int count);
/// Expect a list of `count` entries (-1: any number, at least one) and give the index of the first.
hn_status reader_expect_list(const model_reader *r, int index, const char *what, int count, int *first);

/// Fail with "unknown WHAT 'word' in WHERE (did you mean ...?)" or a list of the words; `where` may be NULL.
hn_status reader_fail_word(const model_reader *r, int index, const char *what, const char *where, const char *word,
                           const char *const *words, int count);

hn_status reader_word(const model_reader *r, int index, const char *what, const char **word);
hn_status reader_boolean(const model_reader *r, int index, const char *what, bool *value);
/// A number whose unit, where it has one, is one of the quantity. A bare number that stands for an angle of more than a
/// turn gets a note.
hn_status reader_number(const model_reader *r, int index, const char *what, quantity q, double *value);
/// A number above zero; `unit` completes "expected a positive number of UNIT".
hn_status reader_positive(const model_reader *r, int index, const char *what, quantity q, const char *unit,
                          double *value);
/// A list of numbers, all of one quantity or each of its own; angles get no notes.
hn_status reader_numbers(const model_reader *r, int index, const char *what, quantity q, int count, double *values);
hn_status reader_numbers_each(const model_reader *r, int index, const char *what, const quantity *q, int count,
                              double *values);
hn_status reader_vector(const model_reader *r, int index, const char *what, quantity q, hn_vec3 *value);
/// A number of any kind, and what is known of its unit.
hn_status reader_united(const model_reader *r, int index, const char *what, double *value, unit_guess *unit);
/// What is known of the unit of a number, or of the first of a list that has one.
unit_guess reader_unit(const model_reader *r, int index);
/// Refuse a unit that is not one of the quantity: the text of a number or an expression, whose unit begins at `split`.
hn_status reader_check_unit(const model_reader *r, int index, const char *what, quantity q, const unit_guess *unit,
                            size_t split);

/// A direction: x, y, z, -x, ..., three numbers not all zero, or d1, d2, d3, -d1, ...: columns of `frame` (NULL: not
/// offered here). Not normalised.
hn_status reader_direction(const model_reader *r, int index, const char *what, const hn_mat3 *frame, hn_vec3 *value);

/// {rotate: ...}, {matrix: ...} or {quaternion: ...}; `owner` stands in messages.
hn_status reader_orientation(const model_reader *r, int index, const char *owner, hn_mat3 *orientation);

/// Write out the repetitions of the file, before its sections are read.
hn_status reader_repeat(model_reader *r, int root);

/// Find how the joints of the section at `index` are given.
hn_status reader_scan_joints(model_reader *r, int index);
/// All joints of a body have places in both their bodies' frames: they can place it.
bool reader_is_jointed(const model_reader *r, const char *body);

/// A body by name, or a node of a beam; "ground" where `ground_allowed`.
hn_status reader_body(const model_reader *r, int index, bool ground_allowed, hn_body_id *body);
hn_status reader_joint(const model_reader *r, int index, hn_joint_id *joint);

hn_status reader_beam(const model_reader *r, int index, hn_beam_id *beam);
/// {beam, at}: the node at an arc length.
hn_status reader_beam_node(const model_reader *r, int index, hn_body_id *body);
/// A beam that moves as a rigid body at the start: velocity of its first node, and angular velocity.
hn_status reader_beam_start(const model_reader *r, int index, hn_beam_id beam, const hn_vec3 *velocity,
                            const hn_vec3 *angular_velocity);

/// A function of time with a scale; `block` holds its table or text and belongs to the caller.
typedef struct time_function {
    hn_profile profile;
    double scale;
    void *block;
} time_function;
/// A number, an expression in t, or a map with one of table, spline, pulse, step, expression and perhaps scale. The
/// unit stands at the scale or at what it multiplies.
hn_status reader_time_function(const model_reader *r, int index, const char *what, quantity q, time_function *f);
/// The kind of a function of time in a map that may hold other keys too; none: constant.
hn_status reader_time_kind(const model_reader *r, int map, quantity q, time_function *f);
/// A table of numbers over increasing ones: words of these and one of two for the values, quantities of both.
typedef struct table_words {
    const char *words[3];
    const char *unit; ///< of the first in messages
    quantity from, to;
} table_words;
hn_status reader_table(const model_reader *r, int index, const char *what, hn_profile_kind kind,
                       const table_words *words, time_function *f);
/// Kind and content of {kind: {...}}.
hn_status reader_kind(const model_reader *r, int index, const char *owner, const char *const *words, int count,
                      const char **word, int *map);

/// The sections of a model file; `index` is the section's node.
hn_status reader_bodies(model_reader *r, int index);
hn_status reader_beams(model_reader *r, int index);
hn_status reader_joints(model_reader *r, int index);
hn_status reader_loads(model_reader *r, int index);
hn_status reader_couplings(model_reader *r, int index);
hn_status reader_drives(model_reader *r, int index);
/// A motion of a body, or by a rotation (model_motions.c): is it one? Add its drives.
bool reader_is_free_motion(const model_reader *r, int map);
hn_status reader_free_motion(const model_reader *r, int key, int map, const char *owner);
hn_status reader_outputs(model_reader *r, int index);
hn_status reader_start(model_reader *r, int index);
/// Joint coordinates of the `start` section (-1: none), and all bodies placed where that is asked for or needed.
hn_status reader_assembly(model_reader *r, int index);

#define WORD_COUNT(words) ((int)(sizeof(words) / sizeof((words)[0])))

#endif
