// SPDX-License-Identifier: MIT
// Body frames at the centres of mass: red, green and blue lines along x, y and z.
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, LineBasicMaterial, LineSegments } from "three";
import type { Result } from "../data/result";

const AXIS_COLOURS = [[0.87, 0.16, 0.16], [0.1, 0.6, 0.2], [0.15, 0.35, 0.9]];

export class Frames {
  readonly lines: LineSegments;
  private readonly places: BufferAttribute;

  constructor(private readonly result: Result, private readonly length: number) {
    const count = result.description.bodies.length;
    const colours = new Float32Array(18 * count);
    for (let i = 0; i < 6 * count; ++i) colours.set(AXIS_COLOURS[(i >> 1) % 3], 3 * i);
    this.places = new BufferAttribute(new Float32Array(18 * count), 3).setUsage(DynamicDrawUsage);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", this.places);
    geometry.setAttribute("color", new BufferAttribute(colours, 3));
    this.lines = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, depthTest: false }));
    this.lines.renderOrder = 2;
    this.lines.frustumCulled = false;
  }

  update(): void {
    const { pose, rotation } = this.result.bodies;
    const out = this.places.array as Float32Array;
    for (let body = 0, o = 0; body < this.result.description.bodies.length; ++body)
      for (let axis = 0; axis < 3; ++axis, o += 6)
        for (let k = 0; k < 3; ++k) {
          out[o + k] = pose[7 * body + k];
          out[o + 3 + k] = pose[7 * body + k] + this.length * rotation[9 * body + 3 * k + axis];
        }
    this.places.needsUpdate = true;
  }
}
