// SPDX-License-Identifier: MIT
// A geometrically exact beam element of two nodes: strains, and the numbers an element keeps.
// Note: docs/theory/beams.md
#ifndef ELEMENTS_BEAM_H
#define ELEMENTS_BEAM_H

enum { BEAM_STRAINS = 6 };

/// What a beam element knows beside its nodes. Strains are (shear along d1, d2, stretch; bending about d1, d2,
/// torsion).
typedef struct beam_element {
    double length;                                 ///< m, of the reference axis
    double stiffness[BEAM_STRAINS][BEAM_STRAINS];  ///< N, N m, N m^2; symmetric
    double rest[BEAM_STRAINS];                     ///< strain measures of the reference shape: 1, 1/m
    double damping;                                ///< s, of the stiffness
} beam_element;

/// Strain measures (G1) at the poses a and b of its nodes, without those of the reference shape: 1, 1/m.
void beam_strain_measures(double length, const double *a, const double *b, double *measures);

/// Strains and stress resultants (N, N m) at the poses a and b, components along d1, d2, d3.
void beam_resultants(const beam_element *beam, const double *a, const double *b, double *strain, double *resultant);

/// Angle between the nodes at the poses a and b, less that of the reference shape as far as bending and torsion measure
/// it, rad.
double beam_bend(const beam_element *beam, const double *a, const double *b);

#endif
