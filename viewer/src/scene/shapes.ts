// SPDX-License-Identifier: MIT
// Geometry of shapes. What differs by size only shares one geometry and is scaled.
import {
  BoxGeometry, BufferGeometry, ConeGeometry, CylinderGeometry, ExtrudeGeometry, Float32BufferAttribute, Matrix4, Path,
  Quaternion, Shape, SphereGeometry, TubeGeometry, Vector3, Curve,
} from "three";
import type { JointDescription, Matrix, ResultDescription, ShapeDescription, Vector } from "../data/format";

/// A piece of a body: a geometry and its place in the body frame, scale included.
export interface Part {
  key: string; // pieces with the same key share a geometry
  geometry: (around?: number) => BufferGeometry;
  body: number;
  local: Matrix4;
}

export function matrixOf(rows: Matrix, position: Vector, scale: Vector = [1, 1, 1]): Matrix4 {
  const [a, b, c, d, e, f, g, h, i] = rows;
  return new Matrix4().set(a, b, c, position[0], d, e, f, position[1], g, h, i, position[2], 0, 0, 0, 1)
    .scale(new Vector3(...scale));
}

export const BEAM_NODE = "beam_node"; // kind of a body that is a node of a beam
const FEW = 150; // things that are drawn with round edges; of more, each gets fewer faces

/// Faces around, when there are `count` of a thing.
export function roundness(count: number): number {
  return count <= FEW ? 28 : 8;
}

/// Cylinder of radius and height one about z.
export function unitCylinder(around = 28): BufferGeometry {
  return new CylinderGeometry(1, 1, 1, around).rotateX(Math.PI / 2);
}

export function unitSphere(around = 28): BufferGeometry {
  return new SphereGeometry(1, around, Math.ceil(0.7 * around));
}

export function unitBox(): BufferGeometry {
  return new BoxGeometry(1, 1, 1);
}

/// Apex at z = -3/4, base at z = 1/4: the origin is the centroid.
function unitCone(around = 32): BufferGeometry {
  return new ConeGeometry(1, 1, around).rotateX(-Math.PI / 2).translate(0, 0, -0.25);
}

/// Base at z = -1/4, apex at z = 3/4, base edges along x and y.
function unitPyramid(): BufferGeometry {
  const b = [[-0.5, -0.5, -0.25], [0.5, -0.5, -0.25], [0.5, 0.5, -0.25], [-0.5, 0.5, -0.25], [0, 0, 0.75]];
  return triangles([b[0], b[1], b[4], b[1], b[2], b[4], b[2], b[3], b[4], b[3], b[0], b[4],
                    b[0], b[2], b[1], b[0], b[3], b[2]]);
}

function triangles(corners: ArrayLike<number>[]): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(corners.flatMap((corner) => Array.from(corner)), 3));
  geometry.computeVertexNormals();
  return geometry;
}

function tetrahedron(corners: Vector[]): BufferGeometry {
  const [a, b, c, d] = corners.map((corner) => new Vector3(...corner));
  const outward = b.clone().sub(a).cross(c.clone().sub(a)).dot(d.clone().sub(a)) < 0;
  const faces = outward ? [[a, b, c], [a, d, b], [a, c, d], [b, d, c]] : [[a, c, b], [a, b, d], [a, d, c], [b, c, d]];
  return triangles(faces.flat().map((corner) => corner.toArray()));
}

/// Ring of outer radius and height one about z.
function hollowCylinder(innerShare: number): BufferGeometry {
  const ring = new Shape().absarc(0, 0, 1, 0, 2 * Math.PI, false) as Shape;
  ring.holes.push(new Path().absarc(0, 0, innerShare, 0, 2 * Math.PI, true) as Path);
  return new ExtrudeGeometry(ring, { depth: 1, bevelEnabled: false, curveSegments: 28 }).translate(0, 0, -0.5);
}

class HelixCurve extends Curve<Vector3> {
  constructor(private readonly turns: number) { super(); }

  override getPoint(t: number, out = new Vector3()): Vector3 {
    const lead = 0.12; // straight ends
    if (t < lead) return out.set(t < lead / 2 ? 0 : (2 * t) / lead - 1, 0, t);
    if (t > 1 - lead) return out.set(t > 1 - lead / 2 ? 0 : (2 * (1 - t)) / lead - 1, 0, t);
    const angle = 2 * Math.PI * this.turns * ((t - lead) / (1 - 2 * lead));
    return out.set(Math.cos(angle), Math.sin(angle), t);
  }
}

/// Coil from the origin to z = 1 with radius one.
export function unitSpring(around = 28): BufferGeometry {
  return new TubeGeometry(new HelixCurve(8), 6 * around, 0.02, Math.ceil(around / 5));
}

/// The piece of a shape.
export function shapePart(shape: ShapeDescription): Part {
  const place = (scale: Vector): Matrix4 => matrixOf(shape.orientation, shape.position, scale);
  const { radius, height, size, body } = shape;
  switch (shape.kind) {
    case "sphere": return { key: "sphere", geometry: unitSphere, body, local: place([radius, radius, radius]) };
    case "cylinder": return { key: "cylinder", geometry: unitCylinder, body, local: place([radius, radius, height]) };
    case "hollow_cylinder": {
      const share = Math.min(0.999, shape.inner_radius / radius);
      return { key: `ring ${share.toFixed(4)}`, geometry: () => hollowCylinder(share), body,
               local: place([radius, radius, height]) };
    }
    case "cone": return { key: "cone", geometry: unitCone, body, local: place([radius, radius, height]) };
    case "pyramid": return { key: "pyramid", geometry: unitPyramid, body, local: place(size) };
    case "tetrahedron":
      return { key: `tetrahedron ${shape.corners.flat().join(" ")}`, geometry: () => tetrahedron(shape.corners), body,
               local: place([1, 1, 1]) };
    default: return { key: "box", geometry: unitBox, body, local: place(size) };
  }
}

/// A rod of a radius between two points of a body.
export function rodPart(body: number, from: Vector3, to: Vector3, radius: number): Part {
  const along = to.clone().sub(from);
  const length = along.length();
  const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), along.divideScalar(length || 1));
  const local = new Matrix4().compose(from.clone().add(to).multiplyScalar(0.5), turn,
                                      new Vector3(radius, radius, length));
  return { key: "cylinder", geometry: unitCylinder, body, local };
}

/// Places of joints in the frames of their bodies, by body.
function jointPoints(joints: JointDescription[]): Map<number, Vector3[]> {
  const points = new Map<number, Vector3[]>();
  const add = (body: number, point: Vector): void => {
    const known = points.get(body);
    if (known) known.push(new Vector3(...point));
    else points.set(body, [new Vector3(...point)]);
  };
  for (const joint of joints) {
    if (!joint.placed) continue;
    add(joint.body_a, joint.point_a);
    add(joint.body_b, joint.point_b);
  }
  return points;
}

/// Pieces of all bodies. A body without shapes is drawn as a ball at its centre of mass with rods to its joints.
export function bodyParts(description: ResultDescription, standInRadius: number): Part[] {
  const parts = description.shapes.map(shapePart);
  const drawn = new Set(description.shapes.map((shape) => shape.body));
  const points = jointPoints(description.joints);
  description.bodies.forEach((body, index) => {
    if (drawn.has(index) || body.kind === BEAM_NODE) return; // its beam is drawn
    const center = new Vector3(...body.center_of_mass);
    const radius = standInRadius;
    parts.push({ key: "sphere", geometry: unitSphere, body: index,
                 local: matrixOf([1, 0, 0, 0, 1, 0, 0, 0, 1], body.center_of_mass, [radius, radius, radius]) });
    for (const point of points.get(index) ?? [])
      if (point.distanceTo(center) > radius) parts.push(rodPart(index, center, point, 0.35 * radius));
  });
  return parts;
}
