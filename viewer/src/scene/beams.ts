// SPDX-License-Identifier: MIT
// Beams: sections swept along the frames of their nodes, coloured by a number of each element.
import {
  BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Group, Mesh, MeshStandardMaterial, ShapeUtils,
  Vector2,
} from "three";
import type { BeamDescription } from "../data/format";
import type { Result } from "../data/result";
import { scaleColour } from "./colours";

interface Sweep {
  beam: BeamDescription;
  mesh: Mesh<BufferGeometry, MeshStandardMaterial>;
  places: BufferAttribute;
  colours: BufferAttribute;
}

/// Least and greatest value of a scalar over all elements and times.
export function scalarRange(result: Result, scalar: number): [number, number] {
  const table = result.table("beam_scalars");
  const elements = elementCount(result);
  if (table === undefined || scalar < 0) return [0, 1];
  let low = Infinity, high = -Infinity;
  for (let row = scalar * elements; row < (scalar + 1) * elements; ++row)
    for (const value of table.row(row)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (!(low <= high)) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

function elementCount(result: Result): number {
  return result.description.beams.reduce((sum, beam) => Math.max(sum, beam.element_start + beam.element_count), 0);
}

/// Two rings of points for each element (so that each element has its own colour), and a cap at both ends.
function sweepGeometry(beam: BeamDescription): BufferGeometry {
  const n = beam.outline.length;
  const rings = 2 * beam.element_count;
  const faces: number[] = [];
  for (let element = 0; element < beam.element_count; ++element) {
    const a = 2 * element * n, b = a + n;
    for (let i = 0; i < n; ++i) {
      const j = (i + 1) % n;
      faces.push(a + i, a + j, b + j, a + i, b + j, b + i);
    }
  }
  const cap = ShapeUtils.triangulateShape(beam.outline.map(([x, y]) => new Vector2(x, y)), []);
  for (const [i, j, k] of cap) {
    faces.push(i, k, j);
    faces.push((rings - 1) * n + i, (rings - 1) * n + j, (rings - 1) * n + k);
  }
  const geometry = new BufferGeometry();
  geometry.setIndex(faces);
  for (const name of ["position", "color"])
    geometry.setAttribute(name, new BufferAttribute(new Float32Array(3 * rings * n), 3).setUsage(DynamicDrawUsage));
  return geometry;
}

export class Beams {
  readonly group = new Group();
  private readonly sweeps: Sweep[] = [];
  private readonly ranges: [number, number][];
  private readonly elements: number;
  private readonly colour = new Color();

  constructor(private readonly result: Result, private readonly plain: Color) {
    this.ranges = result.description.beam_scalars.map((_, i) => scalarRange(result, i));
    this.elements = elementCount(result);
    for (const beam of result.description.beams) {
      if (beam.node_count < 2 || beam.outline.length < 3) continue;
      const geometry = sweepGeometry(beam);
      const material = new MeshStandardMaterial({ vertexColors: true, roughness: 0.6, flatShading: true, side: DoubleSide });
      const mesh = new Mesh(geometry, material);
      mesh.frustumCulled = false;
      mesh.castShadow = true;
      this.sweeps.push({ beam, mesh, places: geometry.getAttribute("position") as BufferAttribute,
                         colours: geometry.getAttribute("color") as BufferAttribute });
      this.group.add(mesh);
    }
  }

  setGhost(ghost: boolean): void {
    for (const { mesh } of this.sweeps) {
      mesh.material.transparent = ghost;
      mesh.material.opacity = ghost ? 0.35 : 1;
      mesh.material.needsUpdate = true;
    }
  }

  update(t: number, scalar: number): void {
    for (const sweep of this.sweeps) {
      this.placeRings(sweep);
      this.colourRings(sweep, t, scalar);
    }
  }

  private placeRings({ beam, places }: Sweep): void {
    const { pose, rotation } = this.result.nodes;
    const out = places.array as Float32Array;
    const n = beam.outline.length;
    const [u, v] = beam.section_axes;
    for (let element = 0; element < beam.element_count; ++element)
      for (let side = 0; side < 2; ++side) {
        const node = beam.node_start + element + side;
        const p = 7 * node, r = 9 * node;
        for (let i = 0, o = 3 * n * (2 * element + side); i < n; ++i, o += 3) {
          const [x, y] = beam.outline[i];
          out[o] = pose[p] + rotation[r + u] * x + rotation[r + v] * y;
          out[o + 1] = pose[p + 1] + rotation[r + 3 + u] * x + rotation[r + 3 + v] * y;
          out[o + 2] = pose[p + 2] + rotation[r + 6 + u] * x + rotation[r + 6 + v] * y;
        }
      }
    places.needsUpdate = true;
  }

  private colourRings({ beam, colours }: Sweep, t: number, scalar: number): void {
    const out = colours.array as Float32Array;
    const length = 6 * beam.outline.length; // numbers of both rings of an element
    const first = scalar * this.elements + beam.element_start;
    const values = scalar < 0 ? undefined : this.result.rowsAt("beam_scalars", first, beam.element_count, t);
    const [low, high] = this.ranges[scalar] ?? [0, 1];
    for (let element = 0; element < beam.element_count; ++element) {
      const colour = values === undefined ? this.plain : scaleColour((values[element] - low) / (high - low), this.colour);
      for (let o = element * length; o < (element + 1) * length; o += 3) colour.toArray(out, o);
    }
    colours.needsUpdate = true;
  }
}
