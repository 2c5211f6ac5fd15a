// SPDX-License-Identifier: MIT
// Statistics of studies: histograms, shares of variance against a function whose shares are known, surfaces.
import assert from "node:assert/strict";
import { test } from "node:test";
import { histogram, surface, varianceShare } from "../src/study/statistics";
import { tableFrom } from "../src/study/table";

/// Repeatable numbers in [0, 1): splitmix32.
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 4294967296;
  };
}

test("shares of variance are those of Ishigami's function", () => {
  // Y = sin a + 7 sin^2 b + 0.1 c^4 sin a on [-pi, pi]^3: first-order indices 0.3139, 0.4424 and 0
  const next = numbers(1), n = 8000;
  const x = [0, 1, 2].map(() => Float64Array.from({ length: n }, () => Math.PI * (2 * next() - 1)));
  const y = x[0].map((a, i) => Math.sin(a) + 7 * Math.sin(x[1][i]) ** 2 + 0.1 * x[2][i] ** 4 * Math.sin(a));
  const shares = x.map((one) => varianceShare(one, y));
  assert.ok(Math.abs(shares[0] - 0.3139) < 0.02, String(shares[0])); // measured 0.312
  assert.ok(Math.abs(shares[1] - 0.4424) < 0.02, String(shares[1]));
  assert.ok(shares[2] < 0.01, String(shares[2]));
});

test("shares of grids and of nothing", () => {
  const x = Array.from({ length: 100 }, (_, i) => i % 4), y = x.map((value) => 3 * value);
  assert.ok(varianceShare(x, y) > 0.999);
  assert.ok(Number.isNaN(varianceShare(x, x.map(() => 1))));
  assert.ok(Number.isNaN(varianceShare(x.map(() => 5), y)));
  assert.ok(varianceShare(x, y.map((value, i) => (i % 10 === 0 ? NaN : value))) > 0.999);
});

test("histograms count every finite number once", () => {
  const found = histogram([...Array.from({ length: 1000 }, (_, i) => i / 999), NaN, Infinity])!;
  assert.equal(found.counts.reduce((a, b) => a + b), 1000);
  assert.equal(found.counts.length, 32);
  assert.ok(Math.max(...found.counts) - Math.min(...found.counts) <= 1);
  assert.deepEqual(histogram([2, 2])!.counts, [2]);
  assert.equal(histogram([NaN]), undefined);
});

test("surfaces have a cell for each pair of grid values", () => {
  const x: number[] = [], y: number[] = [], z: number[] = [];
  for (const a of [1, 2, 4]) for (const b of [10, 20, 30]) for (let k = 0; k < 9; ++k) {
    x.push(a);
    y.push(b);
    z.push(a * b + (k - 4));
  }
  const found = surface(x, y, z)!;
  assert.deepEqual(found.means, [[10, 20, 40], [20, 40, 80], [30, 60, 120]]);
  assert.deepEqual(found.columns, [0.5, 1.5, 3, 5]);
});

test("a table of another format is refused", () => {
  assert.throws(() => tableFrom({ format: "x", version: 1 } as never), /another viewer/);
});
