// SPDX-License-Identifier: MIT
// What the page shows at the moment. Parts change it with `set` and are told with `on`.

export interface View {
  time: number; // s
  playing: boolean;
  speed: number; // seconds of the model per second of the clock
  loop: boolean;
  selected: Selection | undefined;
  follow: Selection | undefined;
  layout: "overlaid" | "side by side";
  hidden: ReadonlySet<number>; // results that are not shown
  joints: boolean;
  frames: boolean;
  forces: boolean;
  reactions: boolean;
  trails: "none" | "selected" | "all";
  grid: boolean;
  labels: boolean;
  beamScalar: number; // which scalar colours the beams; -1: none
}

export interface Selection {
  result: number;
  body: number;
}

export type Listener = (view: Readonly<View>, changed: ReadonlySet<keyof View>) => void;

export class State {
  private listeners: Listener[] = [];

  constructor(private view: View) {}

  get current(): Readonly<View> {
    return this.view;
  }

  on(listener: Listener): void {
    this.listeners.push(listener);
  }

  set(change: Partial<View>): void {
    const changed = new Set<keyof View>();
    for (const key of Object.keys(change) as (keyof View)[])
      if (this.view[key] !== change[key]) changed.add(key);
    if (changed.size === 0) return;
    this.view = { ...this.view, ...change };
    for (const listener of this.listeners) listener(this.view, changed);
  }
}

export const START_VIEW: View = {
  time: 0,
  playing: false,
  speed: 1,
  loop: true,
  selected: undefined,
  follow: undefined,
  layout: "overlaid",
  hidden: new Set(),
  joints: true,
  frames: false,
  forces: true,
  reactions: false,
  trails: "selected",
  grid: true,
  labels: false,
  beamScalar: 0,
};
