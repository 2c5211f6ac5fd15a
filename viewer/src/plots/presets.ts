// SPDX-License-Identifier: MIT
// The plots people ask for first, and readable names of series.
import type { ResultKind } from "../data/format";
import type { Result } from "../data/result";

export interface Preset {
  title: string;
  log: boolean;
  kinds?: ResultKind[]; // of results that it means something for; left out: all
  names: (result: Result) => string[];
}

const FIRST_JOINTS = 6; // a plot of all joints of a long chain shows nothing

function has(result: Result, ...names: string[]): string[] {
  return names.filter((name) => result.series(name) !== undefined);
}

/// Not zero throughout.
function lively(result: Result, names: string[]): string[] {
  return names.filter((name) => {
    const values = result.series(name)?.values;
    for (let i = 0; values !== undefined && i < values.length; ++i) if (values[i] !== 0) return true;
    return false;
  });
}

function ofJoints(result: Result, what: string, components?: string[]): string[] {
  return result.description.joints.slice(0, FIRST_JOINTS)
    .flatMap((joint) => (components ?? joint.coordinates.map((c) => c.name))
      .map((component) => `joints/${joint.name}/${what}/${component}`))
    .filter((name) => result.series(name) !== undefined).slice(0, 8);
}

const OUTPUTS_SHOWN = 8;

export const PRESETS: Preset[] = [
  { title: "Outputs", log: false, names: (r) =>
    r.description.totals.map((total) => total.name).filter((name) => name.startsWith("outputs/")).slice(0, OUTPUTS_SHOWN) },
  { title: "Energy", log: false, names: (r) => {
    const work = lively(r, ["ledger/external_work"]);
    return [...has(r, "ledger/kinetic", "ledger/potential", "ledger/energy"), ...work];
  } },
  { title: "Energy error, relative", log: true, kinds: ["run"], names: (r) => has(r, "derived/energy_error") },
  { title: "Constraint residuals", log: true, kinds: ["run", "static"], names: (r) =>
    lively(r, has(r, "ledger/constraint_residual", "ledger/hidden_velocity", "ledger/hidden_momentum", "ledger/joint_opening")) },
  { title: "Joint coordinates", log: false, names: (r) => ofJoints(r, "coordinates") },
  { title: "Joint rates", log: false, names: (r) => ofJoints(r, "rates") },
  { title: "Reaction forces", log: false, names: (r) => ofJoints(r, "reaction_force", ["size"]) },
  { title: "Reaction torques", log: false, names: (r) => ofJoints(r, "reaction_torque", ["size"]) },
  { title: "Linear momentum", log: false, names: (r) =>
    has(r, "ledger/linear_momentum/x", "ledger/linear_momentum/y", "ledger/linear_momentum/z") },
  { title: "Angular momentum", log: false, names: (r) =>
    has(r, "ledger/angular_momentum/x", "ledger/angular_momentum/y", "ledger/angular_momentum/z") },
  { title: "Step size", log: false, kinds: ["run"], names: (r) =>
    [...has(r, "derived/step_size"), ...lively(r, has(r, "newton/step_size"))] },
  { title: "Newton iterations", log: false, kinds: ["run"], names: (r) => has(r, "newton/iterations") },
];

/// Plots shown when the page opens.
const FIRST = ["Outputs", "Energy", "Energy error, relative", "Constraint residuals", "Joint coordinates"];
const FIRST_OF_POSITIONS = ["Outputs", "Joint coordinates", "Reaction forces"];

export function presetNames(preset: Preset, result: Result): string[] {
  const kind = result.description.options.kind ?? "run";
  return preset.kinds === undefined || preset.kinds.includes(kind) ? preset.names(result) : [];
}

/// Titles of the presets that a page of this kind of result opens with.
export function firstPresets(result: Result): string[] {
  return (result.description.options.kind ?? "run") === "run" ? FIRST : FIRST_OF_POSITIONS;
}

const WORDS: Record<string, string> = {
  "ledger/kinetic": "kinetic", "ledger/potential": "potential", "ledger/energy": "kinetic + potential",
  "ledger/external_work": "work of loads", "derived/energy_error": "energy error / scale",
  "ledger/constraint_residual": "position level, |g|", "ledger/hidden_velocity": "velocity level, |G Δq/h|",
  "ledger/hidden_momentum": "momentum level, |G M⁻¹ p|", "ledger/joint_opening": "joint opening",
  "derived/step_size": "step size", "newton/step_size": "internal step size", "newton/iterations": "iterations of the last step",
};

/// Short name for legends.
export function readableName(name: string): string {
  if (WORDS[name] !== undefined) return WORDS[name];
  // joints/r1/coordinates/angle: r1 angle; joints/r1/reaction_force/size: r1 reaction force; ledger/linear_momentum/x
  return name.replace(/^(ledger|newton|joints|bodies|derived|outputs)\//, "").replace(/\/coordinates\/([^/]*)$/, "/$1")
    .replace(/\/rates\/([^/]*)$/, "/$1 rate").replace(/\/size$/, "").replaceAll("/", " ").replaceAll("_", " ");
}
