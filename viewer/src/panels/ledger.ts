// SPDX-License-Identifier: MIT
// The ledger of every result, what the model is made of, and what was left out of the page.
import type { LedgerEntry, ResultDescription } from "../data/format";
import type { Result } from "../data/result";
import { byId, make } from "../dom";
import { errorText, shortNumber, withUnit } from "../numbers";
import { seriesColour } from "../scene/colours";

function verdict(entry: LedgerEntry): { text: string; className: string } {
  if (!entry.conserved) return { text: "not promised", className: "open" };
  return entry.kept ? { text: "kept", className: "kept" } : { text: "NOT KEPT", className: "broken" };
}

function ledgerTable(description: ResultDescription): HTMLElement {
  const body = make("tbody");
  for (const entry of description.ledger) {
    const { text, className } = verdict(entry);
    body.append(make("tr", "", {},
      make("th", "", { scope: "row" }, entry.name.replaceAll("_", " ")),
      make("td", "number", {}, entry.conserved || entry.error > 0 ? withUnit(errorText(entry.error), entry.unit) : ""),
      make("td", "number", {}, entry.conserved && entry.bound > 0 ? errorText(entry.bound) : ""),
      make("td", `verdict ${className}`, {}, text),
      make("td", "remark", {}, entry.note)));
  }
  const head = make("thead", "", {}, make("tr", "", {}, ...["", "worst error", "bound", "promise", ""]
    .map((text) => make("th", "", { scope: "col" }, text))));
  return make("table", "ledger", {}, head, body);
}

/// "3 bodies", "1 body".
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/// What a model is made of, in one line.
export function structureLine(description: ResultDescription): string {
  const { bodies, joints, beams, structure } = description;
  const solid = bodies.filter((body) => body.kind !== "beam_node").length;
  const elements = beams.reduce((sum, beam) => sum + beam.element_count, 0);
  const parts = solid > 0 || beams.length === 0 ? [counted(solid, "body", "bodies")] : [];
  if (beams.length > 0) parts.push(`${counted(beams.length, "beam")} of ${counted(elements, "element")}`);
  parts.push(counted(joints.length, "joint"));
  if (structure.loop_count > 0) parts.push(counted(structure.loop_count, "loop"));
  if (structure.degrees_of_freedom !== undefined)
    parts.push(counted(structure.degrees_of_freedom, "degree of freedom", "degrees of freedom"));
  const redundant = structure.constraint_count - structure.constraint_rank;
  if (redundant > 0) parts.push(counted(redundant, "redundant constraint"));
  return parts.join(" · ");
}

export function runLine(description: ResultDescription): string {
  const { kind, scheme, reduction, step_size } = description.options;
  if (kind === "static") return "equilibria under growing loads; time is their factor";
  if (kind === "modes") return "modes one after the other; a unit of time each";
  if (kind === "kinematics") return `prescribed motion, every ${shortNumber(step_size)} s`;
  if (kind === "inverse") return `prescribed motion and the efforts it takes, every ${shortNumber(step_size)} s`;
  return `${[scheme, reduction].filter((text) => text !== "").join(", ")}, h = ${shortNumber(step_size)} s`;
}

/// Why there is no ledger.
function ledgerAbsence(description: ResultDescription): string {
  const kind = description.options.kind ?? "run";
  if (!description.complete) return "The run is not complete: the file has no ledger yet.";
  return kind === "run" ? "The run was made without a ledger."
    : "Nothing was stepped, so that there are no promises of a scheme: positions are solved one by one, to round-off.";
}

/// What was thinned, in a sentence; empty when the page has everything.
export function thinningNote(description: ResultDescription): string {
  const { records, frames, samples } = description.thinning;
  const notes: string[] = [];
  if (frames < records) notes.push(`${frames.toLocaleString("en")} frames of ${records.toLocaleString("en")} records are shown`);
  if (samples < records)
    notes.push(`plots have ${samples.toLocaleString("en")} points, the least and the greatest value of each interval`);
  return notes.length === 0 ? "" : `Thinned for this page: ${notes.join("; ")}. The result file has everything.`;
}

export function showLedger(results: Result[]): void {
  const panel = byId("ledger-body");
  for (const { description, index } of results) {
    const heading = make("h3", "", {}, results.length > 1 ? description.label : runLine(description));
    if (results.length > 1) heading.style.setProperty("--swatch", seriesColour(index));
    if (results.length > 1) heading.classList.add("swatched");
    panel.append(heading);
    if (description.ledger.length > 0) panel.append(ledgerTable(description));
    else panel.append(make("p", "note", {}, ledgerAbsence(description)));
    const facts: [string, string][] = [["model", structureLine(description)], ["run", runLine(description)]];
    const { statistics } = description;
    if (statistics.step_count > 0)
      facts.push(["steps", `${statistics.step_count.toLocaleString("en")}, ${shortNumber(statistics.iterations_total / statistics.step_count, 3)} Newton iterations each, at most ${statistics.iterations_max}`]);
    if (description.file !== "") facts.push(["file", description.file + (description.complete ? "" : " (not complete)")]);
    const note = thinningNote(description);
    if (note !== "") facts.push(["page", note]);
    panel.append(make("dl", "facts", {}, ...facts.flatMap(([name, text]) => [make("dt", "", {}, name), make("dd", "", {}, text)])));
  }
}
