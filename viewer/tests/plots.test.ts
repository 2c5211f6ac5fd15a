// SPDX-License-Identifier: MIT
// Ticks, numbers as text, figures as SVG and CSV.
import assert from "node:assert/strict";
import { test } from "node:test";
import { errorText, formatNumber, shortNumber, tickLabels, unitText } from "../src/numbers";
import { defaultSpeed, speedChoices } from "../src/panels/controls";
import { figureCsv, figureSvg, valueRange, type Figure, type Line } from "../src/plots/figure";
import { readableName } from "../src/plots/presets";
import { linearTicks, logTicks } from "../src/plots/ticks";
import { profileFactor } from "../src/scene/forces";

function line(values: number[], change: Partial<Line> = {}): Line {
  return { name: "ledger/energy", label: "energy", unit: "J", colour: "#123456", dash: [], values,
           times: values.map((_, i) => i), ...change };
}

function figure(lines: Line[], change: Partial<Figure> = {}): Figure {
  return { title: "Energy", range: [0, lines[0].times.length - 1], log: false, lines, ...change };
}

test("ticks are round and inside", () => {
  assert.deepEqual(linearTicks(0, 1, 5), [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
  assert.deepEqual(linearTicks(-3, 7, 4), [0, 5]);
  assert.deepEqual(logTicks(1e-16, 1e-13, 8).map((x) => Math.round(Math.log10(x))), [-16, -15, -14, -13]);
  assert.ok(logTicks(1e-16, 1, 5).length <= 6);
});

test("tick labels show the difference between ticks", () => {
  assert.deepEqual(tickLabels([0, 0.25, 0.5, 0.75]), ["0.00", "0.25", "0.50", "0.75"]);
  assert.deepEqual(tickLabels([0, 5, 10]), ["0", "5", "10"]);
  assert.deepEqual(tickLabels([1.5e-14, 2e-14]), ["1.5e−14", "2.0e−14"]);
  assert.deepEqual(tickLabels([-200000, 0, 200000]), ["−2e5", "0", "2e5"]);
  assert.deepEqual(tickLabels([]), []);
});

test("numbers have the digits asked for", () => {
  assert.equal(formatNumber(0.123456789), "0.123457");
  assert.equal(formatNumber(-1.25e-9), "−1.250e−9");
  assert.equal(formatNumber(NaN), "–");
  assert.equal(shortNumber(0.1 + 0.2), "0.3");
  assert.equal(errorText(1.26e-13), "1.3e−13");
  assert.equal(unitText("kg m^2/s"), "kg m²/s");
});

test("ranges leave room, and a log axis takes sizes without zeros", () => {
  assert.deepEqual(valueRange([line([1, 2, 3])], [0, 2], false), [0.9, 3.1]);
  assert.deepEqual(valueRange([line([0, -1e-5, 3e-3])], [0, 2], true), [1e-5, 1e-2].map((x) => 10 ** Math.round(Math.log10(x))));
  assert.deepEqual(valueRange([line([5, 5])], [0, 1], false), [4.5, 5.5]);
  assert.deepEqual(valueRange([line([0, 0])], [0, 1], true), [1e-16, 1]);
});

test("a table has the numbers in full, and names that need it are quoted", () => {
  const csv = figureCsv(figure([line([0.1, 0.2, 1 / 3]), line([1, NaN, 3], { name: 'joints/a,"b"/x' })]));
  assert.equal(csv, `time,ledger/energy,"joints/a,""b""/x"\n0,0.1,1\n1,0.2,\n2,${1 / 3},3\n`);
});

test("a table of lines with different times has a row for each", () => {
  const csv = figureCsv(figure([line([1, 2, 3]), line([7], { times: [0.5], name: "b" })], { range: [0, 1] }));
  assert.equal(csv, "time,ledger/energy,b\n0,1,\n0.5,,7\n1,2,\n");
});

test("a figure is well-formed and shows names as text", () => {
  const svg = figureSvg(figure([line([1, 2, 3]), line([3, 1, 2], { unit: "kg m^2/s", label: "<script>alert(1)</script> & 'x'" })],
                               { title: 'a "title" <b>' }));
  assert.ok(!svg.includes("<script"), "no markup of a name");
  assert.ok(svg.includes("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#39;x&#39;, kg m²/s"));
  assert.ok(svg.startsWith("<svg") && svg.endsWith("</svg>"));
  assert.equal(svg.match(/<path/g)?.length, 2);
});

test("a dense line keeps its peaks in the figure", () => {
  const values = Array.from({ length: 100000 }, (_, i) => (i === 50000 ? 100 : Math.sin(i)));
  const svg = figureSvg(figure([line(values)]));
  const path = / d="([^"]*)"/.exec(svg)![1];
  assert.ok(path.length < 80000, `${path.length} characters`); // measured 46000
  const heights = [...path.matchAll(/[ML][\d.]+ ([\d.]+)/g)].map((match) => Number(match[1]));
  assert.ok(Math.min(...heights) < 60, "the peak is near the top"); // the axis ends at 40
});

test("speeds are round and near eight seconds", () => {
  assert.equal(defaultSpeed(10), 1);
  assert.equal(defaultSpeed(1), 0.1);
  assert.equal(defaultSpeed(0.2), 0.02);
  assert.equal(defaultSpeed(1000), 100);
  assert.ok(speedChoices(0.1).includes(0.1) && speedChoices(1).includes(1));
});

test("time factors of loads", () => {
  const pulse = { kind: "table", times: [0, 1, 3], factors: [0, 1, 0] };
  assert.equal(profileFactor(pulse, 0.5), 0.5);
  assert.equal(profileFactor(pulse, 2), 0.5);
  assert.equal(profileFactor(pulse, 9), 0);
  assert.equal(profileFactor({ kind: "constant", times: [], factors: [] }, 5), 1);
});

test("series have readable names", () => {
  assert.equal(readableName("joints/r1/coordinates/angle"), "r1 angle");
  assert.equal(readableName("joints/r1/rates/angle"), "r1 angle rate");
  assert.equal(readableName("joints/r1/reaction_force/size"), "r1 reaction force");
  assert.equal(readableName("ledger/linear_momentum/x"), "linear momentum x");
});
