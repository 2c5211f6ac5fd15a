// SPDX-License-Identifier: MIT
// What the tool puts into a page: a description in JSON and, for each result, packed blocks of numbers. Both are
// compressed with gzip and written as base64, so that no text of a model is ever markup.
//
// Names are those of the result file (docs/manual/results.md). Places and directions on bodies are in the body frame,
// those on the ground in the world. Matrices are rotation matrices by rows.

export type Vector = [number, number, number];
export type Matrix = [number, number, number, number, number, number, number, number, number];

export const PAGE_FORMAT = "holonom page";
export const PAGE_VERSION = 1;

export interface PageDescription {
  format: string;
  version: number;
  holonom_version: string;
  results: ResultDescription[];
}

/// What the records are, and their time: a motion; equilibria under growing loads (the load factor); swings of modes, one
/// after the other (a unit of time each); prescribed motions, without and with the efforts they take.
export type ResultKind = "run" | "static" | "modes" | "kinematics" | "inverse";

export interface ResultDescription {
  label: string; // tells results of one page apart
  file: string; // empty: it was not kept
  complete: boolean; // false: the run goes on or was stopped
  model: { name: string; text: string; gravity: Vector };
  options: { kind: ResultKind; scheme: string; reduction: string; step_size: number };
  structure: Record<string, number>;
  statistics: Record<string, number>;
  bodies: BodyDescription[];
  shapes: ShapeDescription[];
  joints: JointDescription[];
  springs: SpringDescription[];
  loads: LoadDescription[];
  beams: BeamDescription[];
  beam_scalars: ScalarDescription[]; // what beams can be coloured by
  ledger: LedgerEntry[];
  scales: { energy: number; momentum: number }; // what the ledger divides errors by
  thinning: Thinning;
  reactions_from: number; // first frame that has reactions: at the start there are none yet
  totals: ScalarDescription[]; // rows of the block "totals": ledger, newton, and what is derived from them
  blocks: BlockDescription[];
}

export interface BodyDescription {
  name: string;
  kind: string;
  mass: number; // kg
  center_of_mass: Vector;
  inertia: Matrix; // kg m^2, about the centre of mass, body axes
}

export interface ShapeDescription {
  body: number;
  kind: string; // box, sphere, cylinder, hollow_cylinder, cone, pyramid, tetrahedron
  size: Vector;
  radius: number;
  inner_radius: number;
  height: number;
  corners: [Vector, Vector, Vector, Vector];
  position: Vector;
  orientation: Matrix;
}

export interface JointDescription {
  name: string;
  kind: string;
  body_a: number; // -1: ground
  body_b: number;
  placed: boolean; // false: the file does not say where the joint is
  point_a: Vector;
  point_b: Vector;
  frame_a: Matrix; // columns: joint frame; the third is the axis
  frame_b: Matrix;
  coordinates: ScalarDescription[];
}

export interface SpringDescription {
  name: string;
  body_a: number;
  body_b: number;
  point_a: Vector;
  point_b: Vector;
  stiffness: number; // N/m
  damping: number; // N s/m
  rest_length: number; // m
}

export interface LoadDescription {
  name: string;
  body: number;
  kind: string; // force, torque
  body_fixed: boolean;
  vector: Vector; // N or N m
  point: Vector;
  profile: ProfileDescription;
}

export interface ProfileDescription {
  kind: string; // constant, table, pulse
  times: number[]; // s; pulse: start, peak, end
  factors: number[];
}

/// A beam is a polyline of node frames and a section that is swept along it; elements lie between neighbouring nodes.
export interface BeamDescription {
  name: string;
  node_start: number; // first row group in the block "beam_nodes"
  node_count: number;
  element_start: number; // first element in the block "beam_scalars"
  element_count: number;
  outline: [number, number][]; // m, closed outline of the section along the second and third axis of the node frames
  // (or the first and second, see section_axes)
  section_axes: [number, number]; // which two axes of a node frame span the section: 0, 1 or 2
}

export interface ScalarDescription {
  name: string;
  unit: string;
  meaning: string;
}

export interface LedgerEntry {
  name: string;
  conserved: boolean; // promised for this model and scheme
  kept: boolean;
  error: number;
  drift: number;
  bound: number;
  unit: string;
  note: string;
}

export interface Thinning {
  records: number; // in the result file
  frames: number; // of the animation
  samples: number; // of a plotted series
}

/// Frames are records of the file. Samples are records, or, when there are fewer samples than records, the smallest and
/// the largest value of an interval in the order of their occurrence.
export type Grid = "frames" | "samples";

/// q16, q32: integers, as first differences along a row, value = offset + scale * integer; f32: value = offset + float.
/// The bytes of a block are stored plane by plane, all lowest bytes first. Before them stand, as 64-bit floats,
/// the offsets and the scales of all rows.
export type Encoding = "q16" | "q32" | "f32" | "f64";

export interface BlockDescription {
  name: string;
  grid: Grid;
  encoding: Encoding;
  rows: number;
  columns: number;
  at: number; // byte where the block begins, a multiple of 8
}
