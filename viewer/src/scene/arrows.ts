// SPDX-License-Identifier: MIT
// Arrows: forces, torques (two heads), reactions, gravity.
import { BufferGeometry, Color, ConeGeometry, Group, InstancedMesh, MeshBasicMaterial } from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import { instances, spanInstance } from "./instances";
import { roundness, unitCylinder } from "./shapes";

const HEAD = 0.22; // of the length
const SLENDER = 0.04; // radius of a shaft by its length, so that short arrows stay arrows

/// Arrow from the origin to z = 1, its shaft of radius one.
function unitArrow(heads: 1 | 2, around: number): BufferGeometry {
  const head = (tip: number): BufferGeometry =>
    new ConeGeometry(2.6, HEAD, around).rotateX(Math.PI / 2).translate(0, 0, tip - 0.5 * HEAD);
  const shaft = unitCylinder(around).scale(1, 1, 1 - HEAD).translate(0, 0, 0.5 * (1 - HEAD));
  return mergeGeometries(heads === 1 ? [shaft, head(1)] : [shaft, head(1), head(1 - 0.6 * HEAD)]);
}

/// A number of arrows of one colour.
export class Arrows {
  readonly group = new Group();
  private readonly mesh: InstancedMesh;

  /// `thickness`: radius of the shafts, m; `heads`: one for forces, two for torques
  constructor(count: number, colour: Color, private readonly thickness: number, heads: 1 | 2) {
    this.mesh = instances(unitArrow(heads, Math.ceil(roundness(count) / 2)), new MeshBasicMaterial({ color: colour }), count);
    this.group.add(this.mesh);
  }

  /// Arrow from a place along a vector, both in m; nothing for a vector of no length.
  set(index: number, x: number, y: number, z: number, dx: number, dy: number, dz: number): void {
    const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
    spanInstance(this.mesh, index, x, y, z, dx, dy, dz, Math.min(this.thickness, SLENDER * length), false);
  }

  finish(): void {
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}
