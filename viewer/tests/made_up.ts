// SPDX-License-Identifier: MIT
// Made-up results in the form the tool writes them, for tests: a packer, a pendulum, a beam.
import { gzipSync } from "node:zlib";
import type { BlockDescription, Encoding, Grid, Matrix, PageDescription, ResultDescription } from "../src/data/format";
import { PAGE_FORMAT, PAGE_VERSION } from "../src/data/format";

const IDENTITY: Matrix = [1, 0, 0, 0, 1, 0, 0, 0, 1];

export interface Rows {
  name: string;
  grid: Grid;
  encoding: Encoding;
  rows: ArrayLike<number>[];
}

/// Pack blocks as cli/page_block.c does.
export function pack(blocks: Rows[]): { blocks: BlockDescription[]; bytes: Buffer } {
  const parts: Buffer[] = [];
  const described: BlockDescription[] = [];
  let at = 0;
  const add = (part: Buffer): void => {
    parts.push(part);
    at += part.length;
  };
  for (const { name, grid, encoding, rows } of blocks) {
    add(Buffer.alloc((8 - (at % 8)) % 8));
    const columns = rows[0]?.length ?? 0;
    described.push({ name, grid, encoding, rows: rows.length, columns, at });
    const offsets = new Float64Array(rows.length), scales = new Float64Array(rows.length).fill(1);
    const width = { q16: 2, q32: 4, f32: 4, f64: 8 }[encoding];
    const words = Buffer.alloc(width * rows.length * columns);
    rows.forEach((row, r) => {
      const low = Math.min(...Array.from(row)), high = Math.max(...Array.from(row));
      if (encoding[0] === "q") {
        offsets[r] = (low + high) / 2;
        scales[r] = (high - low) / (encoding === "q16" ? 65000 : 2 ** 26);
      }
      let before = 0;
      for (let i = 0; i < columns; ++i) {
        const to = width * (r * columns + i);
        if (encoding === "f32") words.writeFloatLE(row[i], to);
        else if (encoding === "f64") words.writeDoubleLE(row[i], to);
        else {
          const step = scales[r] > 0 ? Math.round((row[i] - offsets[r]) / scales[r]) : 0;
          if (encoding === "q16") words.writeUInt16LE((step - before) & 0xffff, to);
          else words.writeInt32LE((step - before) | 0, to);
          before = step;
        }
      }
    });
    const count = rows.length * columns;
    const planes = Buffer.alloc(words.length);
    for (let i = 0; i < count; ++i) for (let k = 0; k < width; ++k) planes[k * count + i] = words[width * i + k];
    add(Buffer.from(offsets.buffer));
    add(Buffer.from(scales.buffer));
    add(planes);
  }
  return { blocks: described, bytes: Buffer.concat(parts) };
}

/// A result without bodies, joints and series: what tests fill.
export function emptyResult(): ResultDescription {
  return {
    label: "made up", file: "made-up.h5", complete: true,
    model: { name: "made up", text: "holonom: 1\n", gravity: [0, 0, -9.81] },
    options: { kind: "run", scheme: "energy-momentum", reduction: "reduced", step_size: 0.01 },
    structure: { loop_count: 0, constraint_count: 0, constraint_rank: 0, degrees_of_freedom: 1 },
    statistics: { step_count: 100, iterations_total: 200, iterations_max: 3, halved_steps: 0 },
    bodies: [], shapes: [], joints: [], springs: [], loads: [], beams: [], beam_scalars: [],
    ledger: [], scales: { energy: 1, momentum: 1 }, thinning: { records: 0, frames: 0, samples: 0 },
    reactions_from: 0, totals: [], blocks: [],
  };
}

/// A rod of one metre that turns about the world's y axis at a steady rate, rad/s; its centre of mass is at half.
export function turningRod(rate: number, frames: number, duration: number, withVelocities = true):
  { description: ResultDescription; bytes: Buffer } {
  const times = Array.from({ length: frames }, (_, i) => (duration * i) / (frames - 1));
  const angle = times.map((t) => rate * t);
  const zero = times.map(() => 0);
  const half = (f: (x: number) => number, factor: number): number[] => angle.map((a) => factor * f(a));
  const blocks: Rows[] = [
    { name: "frame_times", grid: "frames", encoding: "f64", rows: [times] },
    { name: "sample_times", grid: "samples", encoding: "f64", rows: [times] },
    { name: "motion", grid: "frames", encoding: "q32", rows: [
      half(Math.cos, 0.5), zero, half(Math.sin, -0.5),
      zero, angle.map((a) => Math.sin(a / 2)), zero, angle.map((a) => Math.cos(a / 2))] },
    { name: "coordinates", grid: "frames", encoding: "q32", rows: [angle] },
    { name: "reactions", grid: "frames", encoding: "q16", rows: [half(Math.cos, -2), zero, half(Math.sin, 2), zero, zero, zero] },
    { name: "totals", grid: "samples", encoding: "f32", rows: [times.map((t) => 1e-14 * t), angle] },
  ];
  if (withVelocities)
    blocks.push({ name: "velocities", grid: "frames", encoding: "q32",
                  rows: [half(Math.sin, -0.5 * rate), zero, half(Math.cos, -0.5 * rate), zero, times.map(() => rate), zero] });
  const packed = pack(blocks);
  const description: ResultDescription = {
    ...emptyResult(),
    bodies: [{ name: "rod", kind: "rigid", mass: 2, center_of_mass: [0.5, 0, 0], inertia: [0.01, 0, 0, 0, 0.2, 0, 0, 0, 0.2] }],
    shapes: [{ body: 0, kind: "box", size: [1, 0.1, 0.1], radius: 0, inner_radius: 0, height: 0,
               corners: [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]], position: [0.5, 0, 0], orientation: IDENTITY }],
    joints: [{ name: "pin", kind: "revolute", body_a: -1, body_b: 0, placed: true, point_a: [0, 0, 0], point_b: [0, 0, 0],
               frame_a: [1, 0, 0, 0, 0, 1, 0, -1, 0], frame_b: [1, 0, 0, 0, 0, 1, 0, -1, 0],
               coordinates: [{ name: "angle", unit: "rad", meaning: "" }] }],
    thinning: { records: frames, frames, samples: frames },
    totals: [{ name: "derived/energy_error", unit: "1", meaning: "" }, { name: "ledger/energy", unit: "J", meaning: "" }],
    blocks: packed.blocks,
  };
  return { description, bytes: packed.bytes };
}

/// Boxes of 0.8 m in a row along x, a metre apart, at rest.
export function standingBodies(count: number, frames: number): { description: ResultDescription; bytes: Buffer } {
  const rod = turningRod(0, 2, 1).description;
  const times = Array.from({ length: frames }, (_, i) => i / (frames - 1));
  const still = (value: number): number[] => times.map(() => value);
  const places = Array.from({ length: count }, (_, body) => [body, 0, 0, 0, 0, 0, 1].map(still)).flat();
  const packed = pack([
    { name: "frame_times", grid: "frames", encoding: "f64", rows: [times] },
    { name: "sample_times", grid: "samples", encoding: "f64", rows: [times] },
    { name: "motion", grid: "frames", encoding: "q32", rows: places },
  ]);
  const all = Array.from({ length: count }, (_, body) => body);
  return { bytes: packed.bytes, description: {
    ...emptyResult(),
    bodies: all.map((body) => ({ ...rod.bodies[0], name: `b${body}`, center_of_mass: [0, 0, 0] })),
    shapes: all.map((body) => ({ ...rod.shapes[0], body, size: [0.8, 0.8, 0.8], position: [0, 0, 0] })),
    thinning: { records: frames, frames, samples: frames }, blocks: packed.blocks,
  } };
}

/// A beam of one metre along x that swings up and down, clamped at the origin, with a bending moment for each element.
export function swingingBeam(elements: number, frames: number): { description: ResultDescription; bytes: Buffer } {
  const times = Array.from({ length: frames }, (_, i) => (2 * i) / (frames - 1));
  const nodes: number[][] = [], moments: number[][] = [], normals: number[][] = [];
  const zero = times.map(() => 0);
  for (let node = 0; node <= elements; ++node) {
    const s = node / elements;
    const slope = times.map((t) => 0.6 * s * Math.sin(Math.PI * t)); // of the axis, about -y
    const x = times.map((_, k) => s * (1 - slope[k] ** 2 / 6)), z = times.map((_, k) => (s * slope[k]) / 2);
    // third axis of the node frame along the beam: turn of z to x and of the slope
    const turn = slope.map((a) => Math.PI / 2 - a);
    nodes.push(x, zero, z, zero, turn.map((a) => Math.sin(a / 2)), zero, turn.map((a) => Math.cos(a / 2)));
  }
  for (let element = 0; element < elements; ++element) {
    moments.push(times.map((t) => 10 * (1 - (element + 0.5) / elements) * Math.sin(Math.PI * t)));
    normals.push(times.map((t) => Math.cos(Math.PI * t)));
  }
  const packed = pack([
    { name: "frame_times", grid: "frames", encoding: "f64", rows: [times] },
    { name: "sample_times", grid: "samples", encoding: "f64", rows: [times] },
    { name: "motion", grid: "frames", encoding: "q32", rows: [] },
    { name: "beam_nodes", grid: "frames", encoding: "q32", rows: nodes },
    { name: "beam_scalars", grid: "frames", encoding: "q16", rows: [...moments, ...normals] },
    { name: "totals", grid: "samples", encoding: "f32", rows: [times.map((t) => 1e-13 * t)] },
  ]);
  const description: ResultDescription = {
    ...emptyResult(),
    model: { name: "swinging beam", text: "# made up\n", gravity: [0, 0, -9.81] },
    beams: [{ name: "beam", node_start: 0, node_count: elements + 1, element_start: 0, element_count: elements,
              outline: [[-0.03, -0.015], [0.03, -0.015], [0.03, 0.015], [-0.03, 0.015]], section_axes: [0, 1] }],
    beam_scalars: [{ name: "bending moment", unit: "N m", meaning: "" }, { name: "normal force", unit: "N", meaning: "" }],
    thinning: { records: frames, frames, samples: frames },
    totals: [{ name: "derived/energy_error", unit: "1", meaning: "" }],
    blocks: packed.blocks,
  };
  return { description, bytes: packed.bytes };
}

/// Texts of the page's elements: the description, and one for each result.
export function packedTexts(results: { description: ResultDescription; bytes: Buffer }[]): { description: string; data: string[] } {
  const page: PageDescription = { format: PAGE_FORMAT, version: PAGE_VERSION, holonom_version: "test",
                                  results: results.map(({ description }) => description) };
  return { description: gzipSync(JSON.stringify(page)).toString("base64"),
           data: results.map(({ bytes }) => gzipSync(bytes).toString("base64")) };
}

/// A whole page from the template.
export function madeUpPage(template: string, results: { description: ResultDescription; bytes: Buffer }[]): string {
  const { description, data } = packedTexts(results);
  const element = (id: string, text: string): string => `<script type="text/plain" id="${id}">${text}</script>\n`;
  return template.replace("<!--holonom:data-->", () => element("holonom-description", description) +
                          data.map((text, i) => element(`holonom-data-${i}`, text)).join(""));
}
