// SPDX-License-Identifier: MIT
// Many equal things in one draw call: pieces that move with bodies, and pieces placed by two points.
import { BufferGeometry, Color, DynamicDrawUsage, InstancedMesh, Material } from "three";

export function instances(geometry: BufferGeometry, material: Material, count: number): InstancedMesh {
  const mesh = new InstancedMesh(geometry, material, count);
  mesh.instanceMatrix.setUsage(DynamicDrawUsage);
  mesh.frustumCulled = false; // the bounds would have to follow the motion
  return mesh;
}

/// Write rotation (rows) times local, and origin + rotation times the place of local, as the instance's matrix.
export function placeInstance(mesh: InstancedMesh, index: number, rotation: Float64Array, r: number, x: number,
                              y: number, z: number, local: ArrayLike<number>): void {
  const out = mesh.instanceMatrix.array as Float32Array;
  const o = 16 * index;
  for (let column = 0; column < 4; ++column) {
    const a = local[4 * column], b = local[4 * column + 1], c = local[4 * column + 2];
    out[o + 4 * column] = rotation[r] * a + rotation[r + 1] * b + rotation[r + 2] * c;
    out[o + 4 * column + 1] = rotation[r + 3] * a + rotation[r + 4] * b + rotation[r + 5] * c;
    out[o + 4 * column + 2] = rotation[r + 6] * a + rotation[r + 7] * b + rotation[r + 8] * c;
    out[o + 4 * column + 3] = column === 3 ? 1 : 0;
  }
  out[o + 12] += x;
  out[o + 13] += y;
  out[o + 14] += z;
}

/// Place a piece of unit length along z from one point on along a vector, `radius` wide; nothing for a vector of no
/// length. A `centred` piece reaches from z = -1/2 to 1/2, another one from 0 to 1. Written out, as it runs for
/// thousands of arrows in every frame.
export function spanInstance(mesh: InstancedMesh, index: number, x: number, y: number, z: number,
                             dx: number, dy: number, dz: number, radius: number, centred: boolean): void {
  const out = mesh.instanceMatrix.array as Float32Array;
  const o = 16 * index;
  const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
  if (!(length > 0)) {
    out.fill(0, o, o + 16);
    return;
  }
  const ax = dx / length, ay = dy / length, az = dz / length;
  // two directions across: the first from the axis that is least along
  let ux: number, uy: number, uz: number;
  if (Math.abs(ax) <= Math.abs(ay) && Math.abs(ax) <= Math.abs(az)) { ux = 0; uy = -az; uz = ay; }
  else if (Math.abs(ay) <= Math.abs(az)) { ux = az; uy = 0; uz = -ax; }
  else { ux = -ay; uy = ax; uz = 0; }
  const r = radius / Math.sqrt(ux * ux + uy * uy + uz * uz);
  ux *= r; uy *= r; uz *= r;
  const shift = centred ? 0.5 : 0;
  out[o] = ux; out[o + 1] = uy; out[o + 2] = uz; out[o + 3] = 0;
  out[o + 4] = ay * uz - az * uy; out[o + 5] = az * ux - ax * uz; out[o + 6] = ax * uy - ay * ux; out[o + 7] = 0;
  out[o + 8] = dx; out[o + 9] = dy; out[o + 10] = dz; out[o + 11] = 0;
  out[o + 12] = x + shift * dx; out[o + 13] = y + shift * dy; out[o + 14] = z + shift * dz; out[o + 15] = 1;
}

export function tint(mesh: InstancedMesh, index: number, colour: Color): void {
  mesh.setColorAt(index, colour);
  if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
}
