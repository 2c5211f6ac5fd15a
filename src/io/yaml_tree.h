// SPDX-License-Identifier: MIT
// YAML text as a compact tree of nodes that know their line and column.
#ifndef IO_YAML_TREE_H
#define IO_YAML_TREE_H

#include "base/context.h"

typedef enum yaml_kind {
    YAML_SCALAR,
    YAML_SEQUENCE,
    YAML_MAPPING,
    YAML_ALIAS, ///< stands for another node; yaml_node_at never returns it
} yaml_kind;

/// Children are a linked list; those of a mapping alternate between key and value.
typedef struct yaml_node {
    uint32_t text;        ///< scalar: offset into the tree's text; alias: index of its target
    uint32_t length;      ///< scalar: bytes, without the closing zero
    int32_t line, column; ///< both from 1
    int32_t first, next;  ///< indices of the first child and the next sibling, -1: none
    int32_t count;        ///< entries of a sequence, pairs of a mapping
    uint8_t kind;         ///< yaml_kind
    bool quoted;          ///< scalar in quotes: its text begins one column further
    bool block;           ///< scalar in block style (| or >): its text begins elsewhere
} yaml_node;

typedef struct yaml_tree {
    hn_context *context;
    yaml_node *nodes;
    int count, capacity;
    char *text; ///< zero-terminated scalars one after the other
    int text_count, text_capacity;
    int root;
} yaml_tree;

/// Read one YAML document. Everything a hostile file can do (nesting, aliases that multiply, duplicate keys, several
/// documents, tags, bytes that are not UTF-8 text) ends in HN_FILE_FORMAT with `file`:line:column in the message.
/// yaml_tree_clear must be called in any case.
hn_status yaml_tree_read(hn_context *context, const char *text, size_t length, const char *file, yaml_tree *tree);

void yaml_tree_clear(yaml_tree *tree);

/// The node at an index, aliases followed.
const yaml_node *yaml_node_at(const yaml_tree *tree, int index);

/// Zero-terminated text of a scalar.
static inline const char *yaml_text(const yaml_tree *tree, const yaml_node *node)
{
    return tree->text + node->text;
}

/// Index of the value of `key` in a mapping, or -1.
int yaml_find(const yaml_tree *tree, const yaml_node *mapping, const char *key);

#endif
