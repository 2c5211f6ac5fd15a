// SPDX-License-Identifier: MIT
// Geometry that needs no screen: shapes, extents, camera directions, swept sections.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Color, Vector3 } from "three";
import type { ShapeDescription } from "../src/data/format";
import { Result } from "../src/data/result";
import { scalarRange, Beams } from "../src/scene/beams";
import { viewDirection } from "../src/scene/camera";
import { scaleColour } from "../src/scene/colours";
import { bodyBoxes, measure } from "../src/scene/extent";
import { roundStep } from "../src/scene/ground";
import { bodyParts, shapePart } from "../src/scene/shapes";
import { emptyResult, standingBodies, swingingBeam, turningRod } from "./made_up";

function resultOf(made: ReturnType<typeof turningRod>): Result {
  const { buffer, byteOffset, byteLength } = made.bytes;
  return new Result(0, made.description, buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
}

function shape(change: Partial<ShapeDescription>): ShapeDescription {
  return { body: 0, kind: "box", size: [0, 0, 0], radius: 0, inner_radius: 0, height: 0,
           corners: [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]], position: [0, 0, 0],
           orientation: [1, 0, 0, 0, 1, 0, 0, 0, 1], ...change };
}

function boxOf(description: ShapeDescription): number[] {
  const part = shapePart(description);
  const geometry = part.geometry().applyMatrix4(part.local);
  geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox!;
  return [...min.toArray(), ...max.toArray()].map((x) => Math.round(x * 1e4) / 1e4 + 0);
}

test("shapes have the places and axes of model.h", () => {
  assert.deepEqual(boxOf(shape({ size: [2, 4, 6] })), [-1, -2, -3, 1, 2, 3]);
  assert.deepEqual(boxOf(shape({ kind: "cylinder", radius: 1, height: 4 })), [-1, -1, -2, 1, 1, 2]);
  assert.deepEqual(boxOf(shape({ kind: "hollow_cylinder", radius: 2, inner_radius: 1, height: 4 })), [-2, -2, -2, 2, 2, 2]);
  // apex of a cone at z = -3/4 height, base at +1/4; a pyramid the other way round
  assert.deepEqual(boxOf(shape({ kind: "cone", radius: 1, height: 4 })), [-1, -1, -3, 1, 1, 1]);
  assert.deepEqual(boxOf(shape({ kind: "pyramid", size: [2, 2, 4] })), [-1, -1, -1, 1, 1, 3]);
  const corners: ShapeDescription["corners"] = [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]];
  assert.deepEqual(boxOf(shape({ kind: "tetrahedron", corners })), [0, 0, 0, 1, 2, 3]);
});

test("a cone's point is where it is thin", () => {
  const part = shapePart(shape({ kind: "cone", radius: 1, height: 4 }));
  const geometry = part.geometry().applyMatrix4(part.local);
  const places = geometry.getAttribute("position");
  for (let i = 0; i < places.count; ++i)
    if (places.getZ(i) < -2.9) assert.ok(Math.hypot(places.getX(i), places.getY(i)) < 1e-6);
});

test("faces of a tetrahedron look outward, whatever the order of its corners", () => {
  for (const corners of [[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]]]) {
    const part = shapePart(shape({ kind: "tetrahedron", corners: corners as ShapeDescription["corners"] }));
    const geometry = part.geometry();
    const places = geometry.getAttribute("position"), normals = geometry.getAttribute("normal");
    const inside = new Vector3(0.1, 0.1, 0.1);
    for (let i = 0; i < places.count; ++i) {
      const outward = new Vector3().fromBufferAttribute(places, i).sub(inside);
      assert.ok(outward.dot(new Vector3().fromBufferAttribute(normals, i)) > 0);
    }
  }
});

test("a body without shapes is a ball with rods to its joints", () => {
  const { description } = turningRod(1, 5, 1);
  description.shapes = [];
  const parts = bodyParts(description, 0.02);
  assert.deepEqual(parts.map((part) => part.key), ["sphere", "cylinder"]);
  assert.deepEqual(bodyBoxes(description)[0].max.toArray(), [0.5, 0, 0]);
});

test("the extent holds the whole motion", () => {
  const result = resultOf(turningRod(Math.PI, 101, 2)); // one turn
  const { box, up, size, points } = measure([result]);
  assert.ok(box.min.x <= -1 && box.max.x >= 1 && box.min.z <= -1 && box.max.z >= 1);
  assert.ok(box.max.x < 1.25, "and not much more");
  assert.deepEqual(up.toArray(), [0, 0, 1]);
  assert.ok(size > 2 && points.length > 100);
});

test("up is against gravity, and z without it", () => {
  const made = turningRod(1, 5, 1);
  for (const [gravity, up] of [[[0, -9.81, 0], [0, 1, 0]], [[0, 0, 0], [0, 0, 1]], [[5, 0, -1], [-1, 0, 0]]] as [number[], number[]][]) {
    made.description.model.gravity = gravity as [number, number, number];
    assert.deepEqual(measure([resultOf(made)]).up.toArray().map((x) => x + 0), up);
  }
});

test("a flat motion is looked at from the front", () => {
  const extent = measure([resultOf(turningRod(Math.PI, 101, 2))]); // in the plane of x and z
  const direction = viewDirection("fit", extent);
  assert.ok(direction.y < -0.9, `${direction.toArray()}`);
  assert.deepEqual(viewDirection("front", extent).toArray().map((x) => x + 0), [0, -1, 0]);
  assert.ok(viewDirection("top", extent).z > 0.99);
});

test("a grid has round steps", () => {
  assert.equal(roundStep(0.37), 0.2);
  assert.equal(roundStep(9), 5);
  assert.equal(roundStep(1000), 1000);
});

test("a beam is a section swept along its nodes, coloured by element", () => {
  const result = resultOf(swingingBeam(10, 21));
  assert.deepEqual(scalarRange(result, 1).map((x) => Math.round(x * 1e3) / 1e3), [-1, 1]);
  const beams = new Beams(result, new Color("#000000"));
  result.evaluate(0.5);
  beams.update(0.5, 0);
  const mesh = beams.group.children[0] as unknown as { geometry: { getAttribute: (name: string) => { getX: (i: number) => number; getY: (i: number) => number; getZ: (i: number) => number; count: number } } };
  const places = mesh.geometry.getAttribute("position");
  assert.equal(places.count, 10 * 2 * 4);
  // at t = 0.5 the tip is turned up by 0.6 rad: its section is centred on the last node
  const n = places.count;
  const tip = [0, 1, 2].map((k) => [1, 2, 3, 4].reduce((sum, i) => sum + [places.getX(n - i), places.getY(n - i), places.getZ(n - i)][k] / 4, 0));
  assert.ok(Math.abs(tip[0] - (1 - 0.36 / 6)) < 1e-6 && Math.abs(tip[2] - 0.3) < 1e-6, `${tip}`);
  assert.ok(Math.abs(places.getY(0)) > 0.01, "the section has a width across");
  const colours = mesh.geometry.getAttribute("color");
  const first = new Color().setRGB(colours.getX(0), colours.getY(0), colours.getZ(0));
  const expected = scaleColour((9.5 + 9.5) / 19, new Color()); // the largest moment of the run is at the clamp now
  assert.ok(Math.abs(first.r - expected.r) < 1e-3);
});

test("the camera fits all bodies, however many corners and frames there are", () => {
  // a row of bodies that do not move: whatever number of corners a frame has, every one must be among the points
  for (const [bodies, frames] of [[8, 3001], [16, 2001], [32, 1001], [5, 3001]]) {
    const made = standingBodies(bodies, frames);
    const { points, box } = measure([resultOf(made)]);
    for (let body = 0; body < bodies; ++body)
      for (const side of [-0.4, 0.4])
        assert.ok(points.some((point) => Math.abs(point.x - body - side) < 1e-3), `body ${body} of ${bodies}, ${frames} frames`);
    assert.ok(box.max.x < bodies + 1);
  }
});

test("the camera fits nodes of beams and joints on the ground", () => {
  const extent = measure([resultOf(swingingBeam(8, 51))]);
  const far = Math.max(...extent.points.map((point) => point.x));
  assert.ok(far > 0.9, "the tip is a point that the camera fits");
});

test("an empty result is measured too", () => {
  const { size } = measure([resultOf({ ...swingingBeam(2, 3), description: { ...swingingBeam(2, 3).description } })]);
  assert.ok(size > 0);
  assert.equal(emptyResult().bodies.length, 0);
});
