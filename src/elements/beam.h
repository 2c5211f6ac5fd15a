// SPDX-License-Identifier: MIT
// Geometrically exact beam elements: strains, and the numbers an element keeps.
// Note: docs/theory/beams.md
#ifndef ELEMENTS_BEAM_H
#define ELEMENTS_BEAM_H

#include <stdbool.h>

enum { BEAM_STRAINS = 6 };

/// What a beam element knows beside its nodes. Strains are (shear along d1, d2, stretch; bending about d1, d2,
/// torsion).
typedef struct beam_element {
    double length;                                 ///< m, of the reference axis between its nodes
    double weight;                                 ///< m, of its point of quadrature; linear: the length
    double stiffness[BEAM_STRAINS][BEAM_STRAINS];  ///< N, N m, N m^2; symmetric
    double rest[BEAM_STRAINS];                     ///< strain measures of the reference shape: 1, 1/m
    double damping;                                ///< s, of the stiffness
    double bow[2][2];                              ///< helical (W11): shear for its bow, by shear forces, 1/N
    double bow_stretch[2][2];                      ///< and (W12) the stretch of that, by squares and products of shears
    bool helical;                                  ///< its strains are (W9); of two nodes, as linear ones
    double turn[3];                                ///< of the reference shape: length times the bending and torsion
                                                   ///< that such an element of two nodes would have
    double shape[3], slope[3];                     ///< quadratic: N and dN/ds (1/m) at its point, of three nodes
} beam_element;

/// Strain measures (W1) at the poses a and b of its nodes, without those of the reference shape: 1, 1/m.
void beam_strain_measures(double length, const double *a, const double *b, double *measures);

/// Likewise (W9): of the helix between them.
void beam_helical_measures(double length, const double *a, const double *b, double *measures);

/// Strains of a helical element, those of the reference shape taken off, with (W12).
void beam_helical_strain(const beam_element *beam, const double *a, const double *b, double *strain);

/// Make an element helical: (W11) in its stiffness, which is that of the section before.
void beam_make_helical(beam_element *beam);

/// (W1) or (W9), as the element has it.
void beam_measures(const beam_element *beam, const double *a, const double *b, double *measures);

/// Strains and stress resultants (N, N m) of an element of two nodes at the poses a and b, components along d1, d2, d3.
void beam_resultants(const beam_element *beam, const double *a, const double *b, double *strain, double *resultant);

/// factor C strain.
void beam_stress(const beam_element *beam, double factor, const double *strain, double *stress);

/// Lower triangular L with factor C = L L^T, row-major.
void beam_root(const beam_element *beam, double factor, double root[BEAM_STRAINS][BEAM_STRAINS]);
/// stress -= factor L x: what its dampers are owed, per column of L.
void beam_take_owed(double root[BEAM_STRAINS][BEAM_STRAINS], double factor, const double *x, double *stress);

/// Sizes of what cancels in its stresses, as a force and a moment on each node.
void beam_sizes(const beam_element *beam, double factor, const double *measures, double *force, double *moment);

/// Strain measures (W6) at a point of a quadratic element with its nodes at these poses.
void beam_quadratic_measures(const beam_element *point, const double *first, const double *middle, const double *last,
                             double *measures);

/// Angle between the nodes at the poses a and b, less that of the reference shape as far as bending and torsion measure
/// it, rad.
double beam_bend(const beam_element *beam, const double *a, const double *b);

/// Angles between its nodes, rad: where the error of its moments is worth a word, and from where on it bears less for
/// being bent more. That of a linear element has (2/3) theta^2 of the moment; the helix is exact, but one curvature.
static inline double beam_bend_large(const beam_element *beam) { return beam->helical ? 1.05 : 0.5235987755982988; }
static inline double beam_bend_limit(const beam_element *beam) { return beam->helical ? 2.3 : 0.7836527674754473; }

/// N (1 + strain) l^2 is compared with this many times EI (W8), l between the end nodes of an element.
static inline double beam_tension_limit(bool quadratic) { return quadratic ? 24.0 : 4.0; }

/// Tension by what an element of its length bears (W8): above 1 a zigzag of its nodes gains energy. 0 under pressure,
/// and of helical elements, which bear any.
double beam_tension(const beam_element *beam, bool quadratic, const double *strain, const double *resultant);

#endif
