#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dry friction and impacts in minimal coordinates: the numbers of tests/physics/test_dry_friction.c and test_impacts.c.

A block on a moving belt that sticks and slides, a pendulum whose bearing rubs by its reaction, and a double pendulum with a
stop and a latch, or with two dry hinges: classical Runge-Kutta of order four, with every change of phase found by bisection, in steps that halving
does not change in the digits printed.
"""

from itertools import product
from math import cos, exp, hypot, sin


def step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, [a + h / 2 * b for a, b in zip(y, k1)])
    k3 = f(t + h / 2, [a + h / 2 * b for a, b in zip(y, k2)])
    k4 = f(t + h, [a + h * b for a, b in zip(y, k3)])
    return [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]


def until(f, g, t, y, end, h):
    """Integrate until g(t, y) > 0 or t = end: (t, y, whether g came first)."""
    while t < end - 1e-14:
        s = min(h, end - t)
        z = step(f, t, y, s)
        if g(t + s, z) > 0:
            low, high = 0.0, s
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (low, middle) if g(t + middle, step(f, t, y, middle)) > 0 else (middle, high)
            return t + high, step(f, t, y, high), True
        t, y = t + s, z
    return t, y, False


def belt(end, h=2e-4):
    """Block of 1 kg on a belt that moves with 0.3 m/s, spring of 50 N/m: starts on the belt, moving with it."""
    mass, stiff, speed, sliding, ratio, stribeck = 1.0, 50.0, 0.3, 2.0, 1.5, 0.2
    force = lambda v: sliding * (1 + (ratio - 1) * exp(-((v / stribeck) ** 2)))
    t, y, phases = 0.0, [0.0, speed], []
    while t < end - 1e-14:
        # sticks: moves with the belt until the spring is too strong
        begin = t
        t, y, slips = until(lambda t, y: [speed, 0.0], lambda t, y: stiff * y[0] - force(0.0), t, y, end, h)
        phases.append((begin, t))
        if not slips:
            break
        # slides backwards until it is as fast as the belt again
        slide = lambda t, y: [y[1], (-stiff * y[0] + force(y[1] - speed)) / mass]
        y = [y[0], speed - 1e-12]
        t, y, _ = until(slide, lambda t, y: y[1] - speed, t, y, end, h)
        y[1] = min(y[1], speed)
    return y, phases


def bearing(end, h=1e-3):
    """Pendulum of 2 kg with its centre 0.5 m from a bearing of radius 0.04 m, coefficient 0.25; stops, and sticks or not."""
    mass, arm, inertia, radius, mu, g = 2.0, 0.5, 0.1, 0.04, 0.25, 9.81

    def rates(t, y):
        # the reaction depends on the acceleration, the acceleration on the reaction: a few iterations
        angle, w = y
        a = -mass * g * arm * sin(angle) / (inertia + mass * arm * arm)
        for _ in range(60):
            fx = mass * arm * (a * cos(angle) - w * w * sin(angle))
            fy = mass * g + mass * arm * (a * sin(angle) + w * w * cos(angle))
            torque = mu * radius * hypot(fx, fy) * (1 if w > 0 else -1 if w < 0 else 0)
            a = (-mass * g * arm * sin(angle) - torque) / (inertia + mass * arm * arm)
        return [w, a]

    t, y, turns = 0.0, [1.2, -1e-12], 0
    while t < end - 1e-14:
        sign = -1 if y[1] < 0 else 1
        t, y, turned = until(rates, lambda t, y: -sign * y[1], t, y, end, h)
        if turned:
            # in rest the bearing carries the weight
            if abs(mass * g * arm * sin(y[0])) <= mu * radius * mass * g:
                return [y[0], 0.0], turns, t
            turns += 1
            y = [y[0], -sign * 1e-13]
    return y, turns, None


M1, M2, I1, I2, C1, C2, L1, G = 1.0, 0.5, 0.1, 0.05, 0.5, 0.3, 1.0, 9.81  # of two links


def link_mass(q):
    m12 = I2 + M2 * (C2 * C2 + L1 * C2 * cos(q[1]))
    return I1 + M1 * C1 * C1 + I2 + M2 * (L1 * L1 + C2 * C2 + 2 * L1 * C2 * cos(q[1])), m12, I2 + M2 * C2 * C2


def link_efforts(y):
    q1, q2, w1, w2 = y
    s = M2 * L1 * C2 * sin(q2)
    g2 = M2 * G * C2 * cos(q1 + q2)
    return s * (2 * w1 * w2 + w2 * w2) + (M1 * C1 + M2 * L1) * G * cos(q1) + g2, -s * w1 * w1 + g2


def links(y, held, friction):
    """Accelerations of two links with these efforts of friction, and what it takes to hold the hinges that are held."""
    m11, m12, m22 = link_mass(y)
    r1, r2 = (r + f for r, f in zip(link_efforts(y), friction))
    if held[0] and held[1]:
        return (0.0, 0.0), (-r1, -r2)
    if held[0]:
        return (0.0, r2 / m22), (m12 * r2 / m22 - r1, 0.0)
    if held[1]:
        return (r1 / m11, 0.0), (0.0, m12 * r1 / m11 - r2)
    det = m11 * m22 - m12 * m12
    return ((m22 * r1 - m12 * r2) / det, (m11 * r2 - m12 * r1) / det), (0.0, 0.0)


def dry_arms(end, h, efforts):
    """The two links fall from rest, with dry friction in both hinges: places and how often a hinge begins to slide or stick."""

    def slides(y, signs):
        held = [s == 0 for s in signs]
        return links(y, held, [-s * f for s, f in zip(signs, efforts)])

    def choose(y, rest):
        """Signs of the rates: those at rest stick if they can, or begin the way they are pulled."""
        for signs in product(*[(0, 1, -1) if r else (1 if w > 0 else -1,) for r, w in zip(rest, y[2:])]):
            a, holding = slides(y, signs)
            if all(
                not r or (abs(t) <= f if s == 0 else s * b > 0)
                for r, s, b, t, f in zip(rest, signs, a, holding, efforts)
            ):
                return signs
        raise ArithmeticError("no way to go on")

    t, y, changes = 0.0, [0.0, 0.0, 0.0, 0.0], 0
    rest = [True, True]
    while t < end - 1e-14:
        signs = choose(y, rest)
        changes += 1

        def ends(t, y):
            holding = slides(y, signs)[1]
            return max(abs(x) - f if s == 0 else -s * w for s, w, x, f in zip(signs, y[2:], holding, efforts))

        # a rate that is zero at the begin has its sign a moment later
        y = [y[0], y[1]] + [s * max(1e-13, s * w) if s else 0.0 for s, w in zip(signs, y[2:])]
        t, y, _ = until(lambda t, y: [y[2], y[3], *slides(y, signs)[0]], ends, t, y, end, h)
        rest = [s == 0 or s * w <= 0 for s, w in zip(signs, y[2:])]
        y = [y[0], y[1]] + [0.0 if r else w for r, w in zip(rest, y[2:])]
    return y, changes


def arms(end, h=5e-4):
    """Two links fall; the inner one hits a stop (0.5), the outer one locks at 0.3 rad relative to it."""
    stop, restitution, latch = 0.9, 0.5, 0.3

    def rates(locked):
        return lambda t, y: [y[2], y[3], *links(y, (False, locked), (0.0, 0.0))[0]]

    t, y, locked, lost, events = 0.0, [0.0, 0.0, 0.0, 0.0], False, 0.0, []
    while t < end - 1e-14:
        hits = lambda t, y: y[0] - stop if y[2] > 0 else -1.0
        locks = lambda t, y: -1.0 if locked else abs(y[1]) - latch if y[1] > 0 else -1.0
        t, y, happened = until(rates(locked), lambda t, y: max(hits(t, y), locks(t, y)), t, y, end, h)
        if not happened:
            break
        m11, m12, m22 = link_mass(y)
        energy = lambda w: 0.5 * (m11 * w[0] ** 2 + 2 * m12 * w[0] * w[1] + m22 * w[1] ** 2)
        w = [y[2], y[3]]
        if locks(t, y) > hits(t, y):
            # the outer rate becomes zero; momentum about the first hinge is kept
            after = [w[0] + m12 * w[1] / m11, 0.0]
            locked = True
            events.append(("latch", t))
        else:
            jump = -(1 + restitution) * w[0]
            after = [w[0] + jump, 0.0 if locked else w[1] - m12 / m22 * jump]
            events.append(("stop", t))
        lost += energy(w) - energy(after)
        y = [y[0], y[1], after[0], after[1]]
        if len(events) > 3:
            return y, t, lost, events
    return y, t, lost, events


if __name__ == "__main__":
    for h in (4e-4, 2e-4):
        y, phases = belt(3.0, h)
        print(f"belt at 3 s: {y[0]:.12f} m, {y[1]:.12f} m/s; sticks", [(round(a, 9), round(b, 9)) for a, b in phases])
    for h in (2e-3, 1e-3):
        y, turns, rest = bearing(1.5, h)
        print(f"bearing at 1.5 s: {y[0]:.12f} rad, {y[1]:.12f} rad/s, {turns} turns")
    y, turns, rest = bearing(60.0, 1e-3)
    print(f"bearing rests at {y[0]:.9f} rad after {turns} turns, t = {rest:.6f} s")
    for h in (1e-3, 5e-4):
        y, t, lost, events = arms(0.7, h)
        print(f"arms at {t:.6f} s:", [f"{x:.12f}" for x in y], f"lost {lost:.12f} J", [(e, round(u, 9)) for e, u in events])
    for efforts in ((0.8, 0.4), (3.0, 0.02)):
        for h in (1e-3, 5e-4):
            y, changes = dry_arms(1.5, h, efforts)
            print(f"dry hinges {efforts} at 1.5 s: {y[0]:.10f}, {y[1]:.10f} rad, {changes} changes")
