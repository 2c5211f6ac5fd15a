// SPDX-License-Identifier: MIT
// Loads and reactions of one result as arrows; the largest of each sort over the run has a fixed length.
import { Group } from "three";
import type { LoadDescription, ProfileDescription, Vector } from "../data/format";
import { placeAt } from "../data/grid";
import type { Result } from "../data/result";
import { FORCE_COLOUR, REACTION_COLOUR, REACTION_TORQUE_COLOUR, TORQUE_COLOUR } from "./colours";
import { Arrows } from "./arrows";

const NOWHERE: Vector = [0, 0, 0];
const ROUND_OFF = 1e-9; // of force times length: torques of ball joints, which have none
const LENGTH_SHARE = 0.16; // of the scene's size, for the largest arrow

/// Factor of a load at a time.
export function profileFactor(profile: ProfileDescription, t: number): number {
  const { times, factors } = profile;
  if (profile.kind === "constant" || times.length === 0) return 1;
  if (t <= times[0]) return factors[0];
  for (let i = 1; i < times.length; ++i)
    if (t < times[i]) {
      const u = (t - times[i - 1]) / (times[i] - times[i - 1]);
      return factors[i - 1] + u * (factors[i] - factors[i - 1]);
    }
  return factors[factors.length - 1];
}

function largestFactor(profile: ProfileDescription): number {
  return profile.kind === "constant" ? 1 : Math.max(0, ...profile.factors.map(Math.abs));
}

/// Loads given in the model.
export class Loads {
  readonly group = new Group();
  private readonly sorts: { arrows: Arrows; loads: LoadDescription[]; scale: number }[] = [];

  constructor(private readonly result: Result, sceneSize: number, stroke: number) {
    for (const kind of ["force", "torque"]) {
      const loads = result.description.loads.filter((load) => load.kind === kind);
      const largest = Math.max(0, ...loads.map((load) => Math.hypot(...load.vector) * largestFactor(load.profile)));
      if (loads.length === 0 || !(largest > 0)) continue;
      const arrows = new Arrows(loads.length, kind === "force" ? FORCE_COLOUR : TORQUE_COLOUR, 0.4 * stroke,
                                kind === "force" ? 1 : 2);
      this.sorts.push({ arrows, loads, scale: (LENGTH_SHARE * sceneSize) / largest });
      this.group.add(arrows.group);
    }
  }

  update(t: number): void {
    for (const { arrows, loads, scale } of this.sorts) {
      loads.forEach((load, i) => {
        const factor = scale * profileFactor(load.profile, t);
        const v = load.body_fixed ? this.result.worldDirection(load.body, load.vector) : load.vector;
        const [x, y, z] = this.result.worldPoint(load.body, load.point);
        arrows.set(i, x, y, z, factor * v[0], factor * v[1], factor * v[2]);
      });
      arrows.finish();
    }
  }
}

/// Reactions of all joints on their second body.
export class Reactions {
  readonly group = new Group();
  private readonly force: Arrows | undefined;
  private readonly torque: Arrows | undefined;
  private readonly forceScale: number = 0;
  private readonly torqueScale: number = 0;

  constructor(private readonly result: Result, sceneSize: number, stroke: number) {
    const table = result.table("reactions");
    const count = result.description.joints.length;
    if (table === undefined || count === 0) return;
    let force = 0, torque = 0;
    for (let joint = 0; joint < count; ++joint)
      for (let frame = 0; frame < table.columns; ++frame) {
        const at = 6 * joint * table.columns + frame, n = table.columns, v = table.values;
        force = Math.max(force, Math.hypot(v[at], v[at + n], v[at + 2 * n]));
        torque = Math.max(torque, Math.hypot(v[at + 3 * n], v[at + 4 * n], v[at + 5 * n]));
      }
    this.forceScale = force > 0 ? (LENGTH_SHARE * sceneSize) / force : 0;
    this.torqueScale = torque > ROUND_OFF * force * sceneSize ? (LENGTH_SHARE * sceneSize) / torque : 0;
    this.force = new Arrows(count, REACTION_COLOUR, 0.35 * stroke, 1);
    this.torque = new Arrows(count, REACTION_TORQUE_COLOUR, 0.3 * stroke, 2);
    this.group.add(this.force.group, this.torque.group);
  }

  update(t: number): void {
    const { force, torque } = this;
    const table = this.result.table("reactions");
    if (force === undefined || torque === undefined || table === undefined) return;
    const { index, fraction } = placeAt(this.result.frameTimes, t);
    const { values, columns } = table;
    const step = columns > 1 ? 1 : 0;
    const v = new Float64Array(6);
    this.result.description.joints.forEach((joint, i) => {
      for (let k = 0, at = 6 * i * columns + index; k < 6; ++k, at += columns)
        v[k] = values[at] + fraction * (values[at + step] - values[at]);
      const [x, y, z] = joint.placed ? this.result.worldPoint(joint.body_b, joint.point_b) : NOWHERE;
      const f = joint.placed ? this.forceScale : 0, m = joint.placed ? this.torqueScale : 0;
      force.set(i, x, y, z, f * v[0], f * v[1], f * v[2]);
      torque.set(i, x, y, z, m * v[3], m * v[4], m * v[5]);
    });
    force.finish();
    torque.finish();
  }
}
