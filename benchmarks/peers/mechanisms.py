# SPDX-License-Identifier: MIT
"""The mechanisms that all engines simulate, as the text of mechanism.h."""

import math

GRAVITY = (0.0, 0.0, -9.81)


def body(parent, kind, place, axis, centre, mass, inertia, rates=()):
    """One line; `inertia`: xx, yy, zz and, if not zero, xy, xz, yz about the centre of mass, world axes at the start."""
    rates = list(rates) + [0.0] * (6 - len(rates))
    inertia = list(inertia) + [0.0] * (6 - len(inertia))
    return " ".join(["body", str(parent), kind, *(repr(float(x)) for x in
                     [*place, *axis, *centre, mass, *inertia, *rates])])


def close(a, b, kind, place, axis=(0, 0, 0)):
    return " ".join(["close", str(a), str(b), kind, *(repr(float(x)) for x in [*place, *axis])])


def text(lines, gravity=GRAVITY):
    return "gravity {} {} {}\n".format(*gravity) + "\n".join(lines) + "\n"


def box(mass, size):
    x, y, z = (mass * s * s / 12.0 for s in size)
    return (y + z, x + z, x + y)


def rod(mass, a, b, width):
    """Inertia of a bar of square section from a to b, which lies along an axis of the world."""
    return box(mass, [abs(q - p) + (width if p == q else 0.0) for p, q in zip(a, b)])


def chain(count, kind="hinge"):
    """Boxes of 1 m by 0.1 m by 0.1 m and 1 kg, end to end along x, let go from level."""
    return text([body(k - 1, kind, (k, 0, 0), (0, 1, 0), (k + 0.5, 0, 0), 1.0, box(1.0, (1.0, 0.1, 0.1)))
                 for k in range(count)])


def tree(count, kind="hinge"):
    """The same boxes as a binary tree: both children at the end of their parent."""
    depth = [int(math.log2(k + 1)) for k in range(count)]
    return text([body((k - 1) // 2 if k else -1, kind, (depth[k], 0, 0), (0, 1, 0) if k % 2 else (0, 0.6, 0.8),
                      (depth[k] + 0.5, 0, 0), 1.0, box(1.0, (1.0, 0.1, 0.1))) for k in range(count)])


def top():
    """A heavy top on its tip that spins at 60 rad/s, tilted by its inertia's axes: gravity is tilted instead."""
    lean = math.radians(30)
    gravity = (9.81 * math.sin(lean), 0.0, -9.81 * math.cos(lean))
    return text([body(-1, "ball", (0, 0, 0), (0, 0, 1), (0, 0, 0.1), 1.0, (2e-3, 2e-3, 1e-3), (0.5, 0.0, 60.0))], gravity)


def humanoid():
    """Fifteen bodies in flight: a free pelvis; balls at waist, neck, shoulders, hips; hinges at elbows, knees, feet."""
    lines = [body(-1, "free", (0, 0, 1), (0, 0, 1), (0, 0, 1), 11.0, box(11.0, (0.2, 0.3, 0.2)),
                  (1.0, 0.2, 4.0, 0.4, 3.0, 0.6)),
             body(0, "ball", (0, 0, 1.1), (0, 0, 1), (0, 0, 1.35), 28.0, box(28.0, (0.2, 0.35, 0.5)), (0.3, -1.0, 0.5)),
             body(1, "ball", (0, 0, 1.6), (0, 0, 1), (0, 0, 1.75), 5.0, box(5.0, (0.18, 0.15, 0.25)), (0.0, 1.0, 1.0))]
    for side in (1, -1):
        at, first = 0.22 * side, len(lines)
        lines += [body(1, "ball", (0, at, 1.55), (0, 0, 1), (0, at, 1.4), 2.0, box(2.0, (0.08, 0.08, 0.3)), (1.0 * side, 2.0, 0.3)),
                  body(first, "hinge", (0, at, 1.25), (0, 1, 0), (0, at, 1.11), 1.3, box(1.3, (0.07, 0.07, 0.28)), (-3.0,)),
                  body(first + 1, "hinge", (0, at, 0.97), (1, 0, 0), (0, at, 0.9), 0.5, box(0.5, (0.03, 0.08, 0.15)), (1.0,))]
    for side in (1, -1):
        at, first = 0.1 * side, len(lines)
        lines += [body(0, "ball", (0, at, 0.9), (0, 0, 1), (0, at, 0.7), 8.0, box(8.0, (0.14, 0.14, 0.42)), (0.5 * side, -2.0, 0.2)),
                  body(first, "hinge", (0, at, 0.48), (0, 1, 0), (0, at, 0.28), 3.5, box(3.5, (0.1, 0.1, 0.4)), (2.0,)),
                  body(first + 1, "hinge", (0, at, 0.08), (0, 1, 0), (0.06, at, 0.04), 1.0, box(1.0, (0.25, 0.1, 0.07)), (-1.0,))]
    return text(lines)


def ladder(cells):
    """Parallelograms below each other, rails of 1 m and rungs of 1 m, the first pair of rails on the ground: a loop per cell."""
    lines, width = [], 0.1
    for k in range(cells):
        rate = 1.0 if k % 2 == 0 else -1.0  # of the rails; rungs stay level
        for side in (0, 1):
            a, b = (side, 0, -k), (side, 0, -k - 1)
            lines.append(body(3 * k - 1, "hinge", a, (0, 1, 0), (side, 0, -k - 0.5), 1.0, rod(1.0, a, b, width), (rate,)))
        a, b = (0, 0, -k - 1), (1, 0, -k - 1)
        lines.append(body(3 * k, "hinge", a, (0, 1, 0), (0.5, 0, -k - 1), 1.0, rod(1.0, a, b, width), (-rate,)))
    return text(lines + [close(3 * k + 1, 3 * k + 2, "hinge", (1, 0, -k - 1), (0, 1, 0)) for k in range(cells)])


def bricard():
    """Bricard's hexagon along the edges of a cube: five bars between the ground's two hinges, one freedom, a redundant row."""
    corners = [(1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1), (0, 0, 0)]
    axes = [(0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0)]
    lines = [body(k - 1, "hinge", corners[k], axes[k], [(p + q) / 2 for p, q in zip(corners[k], corners[k + 1])], 1.0,
                  rod(1.0, corners[k], corners[k + 1], 0.1)) for k in range(5)]
    return text(lines + [close(4, -1, "hinge", corners[5], axes[5])], (0.0, -9.81, 0.0))


def tetrahedron(corners, density):
    """Mass, centre and inertia (xx, yy, zz, xy, xz, yz about the centre)."""
    a, *rest = corners
    edges = [[q - p for p, q in zip(a, corner)] for corner in rest]
    (x1, y1, z1), (x2, y2, z2), (x3, y3, z3) = edges
    mass = density * abs(x1 * (y2 * z3 - z2 * y3) - y1 * (x2 * z3 - z2 * x3) + z1 * (x2 * y3 - y2 * x3)) / 6
    centre = [sum(corner[k] for corner in corners) / 4 for k in range(3)]
    # second moments of a tetrahedron about its centre: of its corners, a twentieth each
    arms = [[corner[k] - centre[k] for k in range(3)] for corner in corners]
    moment = [[mass / 20 * sum(arm[i] * arm[j] for arm in arms) for j in range(3)] for i in range(3)]
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = moment
    return mass, centre, (yy + zz, xx + zz, xx + yy, -xy, -xz, -yz)


def six_body():
    """Six tetrahedra hinged into a ring, the first on the ground: Bricard's invertible cube, as models/six-body-linkage.yaml."""
    l = 0.1
    a = l * math.tan(0.16 * math.pi)
    shapes = [[(0, l, 0), (0, l, -a), (l, l, 0), (l, l - a, 0)], [(l, l, 0), (l, l - a, 0), (l, l, -l), (l - a, l, -l)],
              [(l, l, -l), (l - a, l, -l), (l, 0, -l), (l, 0, a - l)], [(l, 0, -l), (l, 0, a - l), (0, 0, -l), (0, a, -l)],
              [(0, 0, -l), (0, a, -l), (0, 0, 0), (a, 0, 0)]]
    places = [(0, l, 0), (l, l, 0), (l, l, -l), (l, 0, -l), (0, 0, -l), (0, 0, 0)]
    axes = [(0, 0, -1), (0, -1, 0), (-1, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    lines = []
    for k, corners in enumerate(shapes):
        mass, centre, inertia = tetrahedron(corners, 1000.0)
        lines.append(body(k - 1, "hinge", places[k], axes[k], centre, mass, inertia, (30.0,)))
    return text(lines + [close(4, -1, "hinge", places[5], axes[5])])


def beam(elements):
    """A slender beam of 1 m, clamped at the origin along x, let go from straight: its tip falls by more than half its length."""
    return text([f"beam {elements} 1.0 1.0 1e-6 1e6 4e5 1.0"])
