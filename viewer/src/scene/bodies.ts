// SPDX-License-Identifier: MIT
// The bodies of one result: instanced pieces that follow the poses, and outlines where there are few of them.
import {
  Color, EdgesGeometry, Group, InstancedMesh, LineBasicMaterial, LineSegments, Matrix4, MeshStandardMaterial, Raycaster,
} from "three";
import type { Result } from "../data/result";
import { bodyColour, SELECTED_COLOUR } from "./colours";
import { instances, placeInstance, tint } from "./instances";
import { bodyParts, roundness, type Part } from "./shapes";

const OUTLINED_PARTS_MAX = 120;
const EDGE_ANGLE = 35; // degrees between faces from which an edge is drawn

interface PartGroup {
  mesh: InstancedMesh;
  parts: Part[];
}

interface Outline {
  lines: LineSegments;
  part: Part;
}

export class Bodies {
  readonly group = new Group();
  private readonly groups: PartGroup[] = [];
  private readonly outlines: Outline[] = [];
  private readonly material: MeshStandardMaterial;
  private readonly colours: Color[];

  constructor(private readonly result: Result, resultCount: number, standInRadius: number) {
    const { bodies } = result.description;
    this.colours = bodies.map((_, i) => bodyColour(i, bodies.length, result.index, resultCount));
    this.material = new MeshStandardMaterial({ roughness: 0.55, metalness: 0.08 });
    const parts = bodyParts(result.description, standInRadius);
    for (const shared of groupParts(parts)) {
      const mesh = instances(shared[0].geometry(roundness(shared.length)), this.material, shared.length);
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      this.groups.push({ mesh, parts: shared });
      this.group.add(mesh);
    }
    if (parts.length <= OUTLINED_PARTS_MAX) this.addOutlines(parts);
    this.select(undefined);
  }

  /// Translucent, as the ghost of another result.
  setGhost(ghost: boolean): void {
    this.material.transparent = ghost;
    this.material.opacity = ghost ? 0.32 : 1;
    this.material.depthWrite = !ghost;
    this.material.needsUpdate = true;
    for (const { mesh } of this.groups) mesh.castShadow = !ghost;
  }

  select(body: number | undefined): void {
    for (const { mesh, parts } of this.groups)
      parts.forEach((part, i) => tint(mesh, i, part.body === body ? SELECTED_COLOUR : this.colours[part.body]));
  }

  update(): void {
    const { pose, rotation } = this.result.bodies;
    const { bodies } = this.result.description;
    for (const { mesh, parts } of this.groups) {
      for (let i = 0; i < parts.length; ++i) {
        const body = parts[i].body;
        const c = bodies[body].center_of_mass;
        const r = 9 * body, p = 7 * body;
        // origin of the body frame: the centre of mass less its place
        placeInstance(mesh, i, rotation, r,
                      pose[p] - (rotation[r] * c[0] + rotation[r + 1] * c[1] + rotation[r + 2] * c[2]),
                      pose[p + 1] - (rotation[r + 3] * c[0] + rotation[r + 4] * c[1] + rotation[r + 5] * c[2]),
                      pose[p + 2] - (rotation[r + 6] * c[0] + rotation[r + 7] * c[1] + rotation[r + 8] * c[2]),
                      parts[i].local.elements);
      }
      mesh.instanceMatrix.needsUpdate = true;
    }
    for (const { lines, part } of this.outlines) {
      bodyMatrix(this.result, part.body, lines.matrix).multiply(part.local);
      lines.matrixWorldNeedsUpdate = true;
    }
  }

  /// Nearest body under a ray, with its distance.
  pick(ray: Raycaster): { body: number; distance: number } | undefined {
    let nearest: { body: number; distance: number } | undefined;
    for (const { mesh, parts } of this.groups) {
      mesh.boundingSphere = null; // of the poses drawn last
      for (const hit of ray.intersectObject(mesh, false))
        if (hit.instanceId !== undefined && (nearest === undefined || hit.distance < nearest.distance))
          nearest = { body: parts[hit.instanceId].body, distance: hit.distance };
    }
    return nearest;
  }

  private addOutlines(parts: Part[]): void {
    const material = new LineBasicMaterial({ color: 0x1b2530, transparent: true, opacity: 0.45 });
    for (const part of parts) {
      if (part.key === "sphere") continue;
      const lines = new LineSegments(new EdgesGeometry(part.geometry(), EDGE_ANGLE), material);
      lines.matrixAutoUpdate = false;
      lines.frustumCulled = false;
      this.outlines.push({ lines, part });
      this.group.add(lines);
    }
  }
}

function groupParts(parts: Part[]): Part[][] {
  const byKey = new Map<string, Part[]>();
  for (const part of parts) {
    const shared = byKey.get(part.key);
    if (shared) shared.push(part);
    else byKey.set(part.key, [part]);
  }
  return [...byKey.values()];
}

/// Matrix from a body's frame to the world at the time last evaluated; the identity for the ground.
export function bodyMatrix(result: Result, body: number, out: Matrix4): Matrix4 {
  if (body < 0) return out.identity();
  const [x, y, z] = result.worldPoint(body, [0, 0, 0]);
  const m = result.bodies.rotation, r = 9 * body;
  return out.set(m[r], m[r + 1], m[r + 2], x, m[r + 3], m[r + 4], m[r + 5], y, m[r + 6], m[r + 7], m[r + 8], z,
                 0, 0, 0, 1);
}
