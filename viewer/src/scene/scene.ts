// SPDX-License-Identifier: MIT
// The 3D picture: results overlaid or side by side, drawn when something has changed.
import {
  Color, DirectionalLight, Group, HemisphereLight, Raycaster, Scene as ThreeScene, Vector2, Vector3, WebGLRenderer,
} from "three";
import type { Result } from "../data/result";
import type { Selection, State, View } from "../state";
import { Beams } from "./beams";
import { Bodies } from "./bodies";
import { Camera } from "./camera";
import { bodyColour, seriesColour } from "./colours";
import { measure, type Extent } from "./extent";
import { Loads, Reactions } from "./forces";
import { Frames } from "./frames";
import { Ground } from "./ground";
import { Joints } from "./joints";
import { Labels } from "./labels";
import { Springs } from "./springs";
import { Trails } from "./trails";

const PIXEL_RATIO_MAX = 2;
const TRAILS_MAX = 200;
const SHADOWS_MAX = 200; // bodies; of more, shadows tell nothing and cost the most

/// A part of the picture, in px from its upper left corner.
interface Cell {
  left: number;
  top: number;
  width: number;
  height: number;
  actors: Actor[];
}

/// What is drawn of one result.
interface Actor {
  result: Result;
  group: Group;
  bodies: Bodies;
  joints: Joints;
  springs: Springs;
  loads: Loads;
  reactions: Reactions;
  frames: Frames;
  trails: Trails;
  beams: Beams;
  labels: Labels;
}

export class Scene {
  readonly camera: Camera;
  readonly extent: Extent;
  readonly ground: Ground;
  private readonly three = new ThreeScene();
  private readonly renderer: WebGLRenderer;
  private readonly actors: Actor[];
  private readonly ray = new Raycaster();
  private readonly cellNames = document.createElement("div");
  private width = 1;
  private height = 1;
  private dirty = true;
  quietTrail: number | undefined; // body whose path is shown while none is selected

  constructor(private readonly element: HTMLElement, private readonly results: Result[], private readonly state: State) {
    this.extent = measure(results);
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: false });
    this.renderer.setPixelRatio(Math.min(PIXEL_RATIO_MAX, window.devicePixelRatio));
    const bodies = results.reduce((sum, result) => sum + result.description.bodies.length, 0);
    this.renderer.shadowMap.enabled = bodies <= SHADOWS_MAX;
    this.renderer.autoClear = false;
    const canvas = this.renderer.domElement;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "3D picture of the model; drag to turn, wheel to zoom, arrow keys step");
    element.prepend(canvas);
    this.cellNames.className = "cell-names";
    element.append(this.cellNames);
    this.camera = new Camera(canvas, this.extent, () => this.invalidate());
    this.ground = new Ground(this.extent);
    this.three.add(this.ground.group);
    this.addLights();
    this.actors = results.map((result) => this.makeActor(result));
    this.applyLayout(state.current);
    state.on((view, changed) => this.changed(view, changed));
    new ResizeObserver(() => this.resize()).observe(element);
    this.resize();
    this.camera.take("fit");
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  invalidate(): void {
    this.dirty = true;
  }

  /// Draw if something has changed; returns whether it did.
  draw(): boolean {
    if (!this.dirty) return false;
    this.dirty = false;
    const view = this.state.current;
    for (const actor of this.actors) if (!view.hidden.has(actor.result.index)) this.updateActor(actor, view);
    this.follow(view);
    this.render(view);
    return true;
  }

  /// Body under a place of the picture, in pixels of the element.
  pick(x: number, y: number): Selection | undefined {
    const view = this.state.current;
    const cells = this.cells(view);
    const cell = cells.find(({ left, top, width, height }) => x >= left && x < left + width && y >= top && y < top + height);
    if (cell === undefined) return undefined;
    const point = new Vector2((2 * (x - cell.left)) / cell.width - 1, 1 - (2 * (y - cell.top)) / cell.height);
    this.ray.setFromCamera(point, this.camera.camera);
    let nearest: (Selection & { distance: number }) | undefined;
    for (const actor of cell.actors) {
      const hit = actor.bodies.pick(this.ray);
      if (hit !== undefined && (nearest === undefined || hit.distance < nearest.distance))
        nearest = { result: actor.result.index, body: hit.body, distance: hit.distance };
    }
    return nearest === undefined ? undefined : { result: nearest.result, body: nearest.body };
  }

  /// Place of a body in the picture, in pixels of the element.
  screenPlace(selection: Selection): { x: number; y: number } {
    const actor = this.actors[selection.result];
    const cell = this.cells(this.state.current).find(({ actors }) => actors.includes(actor));
    const point = new Vector3(...actor.result.bodies.position(selection.body)).project(this.camera.camera);
    const { left, top, width, height } = cell ?? { left: 0, top: 0, width: this.width, height: this.height };
    return { x: left + (0.5 + 0.5 * point.x) * width, y: top + (0.5 - 0.5 * point.y) * height };
  }

  /// The picture as it is now, on the page's background.
  async picture(background: string): Promise<Blob> {
    this.dirty = true;
    this.draw(); // the buffer is valid until the browser shows it
    const copy = document.createElement("canvas");
    copy.width = this.canvas.width;
    copy.height = this.canvas.height;
    const context = copy.getContext("2d")!;
    context.fillStyle = background;
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(this.canvas, 0, 0);
    return new Promise((resolve, reject) =>
      copy.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser made no picture"))), "image/png"));
  }

  private changed(view: Readonly<View>, changed: ReadonlySet<keyof View>): void {
    if (changed.has("selected"))
      for (const actor of this.actors)
        actor.bodies.select(view.selected?.result === actor.result.index ? view.selected.body : undefined);
    if (changed.has("layout") || changed.has("hidden")) this.applyLayout(view);
    if (changed.has("layout") || changed.has("hidden")) this.resize();
    if (changed.has("layout")) this.camera.take("fit");
    if (changed.has("follow") && view.follow === undefined) this.camera.follow(undefined);
    this.invalidate();
  }

  private makeActor(result: Result): Actor {
    const { symbol, stroke, size, up } = this.extent;
    const bodyCount = result.description.bodies.length;
    const colour = (body: number): Color => bodyColour(body, bodyCount, result.index, this.results.length);
    const actor: Actor = {
      result,
      group: new Group(),
      bodies: new Bodies(result, this.results.length, 2.2 * symbol),
      joints: new Joints(result, symbol, up),
      springs: new Springs(result, symbol),
      loads: new Loads(result, size, stroke),
      reactions: new Reactions(result, size, stroke),
      frames: new Frames(result, Math.max(4 * symbol, 0.02 * size)),
      trails: new Trails(result, colour),
      beams: new Beams(result, new Color(seriesColour(result.index))),
      labels: new Labels(this.element.querySelector(".labels")!, result),
    };
    actor.group.add(actor.bodies.group, actor.joints.group, actor.springs.group, actor.loads.group,
                    actor.reactions.group, actor.frames.lines, actor.trails.group, actor.beams.group);
    this.three.add(actor.group);
    return actor;
  }

  private updateActor(actor: Actor, view: Readonly<View>): void {
    const { result } = actor;
    result.evaluate(view.time);
    actor.bodies.update();
    actor.joints.group.visible = view.joints;
    if (view.joints) actor.joints.update();
    actor.springs.update();
    actor.loads.group.visible = view.forces;
    if (view.forces) actor.loads.update(view.time);
    actor.reactions.group.visible = view.reactions;
    if (view.reactions) actor.reactions.update(view.time);
    actor.frames.lines.visible = view.frames;
    if (view.frames) actor.frames.update();
    actor.trails.update(this.trailBodies(result, view), view.time);
    actor.beams.update(view.time, view.beamScalar);
    this.ground.showGrid(view.grid);
  }

  private trailBodies(result: Result, view: Readonly<View>): number[] {
    if (view.trails === "none") return [];
    const count = result.description.bodies.length;
    if (view.trails === "all") return Array.from({ length: Math.min(count, TRAILS_MAX) }, (_, i) => i);
    // of the body with the same place in every result, so that results can be compared
    const body = view.selected?.body ?? this.quietTrail;
    return body !== undefined && body < count ? [body] : [];
  }

  private applyLayout(view: Readonly<View>): void {
    const overlaid = view.layout === "overlaid";
    const shown = this.actors.filter((actor) => !view.hidden.has(actor.result.index));
    for (const actor of this.actors) {
      actor.group.visible = shown.includes(actor);
      const ghost = overlaid && shown.length > 1 && actor !== shown[0];
      actor.bodies.setGhost(ghost);
      actor.beams.setGhost(ghost);
    }
  }

  private follow(view: Readonly<View>): void {
    if (view.follow === undefined) return;
    const { result, body } = view.follow;
    this.camera.follow(new Vector3(...this.results[result].bodies.position(body)));
  }

  /// Parts of the picture: one, or one for each result in rows and columns.
  private cells(view: Readonly<View>): Cell[] {
    const shown = this.actors.filter((actor) => !view.hidden.has(actor.result.index));
    if (view.layout === "overlaid" || shown.length < 2)
      return [{ left: 0, top: 0, width: this.width, height: this.height, actors: shown }];
    const columns = Math.min(shown.length, Math.ceil(Math.sqrt((shown.length * this.width) / this.height)));
    const width = this.width / columns, height = this.height / Math.ceil(shown.length / columns);
    return shown.map((actor, i) => ({ left: (i % columns) * width, top: Math.floor(i / columns) * height, width, height,
                                      actors: [actor] }));
  }

  /// Names in the corners of the parts, when there are several.
  private nameCells(view: Readonly<View>): void {
    const cells = this.cells(view);
    this.cellNames.replaceChildren(...(cells.length < 2 ? [] : cells.map(({ left, top, height, actors }) => {
      const name = document.createElement("span");
      name.textContent = actors[0].result.description.label;
      name.style.transform = `translate(${left + 10}px, ${top + height - 46}px)`;
      name.style.color = seriesColour(actors[0].result.index);
      return name;
    })));
  }

  private render(view: Readonly<View>): void {
    const cells = this.cells(view);
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.renderer.setScissorTest(cells.length > 1);
    for (const { left, top, width, height, actors } of cells) {
      for (const actor of this.actors) actor.group.visible = actors.includes(actor);
      this.camera.setAspect(width / height);
      this.renderer.setViewport(left, this.height - top - height, width, height);
      this.renderer.setScissor(left, this.height - top - height, width, height);
      this.renderer.render(this.three, this.camera.camera);
    }
    for (const actor of this.actors)
      actor.labels.update(view.labels && cells.length === 1 && !view.hidden.has(actor.result.index), this.camera.camera,
                          this.width, this.height);
  }

  private addLights(): void {
    const { size, up, box } = this.extent;
    const center = box.getCenter(new Vector3());
    const sky = new HemisphereLight(0xffffff, 0x9aa3ad, 2.1);
    sky.position.copy(up);
    const sun = new DirectionalLight(0xffffff, 2.0);
    const side = new Vector3(0.5, -0.8, 0.35).cross(up).normalize();
    sun.position.copy(center).addScaledVector(up, size).addScaledVector(side, 0.5 * size);
    sun.target.position.copy(center);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    Object.assign(sun.shadow.camera, { left: -0.7 * size, right: 0.7 * size, top: 0.7 * size, bottom: -0.7 * size,
                                       near: 0.01 * size, far: 3 * size });
    sun.shadow.bias = -0.001;
    sun.shadow.normalBias = 0.002 * size;
    this.three.add(sky, sun, sun.target);
  }

  private resize(): void {
    this.width = Math.max(1, this.element.clientWidth);
    this.height = Math.max(1, this.element.clientHeight);
    this.renderer.setSize(this.width, this.height);
    const [first] = this.cells(this.state.current);
    this.camera.setAspect(first.width / first.height);
    this.nameCells(this.state.current);
    this.invalidate();
  }
}
