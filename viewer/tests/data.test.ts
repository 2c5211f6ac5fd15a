// SPDX-License-Identifier: MIT
// From packed texts to numbers: precision of the encodings, poses between frames, series by name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { indexAt, nearestIndex, placeAt } from "../src/data/grid";
import { readPage, Result } from "../src/data/result";
import { matrixOfQuaternion, quaternionOfMatrix } from "../src/data/rotation";
import { bytesFromBase64, gunzip, unpackBlock } from "../src/data/unpack";
import { pack, packedTexts, turningRod } from "./made_up";

function near(found: number, expected: number, tolerance: number, what = ""): void {
  assert.ok(Math.abs(found - expected) <= tolerance, `${what}: ${found} is not within ${tolerance} of ${expected}`);
}

function resultOf(made: ReturnType<typeof turningRod>): Result {
  const { buffer, byteOffset, byteLength } = made.bytes;
  return new Result(0, made.description, buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
}

test("base64 of every length and every byte comes back", () => {
  for (let length = 0; length < 70; ++length) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 37 + length) & 255);
    assert.deepEqual(bytesFromBase64(Buffer.from(bytes).toString("base64")), bytes);
  }
});

test("gzip is undone", async () => {
  const texts = packedTexts([turningRod(1, 5, 1)]);
  const text = new TextDecoder().decode(await gunzip(bytesFromBase64(texts.description)));
  assert.equal(JSON.parse(text).results[0].bodies[0].name, "rod");
});

test("encodings keep what they promise", () => {
  const values = Array.from({ length: 1000 }, (_, i) => 3 + 40 * Math.sin(0.37 * i) * Math.cos(0.011 * i));
  const range = Math.max(...values) - Math.min(...values);
  const tolerances = { q16: range / 65000, q32: range / 2 ** 26, f32: 45 * 2 ** -24, f64: 0 } as const;
  for (const encoding of ["q16", "q32", "f32", "f64"] as const) {
    const { blocks, bytes } = pack([
      { name: "odd", grid: "frames", encoding: "q16", rows: [[1, 2, 3]] }, // so that the next one is not at 0
      { name: "a", grid: "frames", encoding, rows: [values, values.map((x) => -2 * x), values.map(() => 7)] },
    ]);
    const table = unpackBlock(Uint8Array.from(bytes).buffer, blocks[1]);
    values.forEach((value, i) => {
      near(table.row(0)[i], value, tolerances[encoding], encoding);
      near(table.row(1)[i], -2 * value, 2 * tolerances[encoding], encoding);
      assert.equal(table.row(2)[i], 7); // a row that does not change is exact
    });
  }
});

test("a place in time is found", () => {
  const times = [0, 1, 1.5, 4];
  assert.equal(indexAt(times, -1), 0);
  assert.equal(indexAt(times, 1), 1);
  assert.equal(indexAt(times, 3.9), 2);
  assert.equal(indexAt(times, 9), 3);
  assert.equal(nearestIndex(times, 1.3), 2);
  assert.equal(nearestIndex(times, 1.2), 1);
  assert.deepEqual(placeAt(times, 2.75), { index: 2, fraction: 0.5 });
  assert.deepEqual(placeAt(times, 5), { index: 2, fraction: 1 });
  assert.deepEqual(placeAt([2], 5), { index: 0, fraction: 0 });
});

test("quaternions of matrices, whichever component is largest", () => {
  for (const q of [[0.1, 0.2, 0.3, 0.927], [0.927, 0.1, -0.2, 0.3], [0.1, 0.927, 0.2, -0.3], [-0.2, 0.1, 0.927, 0.01]]) {
    const length = Math.hypot(...q);
    const unit = q.map((x) => x / length);
    const back = quaternionOfMatrix(matrixOfQuaternion(unit));
    const sign = Math.sign(back[3] * unit[3]);
    back.forEach((x, k) => near(sign * x, unit[k], 1e-12));
  }
});

test("frames are exact, and between them the motion is smooth", () => {
  const rate = 5; // rad/s: 0.25 rad from frame to frame
  const result = resultOf(turningRod(rate, 41, 2));
  result.evaluate(0.5);
  near(result.bodies.position(0)[0], 0.5 * Math.cos(2.5), 3e-8, "x in a frame");
  result.evaluate(0.525); // the middle of an interval: a straight line would be off by 4e-3
  near(result.bodies.position(0)[0], 0.5 * Math.cos(rate * 0.525), 1e-5, "x between frames"); // measured 5e-6
  near(result.bodies.position(0)[2], -0.5 * Math.sin(rate * 0.525), 1e-5, "z between frames");
  const tip = result.worldPoint(0, [1, 0, 0]);
  near(tip[0], Math.cos(rate * 0.525), 2e-5, "the tip follows the orientation");
  result.evaluate(-1);
  near(result.bodies.position(0)[0], 0.5, 3e-8, "held before the start");
  result.evaluate(99);
  near(result.bodies.position(0)[0], 0.5 * Math.cos(rate * 2), 3e-8, "held after the end");
});

test("without velocities orientations are interpolated on the sphere", () => {
  const result = resultOf(turningRod(5, 41, 2, false));
  result.evaluate(0.525);
  const along = result.worldDirection(0, [1, 0, 0]);
  near(along[0], Math.cos(2.625), 1e-6, "slerp keeps a steady turn"); // measured 3e-8
  near(Math.hypot(...along), 1, 1e-12, "and stays a rotation");
});

test("a body that spins faster than the frames show does not overshoot", () => {
  const result = resultOf(turningRod(400, 41, 2)); // 20 rad from frame to frame
  for (let t = 0; t < 2; t += 0.0131) {
    result.evaluate(t);
    const [x, , z] = result.bodies.position(0);
    assert.ok(Math.hypot(x, z) < 0.5 + 1e-6);
  }
});

test("series go by the names of exported columns", () => {
  const result = resultOf(turningRod(1, 101, 1));
  const angle = result.series("joints/pin/coordinates/angle")!;
  assert.equal(angle.unit, "rad");
  near(angle.values[50], 0.5, 1e-7);
  near(result.series("bodies/rod/position/x")!.values[100], 0.5 * Math.cos(1), 1e-7);
  near(result.series("bodies/rod/linear_momentum/z")!.values[0], 2 * -0.5, 1e-6);
  // m r^2 omega + J omega about y
  near(result.series("bodies/rod/angular_momentum/y")!.values[30], (2 * 0.25 + 0.2) * 1, 1e-6);
  near(result.series("joints/pin/reaction_force/size")!.values[10], 2, 1e-4);
  near(result.series("derived/energy_error")!.values[100], 1e-14, 1e-20);
  assert.equal(result.series("bodies/nobody/position/x"), undefined);
  assert.equal(result.series("joints/pin/coordinates/length"), undefined);
  for (const name of result.seriesNames())
    if (!name.includes("rates")) assert.ok(result.series(name) !== undefined, name);
});

test("names may hold slashes and words of the format", () => {
  const made = turningRod(1, 11, 1);
  made.description.bodies[0].name = "a/position/x";
  made.description.joints[0].name = "j/coordinates/angle";
  const result = resultOf(made);
  assert.ok(result.series("bodies/a/position/x/position/x"));
  assert.ok(result.series("joints/j/coordinates/angle/coordinates/angle"));
});

test("a page of another version is refused in words", async () => {
  const texts = packedTexts([turningRod(1, 5, 1)]);
  const page = await readPage(texts.description, (i) => texts.data[i]);
  assert.equal(page.results.length, 1);
  const made = packedTexts([]);
  const { gzipSync } = await import("node:zlib");
  made.description = gzipSync(JSON.stringify({ format: "holonom page", version: 99, results: [] })).toString("base64");
  await assert.rejects(readPage(made.description, () => ""), /another viewer/);
});
