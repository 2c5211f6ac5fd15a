// SPDX-License-Identifier: MIT
// Quaternions (x, y, z, w) and rotation matrices, and how a pose is found between two frames.
import type { Matrix } from "./format";

/// Quaternion of a rotation matrix by rows.
export function quaternionOfMatrix(m: ArrayLike<number>): [number, number, number, number] {
  const trace = m[0] + m[4] + m[8];
  if (trace > 0) {
    const s = 2 * Math.sqrt(trace + 1);
    return [(m[7] - m[5]) / s, (m[2] - m[6]) / s, (m[3] - m[1]) / s, s / 4];
  }
  if (m[0] > m[4] && m[0] > m[8]) {
    const s = 2 * Math.sqrt(1 + m[0] - m[4] - m[8]);
    return [s / 4, (m[1] + m[3]) / s, (m[2] + m[6]) / s, (m[7] - m[5]) / s];
  }
  if (m[4] > m[8]) {
    const s = 2 * Math.sqrt(1 + m[4] - m[0] - m[8]);
    return [(m[1] + m[3]) / s, s / 4, (m[5] + m[7]) / s, (m[2] - m[6]) / s];
  }
  const s = 2 * Math.sqrt(1 + m[8] - m[0] - m[4]);
  return [(m[2] + m[6]) / s, (m[5] + m[7]) / s, s / 4, (m[3] - m[1]) / s];
}

/// Rotation matrix by rows of a quaternion at `at`.
export function matrixOfQuaternion(q: ArrayLike<number>, at = 0): Matrix {
  const x = q[at], y = q[at + 1], z = q[at + 2], w = q[at + 3];
  return [
    1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
    2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
    2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y),
  ];
}

export function rotate(m: ArrayLike<number>, v: ArrayLike<number>): [number, number, number] {
  return [
    m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
    m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
    m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
  ];
}

export function multiply(a: ArrayLike<number>, b: ArrayLike<number>): Matrix {
  const c = new Array<number>(9) as Matrix;
  for (let i = 0; i < 3; ++i)
    for (let j = 0; j < 3; ++j) c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
  return c;
}

export function column(m: ArrayLike<number>, j: number): [number, number, number] {
  return [m[j], m[3 + j], m[6 + j]];
}

/// Spherical interpolation between unit quaternions a and b, u from 0 to 1, on the shorter arc; writes to out[at...].
export function slerp(a: ArrayLike<number>, atA: number, b: ArrayLike<number>, atB: number, u: number,
                      out: Float64Array, at: number): void {
  let cosine = a[atA] * b[atB] + a[atA + 1] * b[atB + 1] + a[atA + 2] * b[atB + 2] + a[atA + 3] * b[atB + 3];
  const sign = cosine < 0 ? -1 : 1;
  cosine = Math.min(1, cosine * sign);
  const angle = Math.acos(cosine);
  const sine = Math.sin(angle);
  const wa = sine < 1e-6 ? 1 - u : Math.sin((1 - u) * angle) / sine; // nearly equal: linear
  const wb = (sine < 1e-6 ? u : Math.sin(u * angle) / sine) * sign;
  for (let k = 0; k < 4; ++k) out[at + k] = wa * a[atA + k] + wb * b[atB + k];
}

/// Scale a quaternion at `at` to length one.
export function normalise(q: Float64Array, at: number): void {
  const length = Math.sqrt(q[at] ** 2 + q[at + 1] ** 2 + q[at + 2] ** 2 + q[at + 3] ** 2) || 1;
  for (let k = 0; k < 4; ++k) q[at + k] /= length;
}
