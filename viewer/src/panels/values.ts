// SPDX-License-Identifier: MIT
// Values of the selected body and its joints at the time shown.
import type { Result } from "../data/result";
import { rotate } from "../data/rotation";
import { byId, make } from "../dom";
import { formatNumber, unitText, withUnit } from "../numbers";
import type { Selection, State } from "../state";

/// Rotation vector of a quaternion at `at`: axis times angle, at most half a turn.
export function rotationVector(q: ArrayLike<number>, at: number): number[] {
  const sign = q[at + 3] < 0 ? -1 : 1;
  const length = Math.hypot(q[at], q[at + 1], q[at + 2]);
  const angle = 2 * Math.atan2(length, sign * q[at + 3]);
  return [0, 1, 2].map((k) => (length > 0 ? (sign * angle * q[at + k]) / length : 0));
}

interface Row {
  name: string;
  values: number[];
  unit: string;
}

function rowsOf(result: Result, body: number, t: number): Row[] {
  const { pose, rotation } = result.bodies;
  const { mass, inertia, kind } = result.description.bodies[body];
  const position = [0, 1, 2].map((k) => pose[7 * body + k]);
  const rows: Row[] = [{ name: "position", values: position, unit: "m" }];
  if (kind === "rigid") rows.push({ name: "rotation vector", values: rotationVector(pose, 7 * body + 3), unit: "rad" });
  const velocities = result.rowsAt("velocities", 6 * body, 6, t);
  if (velocities === undefined) return rows;
  const v = velocities.slice(0, 3), omega = velocities.slice(3);
  rows.push({ name: "velocity", values: v, unit: "m/s" });
  const momentum = v.map((value) => mass * value);
  const r = rotation.subarray(9 * body, 9 * body + 9);
  const transposed = [r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]];
  const local = rotate(transposed, omega);
  const spin = rotate(r, rotate(inertia, local));
  if (kind === "rigid") rows.push({ name: "angular velocity", values: omega, unit: "rad/s" });
  rows.push({ name: "linear momentum", values: momentum, unit: "kg m/s" });
  rows.push({ name: "angular momentum", unit: "kg m^2/s", values: [
    spin[0] + position[1] * momentum[2] - position[2] * momentum[1],
    spin[1] + position[2] * momentum[0] - position[0] * momentum[2],
    spin[2] + position[0] * momentum[1] - position[1] * momentum[0],
  ] });
  const kinetic = 0.5 * (mass * v.reduce((sum, value) => sum + value * value, 0) +
                         spin.reduce((sum, value, k) => sum + value * omega[k], 0));
  rows.push({ name: "kinetic energy", values: [kinetic], unit: "J" });
  return rows;
}

function jointRows(result: Result, body: number, t: number): { title: string; rows: Row[] }[] {
  const { joints, bodies } = result.description;
  const found: { title: string; rows: Row[] }[] = [];
  let start = 0;
  joints.forEach((joint, i) => {
    const first = start;
    start += joint.coordinates.length;
    if (joint.body_a !== body && joint.body_b !== body) return;
    const other = joint.body_a === body ? joint.body_b : joint.body_a;
    const rows: Row[] = joint.coordinates.map((c, k) => ({
      name: c.name.replaceAll("_", " "), unit: c.unit, values: result.rowsAt("coordinates", first + k, 1, t) ?? [],
    }));
    const reaction = result.rowsAt("reactions", 6 * i, 6, t);
    if (reaction !== undefined) {
      const on = joint.body_b === body ? 1 : -1; // the file has the reaction on body b
      rows.push({ name: "force on this body", values: reaction.slice(0, 3).map((x) => on * x), unit: "N" });
      rows.push({ name: "torque on this body", values: reaction.slice(3).map((x) => on * x), unit: "N m" });
    }
    found.push({ title: `${joint.name} · ${joint.kind} to ${other < 0 ? "ground" : bodies[other].name}`, rows });
  });
  return found;
}

export class Values {
  private readonly panel = byId("values-body");
  private readonly choice = byId<HTMLSelectElement>("body-choice");
  private cells: HTMLElement[] = [];
  private shown: Selection | undefined;

  constructor(private readonly results: Result[], private readonly state: State) {
    this.choice.append(new Option("none", ""));
    for (const result of results) {
      const options = result.description.bodies.map((body, i) => new Option(body.name, `${result.index}/${i}`));
      if (results.length === 1) this.choice.append(...options);
      else {
        const group = make("optgroup", "", { label: result.description.label });
        group.append(...options);
        this.choice.append(group);
      }
    }
    this.choice.addEventListener("change", () => {
      const [result, body] = this.choice.value.split("/").map(Number);
      state.set({ selected: this.choice.value === "" ? undefined : { result, body } });
    });
    byId("follow").addEventListener("click", () => {
      const { follow, selected } = state.current;
      state.set({ follow: follow === undefined ? selected : undefined });
    });
    state.on((view, changed) => {
      if (changed.has("selected")) this.choose();
      if (changed.has("selected") || changed.has("follow")) {
        byId("follow").setAttribute("aria-pressed", String(view.follow !== undefined));
        byId<HTMLButtonElement>("follow").disabled = view.selected === undefined && view.follow === undefined;
      }
    });
    this.choose();
  }

  /// Next or previous body of the model.
  selectNeighbour(by: number): void {
    const { selected } = this.state.current;
    const result = selected?.result ?? 0;
    const count = this.results[result].description.bodies.length;
    const body = selected === undefined ? (by > 0 ? 0 : count - 1) : (selected.body + by + count) % count;
    this.state.set({ selected: { result, body } });
  }

  /// Numbers at the time shown; the poses have been evaluated.
  update(): void {
    const { shown } = this;
    if (shown === undefined) return;
    const { time } = this.state.current;
    const result = this.results[shown.result];
    const all = [...rowsOf(result, shown.body, time), ...jointRows(result, shown.body, time).flatMap(({ rows }) => rows)];
    const numbers = all.flatMap((row) => row.values);
    numbers.forEach((value, i) => {
      const text = formatNumber(value);
      if (this.cells[i] !== undefined && this.cells[i].textContent !== text) this.cells[i].textContent = text;
    });
  }

  private choose(): void {
    const { selected, time } = this.state.current;
    this.shown = selected;
    this.cells = [];
    this.choice.value = selected === undefined ? "" : `${selected.result}/${selected.body}`;
    byId("selected-name").textContent =
      selected === undefined ? "" : this.results[selected.result].description.bodies[selected.body].name;
    if (selected === undefined) {
      this.panel.replaceChildren(make("p", "note", {}, "Click a body in the picture, or choose one above. Double click follows it."));
      return;
    }
    const result = this.results[selected.result];
    const body = result.description.bodies[selected.body];
    const facts = `${body.kind.replaceAll("_", " ")}, ${withUnit(formatNumber(body.mass), "kg")}` +
                  (this.results.length > 1 ? ` · ${result.description.label}` : "");
    const blocks: HTMLElement[] = [make("p", "facts", {}, facts), this.table(rowsOf(result, selected.body, time))];
    for (const { title, rows } of jointRows(result, selected.body, time))
      blocks.push(make("h3", "", {}, title), this.table(rows));
    this.panel.replaceChildren(...blocks);
    this.update();
  }

  private table(rows: Row[]): HTMLElement {
    const body = make("tbody");
    for (const row of rows) {
      const line = make("tr", "", {}, make("th", "", { scope: "row" }, row.name));
      for (let k = 0; k < 3; ++k) {
        const cell = make("td");
        if (k < row.values.length) this.cells.push(cell);
        line.append(cell);
      }
      line.append(make("td", "unit", {}, unitText(row.unit)));
      body.append(line);
    }
    const head = make("thead", "", {}, make("tr", "", {}, make("th"), make("th", "", { scope: "col" }, "x"),
                      make("th", "", { scope: "col" }, "y"), make("th", "", { scope: "col" }, "z"), make("th")));
    return make("table", "values", {}, head, body);
  }
}
