// SPDX-License-Identifier: MIT
// Floor grid below the motion, world axes, gravity arrow.
import {
  AxesHelper, BufferAttribute, BufferGeometry, Group, LineBasicMaterial, LineSegments, Mesh, PlaneGeometry, Quaternion,
  ShadowMaterial, Vector3,
} from "three";
import { Arrows } from "./arrows";
import { GRAVITY_COLOUR } from "./colours";
import type { Extent } from "./extent";

/// Largest of 1, 2, 5 times a power of ten that is not above x.
export function roundStep(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const share = x / power;
  return (share >= 5 ? 5 : share >= 2 ? 2 : 1) * power;
}

export class Ground {
  readonly group = new Group();
  readonly gridStep: number; // m
  private readonly floor = new Group();

  constructor(extent: Extent) {
    const { box, up, size } = extent;
    const center = box.getCenter(new Vector3());
    const axis = [0, 1, 2].find((k) => Math.abs(up.getComponent(k)) > 0.5)!;
    const below = up.getComponent(axis) > 0 ? box.min.getComponent(axis) : box.max.getComponent(axis);
    this.gridStep = roundStep(size / 12);
    const half = Math.ceil((0.85 * size) / this.gridStep) * this.gridStep;
    const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), up);
    const place = center.clone().setComponent(axis, below - 0.02 * size * up.getComponent(axis));
    for (const k of [0, 1, 2]) // lines at round places
      if (k !== axis) place.setComponent(k, Math.round(place.getComponent(k) / this.gridStep) * this.gridStep);
    this.floor.quaternion.copy(turn);
    this.floor.position.copy(place);
    this.floor.add(gridLines(half, this.gridStep));
    const shadow = new Mesh(new PlaneGeometry(2 * half, 2 * half), new ShadowMaterial({ opacity: 0.16 }));
    shadow.receiveShadow = true;
    this.floor.add(shadow);
    this.group.add(this.floor);

    const axes = new AxesHelper(0.06 * size);
    (axes.material as LineBasicMaterial).toneMapped = false;
    this.floor.visible = true;
    this.group.add(axes);
    this.addGravity(extent);
  }

  showGrid(show: boolean): void {
    this.floor.visible = show;
  }

  private addGravity({ gravity, size }: Extent): void {
    if (gravity === undefined) return;
    const arrow = new Arrows(1, GRAVITY_COLOUR, 0.0035 * size, 1);
    const along = gravity.to.clone().sub(gravity.from);
    arrow.set(0, gravity.from.x, gravity.from.y, gravity.from.z, along.x, along.y, along.z);
    arrow.finish();
    this.group.add(arrow.group);
  }
}

function gridLines(half: number, step: number): Group {
  const group = new Group();
  const minor: number[] = [], major: number[] = [];
  const count = Math.round(half / step);
  for (let i = -count; i <= count; ++i) {
    const to = i % 5 === 0 ? major : minor;
    to.push(i * step, -half, 0, i * step, half, 0, -half, i * step, 0, half, i * step, 0);
  }
  for (const [points, opacity] of [[minor, 0.16], [major, 0.34]] as [number[], number][]) {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    group.add(new LineSegments(geometry, new LineBasicMaterial({ color: 0x7f8a96, transparent: true, opacity })));
  }
  return group;
}
