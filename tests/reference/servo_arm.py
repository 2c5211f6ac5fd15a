#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A driven double pendulum in its two joint angles: the numbers of tests/physics/test_drives.c.

Two links in a vertical plane, a servo with integral gain and a rotor at the shoulder, a motor and a spring at the
elbow; classical Runge-Kutta of order four with a step that halving does not change in the digits printed.
"""

from math import cos, pi, sin

M1, M2, I1, I2, C1, C2, L1, G = 2.0, 1.5, 0.2, 0.15, 0.5, 0.45, 1.0, 9.81
KP, KD, KI, J1 = 180.0, 12.0, 40.0, 0.3  # servo and rotor at the shoulder, target 0.5 sin 3 t
STALL, NO_LOAD, J2 = 6.0, 9.0, 0.05  # motor at the elbow, command cos 2 t, and its rotor
STIFF, DAMP, REST = 5.0, 0.2, 0.3  # spring at the elbow


def rates(t, y):
    q1, q2, w1, w2, integral = y
    target, target_rate = 0.5 * sin(3 * t), 1.5 * cos(3 * t)
    error = target - q1
    tau1 = KP * error + KD * (target_rate - w1) + KI * integral
    tau2 = STALL * (cos(2 * t) - w2 / NO_LOAD) - STIFF * (q2 - REST) - DAMP * w2
    m12 = I2 + M2 * (C2 * C2 + L1 * C2 * cos(q2))
    m22 = I2 + M2 * C2 * C2 + J2
    m11 = I1 + M1 * C1 * C1 + I2 + M2 * (L1 * L1 + C2 * C2 + 2 * L1 * C2 * cos(q2)) + J1
    h = -M2 * L1 * C2 * sin(q2)
    g2 = M2 * G * C2 * cos(q1 + q2)
    r1 = tau1 - h * (2 * w1 * w2 + w2 * w2) - (M1 * C1 + M2 * L1) * G * cos(q1) - g2
    r2 = tau2 + h * w1 * w1 - g2
    det = m11 * m22 - m12 * m12
    return (w1, w2, (m22 * r1 - m12 * r2) / det, (m11 * r2 - m12 * r1) / det, error)


def run(count, end=1.0):
    y, h = (0.0,) * 5, end / count
    for i in range(count):
        t = i * h
        k1 = rates(t, y)
        k2 = rates(t + h / 2, [a + h / 2 * b for a, b in zip(y, k1)])
        k3 = rates(t + h / 2, [a + h / 2 * b for a, b in zip(y, k2)])
        k4 = rates(t + h, [a + h * b for a, b in zip(y, k3)])
        y = [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4)]
    return y


for steps in (4000, 8000):
    print(steps, " ".join(f"{v:.13f}" for v in run(steps)))
