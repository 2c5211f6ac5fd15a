// SPDX-License-Identifier: MIT
// One plot: lines over time by uPlot, a marker at the time shown, a legend with the values there.
import uPlot from "uplot";
import { nearestIndex } from "../data/grid";
import type { Result } from "../data/result";
import { make } from "../dom";
import { formatNumber, shortNumber, tickLabels, unitText } from "../numbers";
import { seriesColour } from "../scene/colours";
import { unitsOf, valueRange, type Figure, type Line } from "./figure";
import { readableName } from "./presets";
import { logTicks } from "./ticks";

const HEIGHT = 190; // px
const CLICK_RANGE = 4; // px a pointer may move during a click
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];

export interface PlotHost {
  results: Result[];
  shown: () => Result[];
  range: () => [number, number];
  setRange: (range: [number, number] | undefined) => void;
  setTime: (t: number) => void;
  time: () => number;
}

export class Plot {
  readonly element: HTMLElement;
  readonly body: HTMLElement;
  private readonly legend: HTMLElement;
  private readonly marker = make("div", "time-marker");
  private chart: uPlot | undefined;
  private lines: Line[] = [];
  private legendValues: HTMLElement[] = [];

  constructor(private readonly host: PlotHost, readonly title: string, private names: string[], private log: boolean) {
    this.body = make("div", "plot-body");
    this.legend = make("ul", "plot-legend");
    this.element = make("section", "plot");
  }

  get seriesNames(): readonly string[] {
    return this.names;
  }

  get isLog(): boolean {
    return this.log;
  }

  get drawnLines(): readonly Line[] {
    return this.lines;
  }

  get legendElement(): HTMLElement {
    return this.legend;
  }

  setLog(log: boolean): void {
    this.log = log;
    this.rebuild();
  }

  toggleSeries(name: string): void {
    this.names = this.names.includes(name) ? this.names.filter((known) => known !== name) : [...this.names, name];
    this.rebuild();
  }

  figure(): Figure {
    return { title: this.title, range: this.host.range(), log: this.log, lines: this.lines };
  }

  /// Make the chart anew: other series, other size or other colours.
  rebuild(): void {
    this.lines = this.makeLines();
    this.chart?.destroy();
    this.chart = undefined;
    this.fillLegend();
    const width = this.body.clientWidth;
    if (width < 40) return; // not laid out yet
    this.chart = new uPlot(this.options(width), this.data(), this.body);
    this.chart.over.append(this.marker);
    this.bindClicks(this.chart.over);
    this.showTime();
  }

  resize(): void {
    if (this.chart === undefined) this.rebuild();
    else if (this.chart.width !== this.body.clientWidth && this.body.clientWidth >= 40)
      this.chart.setSize({ width: this.body.clientWidth, height: HEIGHT });
    this.showTime();
  }

  showRange(): void {
    const [min, max] = this.host.range();
    this.chart?.setScale("x", { min, max });
    this.showTime();
  }

  /// Move the marker; cheap, as it runs in every frame.
  showTime(): void {
    if (this.chart === undefined) return;
    const at = this.chart.valToPos(this.host.time(), "x");
    const inside = at >= 0 && at <= this.chart.over.clientWidth;
    this.marker.style.visibility = inside ? "visible" : "hidden";
    if (inside) this.marker.style.transform = `translateX(${at}px)`;
  }

  /// Values at the time shown.
  showValues(): void {
    const t = this.host.time();
    this.lines.forEach((line, i) => {
      const text = formatNumber(line.values[nearestIndex(line.times, t)]);
      if (this.legendValues[i].textContent !== text) this.legendValues[i].textContent = text;
    });
  }

  private makeLines(): Line[] {
    const lines: Line[] = [];
    const shown = this.host.shown();
    const many = this.host.results.length > 1;
    for (const [k, name] of this.names.entries())
      for (const result of shown) {
        const series = result.series(name);
        if (series === undefined) continue;
        lines.push({
          name: many ? `${result.description.label}/${name}` : name,
          label: many ? `${readableName(name)} · ${result.description.label}` : readableName(name),
          unit: series.unit, times: series.times, values: series.values,
          // several results: a colour each, as in the scene, and a dash for each series
          colour: seriesColour(many ? result.index : k), dash: many ? DASHES[k % DASHES.length] : [],
        });
      }
    return lines;
  }

  private data(): uPlot.AlignedData {
    const columns = this.lines.map((line): uPlot.AlignedData => {
      const values = this.log
        ? Float64Array.from(line.values, (value) => (value === 0 ? NaN : Math.abs(value))) : line.values;
      return [Array.from(line.times), Array.from(values, (value) => (Number.isFinite(value) ? value : null))];
    });
    if (columns.length === 0) return [this.host.range().slice()];
    const first = this.lines[0].times;
    if (this.lines.every((line) => line.times === first))
      return [columns[0][0], ...columns.map((column) => column[1])] as uPlot.AlignedData;
    return uPlot.join(columns, columns.map(() => [0, 1])); // 1: span what other lines have and this one has not
  }

  private options(width: number): uPlot.Options {
    const style = getComputedStyle(this.element);
    const ink = style.getPropertyValue("--plot-ink").trim(), rule = style.getPropertyValue("--plot-rule").trim();
    const font = "11px system-ui, sans-serif";
    const units = unitsOf(this.lines);
    const axis: uPlot.Axis = { stroke: ink, font, labelFont: font, ticks: { stroke: rule, size: 4, width: 1 }, grid: { stroke: rule, width: 1 } };
    const [min, max] = this.host.range();
    return {
      width, height: HEIGHT, legend: { show: false }, padding: [10, 12, 0, 0],
      cursor: { drag: { x: true, y: false, dist: CLICK_RANGE + 1 }, points: { size: 5 } },
      select: { show: true, left: 0, top: 0, width: 0, height: 0 },
      scales: {
        x: { time: false, min, max },
        ...Object.fromEntries(units.map((unit) => [unit, {
          distr: (this.log ? 3 : 1) as 1 | 3,
          range: (): uPlot.Range.MinMax =>
            valueRange(this.lines.filter((line) => line.unit === unit), this.host.range(), this.log),
        }])),
      },
      axes: [
        { ...axis, size: 30, values: (_, ticks) => tickLabels(ticks) },
        ...units.map((unit, i): uPlot.Axis => ({
          ...axis, scale: unit, side: i === 0 ? 3 : 1, size: 62, grid: { stroke: rule, width: 1, show: i === 0 },
          values: (_, ticks) => (this.log ? ticks.map((tick) => shortNumber(tick)) : tickLabels(ticks)),
          filter: (_, ticks) => ticks, // uPlot would leave out some of a log axis
          ...(this.log ? { splits: (_chart: uPlot, _axis: number, low: number, high: number) => logTicks(low, high, 6) } : {}),
        })),
      ],
      series: [
        {},
        ...this.lines.map((line): uPlot.Series => ({
          label: line.label, scale: line.unit, stroke: line.colour, width: 1.5, dash: line.dash, points: { show: false },
        })),
      ],
      hooks: {
        setSelect: [(chart) => {
          const { left, width: selected } = chart.select;
          if (selected > CLICK_RANGE)
            this.host.setRange([chart.posToVal(left, "x"), chart.posToVal(left + selected, "x")]);
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
      },
    };
  }

  private bindClicks(over: HTMLElement): void {
    let from = { x: 0, y: 0 };
    over.addEventListener("pointerdown", (event) => { from = { x: event.clientX, y: event.clientY }; });
    over.addEventListener("click", (event) => {
      if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > CLICK_RANGE || this.chart === undefined) return;
      this.host.setTime(this.chart.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
    });
    over.addEventListener("dblclick", () => this.host.setRange(undefined));
  }

  private fillLegend(): void {
    this.legendValues = this.lines.map(() => make("span", "value"));
    this.legend.replaceChildren(...this.lines.map((line, i) => {
      const swatch = make("span", "swatch");
      swatch.style.borderTopColor = line.colour;
      if (line.dash.length > 0) swatch.style.borderTopStyle = line.dash[0] > 4 ? "dashed" : "dotted";
      return make("li", "", { title: line.name }, swatch, make("span", "name", {}, line.label), this.legendValues[i],
                  make("span", "unit", {}, unitText(line.unit)));
    }));
    this.showValues();
  }
}
