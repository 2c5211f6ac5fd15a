// SPDX-License-Identifier: MIT
// Joints drawn by their kind: pins, balls, sleeves on rails, plates, crosses, blocks, rods.
import { Group, InstancedMesh, Matrix4, MeshStandardMaterial, Vector3 } from "three";
import type { JointDescription, Matrix, Vector } from "../data/format";
import type { Result } from "../data/result";
import { multiply } from "../data/rotation";
import { GROUND_COLOUR, JOINT_COLOUR } from "./colours";
import { instances, placeInstance, spanInstance } from "./instances";
import { roundness, unitBox, unitCylinder, unitSphere } from "./shapes";

type Side = "a" | "b";

/// A piece in a joint frame, sizes as multiples of the symbol size; its third axis is the joint's axis.
interface Piece {
  geometry: "box" | "cylinder" | "sphere";
  side: Side; // which body it moves with
  size: Vector;
  along: number; // m, shift along the axis
}

/// Least and greatest displacement of a joint along its axis over the run, m.
export type Travel = (joint: number) => [number, number];

function pieces(joint: JointDescription, symbol: number, travel: [number, number]): Piece[] {
  const rail = (thickness: number, geometry: "box" | "cylinder"): Piece => ({
    geometry, side: "a", size: [thickness * symbol, thickness * symbol, travel[1] - travel[0] + 6 * symbol],
    along: 0.5 * (travel[0] + travel[1]),
  });
  const piece = (geometry: Piece["geometry"], side: Side, ...size: Vector): Piece =>
    ({ geometry, side, size: [size[0] * symbol, size[1] * symbol, size[2] * symbol], along: 0 });
  switch (joint.kind) {
    case "revolute": return [piece("cylinder", "a", 1.1, 1.1, 2.6), piece("cylinder", "b", 0.55, 0.55, 4)];
    case "spherical": return [piece("sphere", "a", 1.4, 1.4, 1.4)];
    case "prismatic": return [rail(0.9, "box"), piece("box", "b", 2.2, 2.2, 3)];
    case "cylindrical":
    case "screw": return [rail(0.45, "cylinder"), piece("cylinder", "b", 1.2, 1.2, 3)];
    case "slot": return [rail(0.45, "box"), piece("sphere", "b", 1.3, 1.3, 1.3)];
    case "planar": return [piece("box", "a", 9, 9, 0.25), piece("cylinder", "b", 1.2, 1.2, 0.9)];
    case "universal":
      return [piece("cylinder", "a", 0.5, 0.5, 4), piece("cylinder", "b", 0.5, 0.5, 4), piece("sphere", "a", 0.9, 0.9, 0.9)];
    case "fixed": return [piece("box", "b", 1.8, 1.8, 1.8)];
    default: return []; // free: nothing holds the bodies together; distance: a rod, see below
  }
}

interface Placed {
  body: number;
  local: Matrix4; // joint piece in the body frame
}

interface PieceGroup {
  mesh: InstancedMesh;
  places: Placed[];
}

const GEOMETRY = { cylinder: unitCylinder, sphere: unitSphere };

export class Joints {
  readonly group = new Group();
  private readonly groups: PieceGroup[] = [];
  private readonly rods: JointDescription[];
  private readonly rodMesh: InstancedMesh | undefined;
  private readonly symbol: number;

  constructor(private readonly result: Result, symbol: number, up: Vector3) {
    this.symbol = symbol;
    const { joints } = result.description;
    const material = new MeshStandardMaterial({ color: JOINT_COLOUR, roughness: 0.35, metalness: 0.35 });
    const byGeometry: Record<Piece["geometry"], Placed[]> = { box: [], cylinder: [], sphere: [] };
    joints.forEach((joint, index) => {
      if (!joint.placed) return;
      for (const piece of pieces(joint, symbol, this.travel(index)))
        byGeometry[piece.geometry].push(placed(joint, piece));
    });
    for (const kind of ["box", "cylinder", "sphere"] as const) this.addGroup(kind, byGeometry[kind], material);
    this.addPedestals(joints, symbol, up);
    this.rods = joints.filter((joint) => joint.placed && joint.kind === "distance");
    if (this.rods.length > 0) {
      this.rodMesh = instances(unitCylinder(roundness(this.rods.length)), material, this.rods.length);
      this.group.add(this.rodMesh);
    }
  }

  update(): void {
    const { pose, rotation } = this.result.bodies;
    const { bodies } = this.result.description;
    for (const { mesh, places } of this.groups) {
      places.forEach(({ body, local }, i) => {
        if (body < 0) {
          mesh.setMatrixAt(i, local);
          return;
        }
        const c = bodies[body].center_of_mass, r = 9 * body, p = 7 * body;
        placeInstance(mesh, i, rotation, r,
                      pose[p] - (rotation[r] * c[0] + rotation[r + 1] * c[1] + rotation[r + 2] * c[2]),
                      pose[p + 1] - (rotation[r + 3] * c[0] + rotation[r + 4] * c[1] + rotation[r + 5] * c[2]),
                      pose[p + 2] - (rotation[r + 6] * c[0] + rotation[r + 7] * c[1] + rotation[r + 8] * c[2]),
                      local.elements);
      });
      mesh.instanceMatrix.needsUpdate = true;
    }
    if (this.rodMesh === undefined) return;
    this.rods.forEach((joint, i) => {
      const [x, y, z] = this.result.worldPoint(joint.body_a, joint.point_a);
      const to = this.result.worldPoint(joint.body_b, joint.point_b);
      spanInstance(this.rodMesh!, i, x, y, z, to[0] - x, to[1] - y, to[2] - z, 0.4 * this.symbol, true);
    });
    this.rodMesh.instanceMatrix.needsUpdate = true;
  }

  /// How far the joint slides over the run.
  private travel(index: number): [number, number] {
    const joint = this.result.description.joints[index];
    if (!joint.coordinates.some((c) => c.name === "displacement")) return [0, 0];
    const values = this.result.series(`joints/${joint.name}/coordinates/displacement`)?.values;
    let low = 0, high = 0;
    for (let i = 0; values !== undefined && i < values.length; ++i) {
      low = Math.min(low, values[i]);
      high = Math.max(high, values[i]);
    }
    return [low, high];
  }

  private addGroup(kind: Piece["geometry"], places: Placed[], material: MeshStandardMaterial): void {
    if (places.length === 0) return;
    const mesh = instances(kind === "box" ? unitBox() : GEOMETRY[kind](roundness(places.length)), material, places.length);
    mesh.castShadow = true;
    this.groups.push({ mesh, places });
    this.group.add(mesh);
  }

  /// A foot under each joint that holds a body to the ground.
  private addPedestals(joints: JointDescription[], symbol: number, up: Vector3): void {
    const places: Placed[] = [];
    for (const joint of joints) {
      if (!joint.placed || joint.kind === "free") continue;
      for (const [body, point] of [[joint.body_a, joint.point_a], [joint.body_b, joint.point_b]] as [number, Vector][]) {
        if (body >= 0) continue;
        const place = new Vector3(...point).addScaledVector(up, -2.3 * symbol);
        const scale = [0, 1, 2].map((k) => (Math.abs(up.getComponent(k)) > 0.5 ? 1.2 : 4.4) * symbol);
        places.push({ body: -1, local: new Matrix4().makeScale(scale[0], scale[1], scale[2]).setPosition(place) });
      }
    }
    this.addGroup("box", places, new MeshStandardMaterial({ color: GROUND_COLOUR, roughness: 0.9 }));
  }
}

function placed(joint: JointDescription, piece: Piece): Placed {
  const body = piece.side === "a" ? joint.body_a : joint.body_b;
  const frame: Matrix = piece.side === "a" ? joint.frame_a : joint.frame_b;
  const point = piece.side === "a" ? joint.point_a : joint.point_b;
  const axis: Vector = [frame[2], frame[5], frame[8]];
  const at: Vector = [0, 1, 2].map((k) => point[k] + piece.along * axis[k]) as Vector;
  const [sx, sy, sz] = piece.size;
  const m = multiply(frame, [sx, 0, 0, 0, sy, 0, 0, 0, sz]);
  return { body, local: new Matrix4().set(m[0], m[1], m[2], at[0], m[3], m[4], m[5], at[1], m[6], m[7], m[8], at[2],
                                          0, 0, 0, 1) };
}
