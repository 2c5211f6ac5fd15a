// SPDX-License-Identifier: MIT
// Poses of frames (bodies, or nodes of beams) at any time: exact at the frames of the file, smooth between them.
import { placeAt } from "./grid";
import { normalise, slerp } from "./rotation";
import type { Table } from "./unpack";

/// Turning of a body from one frame to the next above which its angular velocity says nothing about the way between.
const TURN_MAX = 1.6; // rad

/// Travel between two frames, as a multiple of what the velocities at both ends give, beyond which they are not used.
const HERMITE_VELOCITY_SHARE = 4.0;

/// Rows of `poses`: seven for each frame: position, quaternion. Rows of `velocities`, where given: velocity and angular
/// velocity (world). Then the way between frames is a cubic that has these at its ends, otherwise a line and a slerp.
export class Motion {
  readonly count: number;
  readonly pose: Float64Array; // 7 * count, at the time last asked for
  readonly rotation: Float64Array; // 9 * count, rotation matrices by rows

  constructor(
    readonly times: ArrayLike<number>,
    private readonly poses: Table,
    private readonly velocities: Table | undefined,
  ) {
    this.count = poses.rows / 7;
    this.pose = new Float64Array(7 * this.count);
    this.rotation = new Float64Array(9 * this.count);
  }

  position(index: number): [number, number, number] {
    return [this.pose[7 * index], this.pose[7 * index + 1], this.pose[7 * index + 2]];
  }

  evaluate(t: number): void {
    const { index, fraction } = placeAt(this.times, t);
    if (this.poses.columns < 2 || fraction === 0) this.takeFrame(index);
    else if (fraction === 1) this.takeFrame(index + 1);
    else this.takeBetween(index, fraction);
    this.fillRotations();
  }

  private takeFrame(frame: number): void {
    const { values, columns } = this.poses;
    const { pose } = this;
    for (let row = 0, at = frame; row < pose.length; ++row, at += columns) pose[row] = values[at];
    for (let i = 0; i < this.count; ++i) normalise(pose, 7 * i + 3);
  }

  private takeBetween(frame: number, u: number): void {
    const { values, columns } = this.poses;
    const { pose, velocities } = this;
    const h = this.times[frame + 1] - this.times[frame];
    // cubic Hermite weights: ends and slopes
    const w1 = u * u * (3 - 2 * u), w0 = 1 - w1, s0 = h * u * (1 - u) * (1 - u), s1 = -h * u * u * (1 - u);
    const a = new Float64Array(7), b = new Float64Array(7), va = new Float64Array(6), vb = new Float64Array(6);
    for (let i = 0; i < this.count; ++i) {
      for (let k = 0, at = 7 * i * columns + frame; k < 7; ++k, at += columns) {
        a[k] = values[at];
        b[k] = values[at + 1];
      }
      let smooth = false;
      if (velocities !== undefined) {
        for (let k = 0, at = 6 * i * columns + frame; k < 6; ++k, at += columns) {
          va[k] = velocities.values[at];
          vb[k] = velocities.values[at + 1];
        }
        smooth = velocitiesFit(a, b, va, vb, h);
      }
      const at = 7 * i;
      if (smooth) {
        for (let k = 0; k < 3; ++k) pose[at + k] = w0 * a[k] + w1 * b[k] + s0 * va[k] + s1 * vb[k];
        hermiteQuaternion(a, b, va, vb, w0, w1, s0, s1, pose, at + 3);
      } else {
        for (let k = 0; k < 3; ++k) pose[at + k] = a[k] + u * (b[k] - a[k]);
        slerp(a, 3, b, 3, u, pose, at + 3);
      }
      normalise(pose, at + 3);
    }
  }

  private fillRotations(): void {
    const { pose, rotation } = this;
    for (let i = 0, p = 3, r = 0; i < this.count; ++i, p += 7, r += 9) {
      const x = pose[p], y = pose[p + 1], z = pose[p + 2], w = pose[p + 3];
      rotation[r] = 1 - 2 * (y * y + z * z);
      rotation[r + 1] = 2 * (x * y - z * w);
      rotation[r + 2] = 2 * (x * z + y * w);
      rotation[r + 3] = 2 * (x * y + z * w);
      rotation[r + 4] = 1 - 2 * (x * x + z * z);
      rotation[r + 5] = 2 * (y * z - x * w);
      rotation[r + 6] = 2 * (x * z - y * w);
      rotation[r + 7] = 2 * (y * z + x * w);
      rotation[r + 8] = 1 - 2 * (x * x + y * y);
    }
  }
}

/// Do the velocities at both ends describe the way between? Not when a body turns or swings more than once in between.
function velocitiesFit(a: Float64Array, b: Float64Array, va: Float64Array, vb: Float64Array, h: number): boolean {
  const turn = h * Math.max(Math.hypot(va[3], va[4], va[5]), Math.hypot(vb[3], vb[4], vb[5]));
  if (turn > TURN_MAX) return false;
  const travel = h * Math.max(Math.hypot(va[0], va[1], va[2]), Math.hypot(vb[0], vb[1], vb[2]));
  const way = Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
  return travel <= HERMITE_VELOCITY_SHARE * way || travel < 1e-12;
}

/// Cubic through two quaternions with the slopes of the angular velocities, dq/dt = (omega, 0) q / 2.
function hermiteQuaternion(a: Float64Array, b: Float64Array, va: Float64Array, vb: Float64Array,
                           w0: number, w1: number, s0: number, s1: number, out: Float64Array, at: number): void {
  // the sign of b that is nearer to a
  const sign = a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6] < 0 ? -1 : 1;
  const ta = 0.5 * s0, tb = 0.5 * s1 * sign, wb = w1 * sign;
  out[at] = w0 * a[3] + wb * b[3] + ta * (va[3] * a[6] + va[4] * a[5] - va[5] * a[4]) +
            tb * (vb[3] * b[6] + vb[4] * b[5] - vb[5] * b[4]);
  out[at + 1] = w0 * a[4] + wb * b[4] + ta * (va[4] * a[6] + va[5] * a[3] - va[3] * a[5]) +
                tb * (vb[4] * b[6] + vb[5] * b[3] - vb[3] * b[5]);
  out[at + 2] = w0 * a[5] + wb * b[5] + ta * (va[5] * a[6] + va[3] * a[4] - va[4] * a[3]) +
                tb * (vb[5] * b[6] + vb[3] * b[4] - vb[4] * b[3]);
  out[at + 3] = w0 * a[6] + wb * b[6] - ta * (va[3] * a[3] + va[4] * a[4] + va[5] * a[5]) -
                tb * (vb[3] * b[3] + vb[4] * b[4] + vb[5] * b[5]);
}
