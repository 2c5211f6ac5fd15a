// SPDX-License-Identifier: MIT
// How large a model and its motion are: what the camera, the grid and the sizes of symbols follow from.
import { Box3, Matrix4, Vector3 } from "three";
import type { ResultDescription, Vector } from "../data/format";
import type { Result } from "../data/result";
import { bodyMatrix } from "./bodies";
import { shapePart } from "./shapes";

export interface Extent {
  box: Box3; // of all bodies over all times
  points: Vector3[]; // corners of bodies over all times, some thousands: what the camera fits
  size: number; // m, diagonal of that box
  symbol: number; // m, radius-like size for joints
  stroke: number; // m, the same for arrows, which follow the size of the scene alone
  up: Vector3;
  gravity: { from: Vector3; to: Vector3 } | undefined; // an arrow beside the motion
}

const POSES_LOOKED_AT = 60000; // of all bodies together, spread over the run
const POINTS_KEPT = 6000; // about as many, of corners of bodies and of nodes
const GOLDEN = 0.6180339887498949; // its multiples favour no stride: no corner or body is always left out
const STAND_IN_SHARE = 0.02; // of nothing known better: a body without shapes and joints

/// Box of every body in its own frame, from its shapes, or from its joints where it has none.
export function bodyBoxes(description: ResultDescription): Box3[] {
  const boxes = description.bodies.map(() => new Box3());
  const known = new Map<string, Box3>(); // of the geometries, which many shapes share
  for (const shape of description.shapes) {
    const part = shapePart(shape);
    let box = known.get(part.key);
    if (box === undefined) {
      const geometry = part.geometry();
      geometry.computeBoundingBox();
      box = geometry.boundingBox!;
      known.set(part.key, box);
    }
    boxes[shape.body].union(box.clone().applyMatrix4(part.local));
  }
  const drawn = new Set(description.shapes.map((shape) => shape.body));
  const add = (body: number, point: Vector): void => {
    if (body >= 0 && !drawn.has(body)) boxes[body].expandByPoint(new Vector3(...point));
  };
  for (const joint of description.joints) {
    if (!joint.placed) continue;
    add(joint.body_a, joint.point_a);
    add(joint.body_b, joint.point_b);
  }
  description.bodies.forEach((body, i) => boxes[i].expandByPoint(new Vector3(...body.center_of_mass)));
  return boxes;
}

function median(values: number[]): number {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  return sorted.length === 0 ? 0 : sorted[sorted.length >> 1];
}

/// Against gravity, on the nearest axis; z without gravity.
function upward(gravity: Vector): Vector3 {
  const sizes = gravity.map(Math.abs);
  const largest = Math.max(...sizes);
  if (!(largest > 0)) return new Vector3(0, 0, 1);
  const axis = sizes.indexOf(largest);
  return new Vector3().setComponent(axis, gravity[axis] > 0 ? -1 : 1);
}

/// Where the arrow of gravity stands: beside the box, at half its height.
function gravityArrow(gravity: Vector, box: Box3, size: number, up: Vector3): Extent["gravity"] {
  const direction = new Vector3(...gravity);
  if (!(direction.length() > 0)) return undefined;
  direction.setLength(0.1 * size);
  const from = box.getCenter(new Vector3());
  const side = Math.abs(up.x) > 0.5 ? 1 : 0; // an axis across
  from.setComponent(side, box.min.getComponent(side) - 0.03 * size).addScaledVector(direction, -0.5);
  return { from, to: from.clone().add(direction) };
}

/// Some of many points: an even share of them, whatever their order repeats.
function sampler(count: number, points: Vector3[]): (point: Vector3) => void {
  const share = POINTS_KEPT / Math.max(count, 1);
  let seen = 0;
  return (point) => {
    if ((seen++ * GOLDEN) % 1 < share) points.push(point.clone());
  };
}

/// World box of all bodies and nodes over the run; also some of the points that span it.
function motionBox(result: Result, boxes: Box3[], out: Box3, points: Vector3[]): void {
  const frames = result.frameTimes.length;
  const nodes = result.nodes === result.bodies ? 0 : result.nodes.count;
  const stride = Math.max(1, Math.ceil((frames * (boxes.length + nodes)) / POSES_LOOKED_AT));
  const matrix = new Matrix4(), moved = new Box3(), point = new Vector3();
  const keep = sampler((8 * boxes.length + nodes) * Math.ceil(frames / stride), points);
  for (let frame = 0; frame < frames; frame += stride) {
    result.evaluate(result.frameTimes[frame]);
    boxes.forEach((box, body) => {
      out.union(moved.copy(box).applyMatrix4(bodyMatrix(result, body, matrix)));
      for (let corner = 0; corner < 8; ++corner)
        keep(point.set(corner & 1 ? box.max.x : box.min.x, corner & 2 ? box.max.y : box.min.y,
                       corner & 4 ? box.max.z : box.min.z).applyMatrix4(matrix));
    });
    for (let node = 0; node < nodes; ++node) {
      out.expandByPoint(point.set(...result.nodes.position(node)));
      keep(point);
    }
  }
}

export function measure(results: Result[]): Extent {
  const box = new Box3();
  const sizes: number[] = [];
  const point = new Vector3();
  const points: Vector3[] = [];
  const addOnGround = (place: Vector): void => {
    points.push(new Vector3(...place));
    box.expandByPoint(points[points.length - 1]);
  };
  for (const result of results) {
    const boxes = bodyBoxes(result.description);
    sizes.push(...boxes.map((own) => own.min.distanceTo(own.max)));
    motionBox(result, boxes, box, points);
    for (const joint of result.description.joints)
      if (joint.placed && joint.body_a < 0) addOnGround(joint.point_a);
    for (const spring of result.description.springs) {
      if (spring.body_a < 0) addOnGround(spring.point_a);
      if (spring.body_b < 0) addOnGround(spring.point_b);
    }
  }
  if (box.isEmpty()) box.expandByPoint(point.set(0, 0, 0));
  if (!(box.min.distanceTo(box.max) > 0)) box.expandByScalar(0.5); // one point at rest
  const size = box.min.distanceTo(box.max);
  box.expandByScalar(STAND_IN_SHARE * size);
  const typical = median(sizes) || 0.2 * size;
  // large enough to be seen, but never larger than the bodies
  const symbol = Math.min(0.016 * size, Math.max(0.03 * typical, Math.min(0.003 * size, 0.06 * typical)));
  const stroke = Math.min(0.012 * size, Math.max(symbol, 0.004 * size));
  const up = upward(results[0].description.model.gravity);
  const gravity = gravityArrow(results[0].description.model.gravity, box, size, up);
  if (points.length === 0) points.push(box.min, box.max);
  if (gravity !== undefined) points.push(gravity.from, gravity.to);
  return { box, points, size, symbol, stroke, up, gravity };
}
