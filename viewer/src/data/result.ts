// SPDX-License-Identifier: MIT
// One result of the page: its description, its motion, and its series by name.
import type { BlockDescription, PageDescription, ResultDescription, Vector } from "./format";
import { PAGE_FORMAT, PAGE_VERSION } from "./format";
import { placeAt, valueAt } from "./grid";
import { Motion } from "./motion";
import { column, multiply, rotate } from "./rotation";
import { bytesFromBase64, gunzip, Table, unpackBlock } from "./unpack";

/// One plotted quantity. `name` is that of the column in `holonom export`, or of the same form for derived ones.
export interface Series {
  name: string;
  unit: string;
  meaning: string;
  times: ArrayLike<number>;
  values: ArrayLike<number>;
}

const AXES = ["x", "y", "z"];

export class Result {
  readonly bodies: Motion;
  readonly nodes: Motion; // of beams: bodies, unless they have a block of their own
  readonly frameTimes: ArrayLike<number>;
  readonly sampleTimes: ArrayLike<number>;
  private readonly tables = new Map<string, { table: Table; grid: string }>();
  private readonly made = new Map<string, Series | undefined>();
  private readonly totalRows = new Map<string, number>();

  constructor(
    readonly index: number,
    readonly description: ResultDescription,
    buffer: ArrayBuffer,
  ) {
    for (const block of description.blocks) this.unpack(buffer, block);
    this.frameTimes = this.needed("frame_times").row(0);
    this.sampleTimes = this.table("sample_times")?.row(0) ?? this.frameTimes;
    this.bodies = new Motion(this.frameTimes, this.needed("motion"), this.table("velocities"));
    const nodes = this.table("beam_nodes");
    this.nodes = nodes === undefined ? this.bodies : new Motion(this.frameTimes, nodes, undefined);
    description.totals.forEach((total, row) => this.totalRows.set(total.name, row));
  }

  get start(): number {
    return this.frameTimes[0];
  }

  get end(): number {
    return this.frameTimes[this.frameTimes.length - 1];
  }

  table(name: string): Table | undefined {
    return this.tables.get(name)?.table;
  }

  evaluate(t: number): void {
    this.bodies.evaluate(t);
    if (this.nodes !== this.bodies) this.nodes.evaluate(t);
  }

  /// World place of a point given in a body's frame, at the time last evaluated.
  worldPoint(body: number, point: Vector): Vector {
    if (body < 0) return point;
    const c = this.description.bodies[body].center_of_mass;
    const moved = rotate(this.bodies.rotation.subarray(9 * body, 9 * body + 9),
                         [point[0] - c[0], point[1] - c[1], point[2] - c[2]]);
    const p = 7 * body;
    const pose = this.bodies.pose;
    return [moved[0] + pose[p], moved[1] + pose[p + 1], moved[2] + pose[p + 2]];
  }

  worldDirection(body: number, direction: Vector): Vector {
    return body < 0 ? direction : rotate(this.bodies.rotation.subarray(9 * body, 9 * body + 9), direction);
  }

  /// Numbers of a block's rows at a time, linear between its columns.
  rowsAt(block: string, first: number, count: number, t: number): number[] | undefined {
    const found = this.tables.get(block);
    if (found === undefined) return undefined;
    const place = placeAt(found.grid === "frames" ? this.frameTimes : this.sampleTimes, t);
    const values: number[] = [];
    for (let i = 0; i < count; ++i) values.push(valueAt(found.table.row(first + i), place));
    return values;
  }

  /// Names of all series, group by group; those of bodies and joints follow the model.
  *seriesNames(): Generator<string> {
    for (const total of this.description.totals) yield total.name;
    for (const joint of this.description.joints) {
      for (const c of joint.coordinates) yield `joints/${joint.name}/coordinates/${c.name}`;
      for (const c of joint.coordinates) yield `joints/${joint.name}/rates/${c.name}`;
      for (const what of ["reaction_force", "reaction_torque"])
        for (const axis of [...AXES, "size"]) yield `joints/${joint.name}/${what}/${axis}`;
    }
    for (const body of this.description.bodies)
      for (const what of ["position", "velocity", "angular_velocity", "linear_momentum", "angular_momentum"])
        for (const axis of AXES) yield `bodies/${body.name}/${what}/${axis}`;
  }

  /// A series by its name; undefined when there is none.
  series(name: string): Series | undefined {
    if (!this.made.has(name)) this.made.set(name, this.makeSeries(name));
    return this.made.get(name);
  }

  private unpack(buffer: ArrayBuffer, block: BlockDescription): void {
    this.tables.set(block.name, { table: unpackBlock(buffer, block), grid: block.grid });
  }

  private needed(name: string): Table {
    const table = this.table(name);
    if (table === undefined) throw new Error(`the page has no block '${name}'`);
    return table;
  }

  private gridOf(block: string): ArrayLike<number> {
    return this.tables.get(block)?.grid === "frames" ? this.frameTimes : this.sampleTimes;
  }

  private makeSeries(name: string): Series | undefined {
    const total = this.totalRows.get(name);
    if (total !== undefined) {
      const { unit, meaning } = this.description.totals[total];
      return { name, unit, meaning, times: this.sampleTimes, values: this.needed("totals").row(total) };
    }
    // names of bodies and joints may hold slashes: what is known stands at both ends
    const joint = /^joints\/([^]*)\/(coordinates|rates|reaction_force|reaction_torque)\/([^/]*)$/.exec(name);
    if (joint) return this.jointSeries(name, joint[1], joint[2], joint[3]);
    const body = /^bodies\/([^]*)\/(position|velocity|angular_velocity|linear_momentum|angular_momentum)\/([xyz])$/.exec(name);
    if (body) return this.bodySeries(name, body[1], body[2], AXES.indexOf(body[3]));
    return undefined;
  }

  private jointSeries(name: string, jointName: string, what: string, component: string): Series | undefined {
    const index = this.description.joints.findIndex((joint) => joint.name === jointName);
    if (index < 0) return undefined;
    if (what === "coordinates" || what === "rates") {
      let row = 0;
      for (let i = 0; i < index; ++i) row += this.description.joints[i].coordinates.length;
      const k = this.description.joints[index].coordinates.findIndex((c) => c.name === component);
      const table = this.table(what);
      if (k < 0 || table === undefined) return undefined;
      const unit = this.description.joints[index].coordinates[k].unit + (what === "rates" ? "/s" : "");
      return { name, unit, meaning: what === "rates" ? "rate of the coordinate" : "coordinate of the joint",
               times: this.gridOf(what), values: table.row(row + k) };
    }
    const block = this.tables.has("reaction_samples") ? "reaction_samples" : "reactions";
    const table = this.table(block);
    if (table === undefined) return undefined;
    const first = 6 * index + (what === "reaction_force" ? 0 : 3);
    const unit = what === "reaction_force" ? "N" : "N m";
    let times: ArrayLike<number> =
      (block === "reactions" ? this.table("reaction_times")?.row(0) : undefined) ?? this.gridOf(block);
    const from = block === "reactions" ? this.description.reactions_from : 0;
    const rows = [0, 1, 2].map((k) => table.row(first + k).subarray(from));
    times = from > 0 ? Array.from(times).slice(from) : times;
    const axis = AXES.indexOf(component);
    if (axis >= 0) return { name, unit, meaning: "on body b, world axes", times, values: rows[axis] };
    if (component !== "size") return undefined;
    const values = Float64Array.from(rows[0], (_, i) => Math.hypot(rows[0][i], rows[1][i], rows[2][i]));
    return { name, unit, meaning: "size, on body b", times, values };
  }

  private bodySeries(name: string, bodyName: string, what: string, axis: number): Series | undefined {
    const index = this.description.bodies.findIndex((body) => body.name === bodyName);
    const motion = this.needed("motion");
    const velocities = this.table("velocities");
    if (index < 0 || (what !== "position" && velocities === undefined)) return undefined;
    const make = (unit: string, meaning: string, values: ArrayLike<number>): Series =>
      ({ name, unit, meaning, times: this.frameTimes, values });
    switch (what) {
      case "position": return make("m", "centre of mass", motion.row(7 * index + axis));
      case "velocity": return make("m/s", "of the centre of mass", velocities!.row(6 * index + axis));
      case "angular_velocity": return make("rad/s", "world axes", velocities!.row(6 * index + 3 + axis));
      default: break;
    }
    const { mass } = this.description.bodies[index];
    if (what === "linear_momentum") {
      const v = velocities!.row(6 * index + axis);
      return make("kg m/s", "mass times velocity", Float64Array.from(v, (value) => mass * value));
    }
    const values = new Float64Array(this.frameTimes.length);
    for (let frame = 0; frame < values.length; ++frame) values[frame] = this.angularMomentum(index, frame)[axis];
    return make("kg m^2/s", "about the world origin", values);
  }

  /// Angular momentum of a body about the world origin in a frame.
  private angularMomentum(index: number, frame: number): Vector {
    const motion = this.needed("motion");
    const velocities = this.needed("velocities");
    const { mass, inertia } = this.description.bodies[index];
    const pose = new Float64Array(7);
    for (let k = 0; k < 7; ++k) pose[k] = motion.row(7 * index + k)[frame];
    const velocity = [0, 1, 2].map((k) => velocities.row(6 * index + k)[frame]);
    const omega = [3, 4, 5].map((k) => velocities.row(6 * index + k)[frame]);
    const [x, y, z, w] = pose.subarray(3);
    const r = [
      1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
      2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
      2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y),
    ];
    const transposed = [...column(r, 0), ...column(r, 1), ...column(r, 2)];
    const spin = rotate(multiply(multiply(r, inertia), transposed), omega);
    return [
      spin[0] + mass * (pose[1] * velocity[2] - pose[2] * velocity[1]),
      spin[1] + mass * (pose[2] * velocity[0] - pose[0] * velocity[2]),
      spin[2] + mass * (pose[0] * velocity[1] - pose[1] * velocity[0]),
    ];
  }
}

/// Read the results of a page from its packed texts: the description, and one for each result.
export async function readPage(description: string, packed: (index: number) => string): Promise<{ page: PageDescription; results: Result[] }> {
  const text = new TextDecoder().decode(await gunzip(bytesFromBase64(description.trim())));
  const page = JSON.parse(text) as PageDescription;
  if (page.format !== PAGE_FORMAT || page.version !== PAGE_VERSION)
    throw new Error(`it was written for another viewer (${page.format} ${page.version})`);
  const results = await Promise.all(page.results.map(async (result, index) =>
    new Result(index, result, await gunzip(bytesFromBase64(packed(index).trim())))));
  return { page, results };
}
