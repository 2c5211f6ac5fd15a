// SPDX-License-Identifier: MIT
// Springs as coils between their two points.
import { Group, InstancedMesh, MeshStandardMaterial } from "three";
import type { Result } from "../data/result";
import { SPRING_COLOUR } from "./colours";
import { instances, spanInstance } from "./instances";
import { roundness, unitSpring } from "./shapes";

export class Springs {
  readonly group = new Group();
  private readonly mesh: InstancedMesh | undefined;

  constructor(private readonly result: Result, private readonly symbol: number) {
    const count = result.description.springs.length;
    if (count === 0) return;
    this.mesh = instances(unitSpring(roundness(count)), new MeshStandardMaterial({ color: SPRING_COLOUR, roughness: 0.4 }), count);
    this.group.add(this.mesh);
  }

  update(): void {
    if (this.mesh === undefined) return;
    this.result.description.springs.forEach((spring, i) => {
      const [x, y, z] = this.result.worldPoint(spring.body_a, spring.point_a);
      const to = this.result.worldPoint(spring.body_b, spring.point_b);
      spanInstance(this.mesh!, i, x, y, z, to[0] - x, to[1] - y, to[2] - z, 1.5 * this.symbol, false);
    });
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}
