// SPDX-License-Identifier: MIT
// Inertia tensors: principal moments and axes, the parallel axis theorem.
#ifndef MODEL_INERTIA_H
#define MODEL_INERTIA_H

#include <holonom/base.h>

/// Principal moments (ascending is not promised: they stay as near to the given order as the rotations leave them) and
/// principal axes (columns, right-handed) of a symmetric tensor, by Jacobi rotations. A diagonal tensor is returned
/// unchanged with the identity.
void inertia_principal(const hn_mat3 *tensor, hn_vec3 *moments, hn_mat3 *axes);

/// Add to `tensor` what a mass at `offset` from the reference point contributes: m (|d|^2 I - d d^T).
void inertia_add_point(hn_mat3 *tensor, double mass, hn_vec3 offset);

/// R J R^T
hn_mat3 inertia_rotate(const hn_mat3 *rotation, const hn_mat3 *tensor);

#endif
