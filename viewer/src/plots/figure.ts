// SPDX-License-Identifier: MIT
// A plot as data, and the data as SVG, PNG and CSV.
import { shortNumber, tickLabels, unitText } from "../numbers";
import { linearTicks, logTicks } from "./ticks";

export interface Line {
  name: string; // column of a table
  label: string; // in the legend
  unit: string;
  colour: string;
  dash: number[];
  times: ArrayLike<number>;
  values: ArrayLike<number>; // NaN: a gap
}

export interface Figure {
  title: string;
  range: [number, number]; // s
  log: boolean;
  lines: Line[];
}

const WIDTH = 760, PLOT_HEIGHT = 340, LEFT = 86, TOP = 40, RIGHT = 24, LEGEND_LINE = 20;
const FONT = "font-family='system-ui, sans-serif'";

export function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/// Units of the lines in the order they first appear.
export function unitsOf(lines: readonly { unit: string }[]): string[] {
  return [...new Set(lines.map((line) => line.unit))];
}

/// Least and greatest value of lines within a range of time; on a log axis of the sizes, zeros left out.
export function valueRange(lines: readonly Line[], range: [number, number], log: boolean): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const { times, values } of lines)
    for (let i = 0; i < times.length; ++i) {
      if (times[i] < range[0] || times[i] > range[1]) continue;
      const value = log ? Math.abs(values[i]) : values[i];
      if (!Number.isFinite(value) || (log && value === 0)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (!(low <= high)) return log ? [1e-16, 1] : [0, 1];
  if (log) return [10 ** Math.floor(Math.log10(low)), 10 ** Math.max(Math.ceil(Math.log10(high)), Math.floor(Math.log10(low)) + 1)];
  if (low === high) {
    const margin = Math.abs(low) * 0.1 || 1;
    return [low - margin, high + margin];
  }
  return [low - 0.05 * (high - low), high + 0.05 * (high - low)];
}

interface Axis {
  unit: string;
  range: [number, number];
  place: (value: number) => number; // in the picture
}

export function figureSvg(figure: Figure): string {
  const { range, log, lines } = figure;
  const axes: Axis[] = unitsOf(lines).map((unit) => {
    const values = valueRange(lines.filter((line) => line.unit === unit), range, log);
    const map = log ? Math.log10 : (value: number): number => value;
    const [a, b] = values.map(map);
    return { unit, range: values, place: (value) => TOP + PLOT_HEIGHT * (1 - (map(value) - a) / (b - a)) };
  });
  const right = RIGHT + 72 * Math.max(0, axes.length - 1);
  const plotWidth = WIDTH - LEFT - right;
  const x = (t: number): number => LEFT + (plotWidth * (t - range[0])) / (range[1] - range[0]);
  const height = TOP + PLOT_HEIGHT + 52 + LEGEND_LINE * lines.length;
  const out: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" ${FONT} font-size="12" fill="#1d2733">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="24" font-size="15" font-weight="600">${escapeMarkup(figure.title)}</text>`,
    `<clipPath id="area"><rect x="${LEFT}" y="${TOP}" width="${plotWidth}" height="${PLOT_HEIGHT}"/></clipPath>`,
  ];
  const ticks = linearTicks(range[0], range[1], 7);
  tickLabels(ticks).forEach((label, i) => {
    const at = x(ticks[i]).toFixed(1);
    out.push(`<line x1="${at}" x2="${at}" y1="${TOP}" y2="${TOP + PLOT_HEIGHT}" stroke="#e3e7ec"/>`);
    out.push(`<text x="${at}" y="${TOP + PLOT_HEIGHT + 18}" text-anchor="middle">${label}</text>`);
  });
  out.push(`<text x="${LEFT + plotWidth / 2}" y="${TOP + PLOT_HEIGHT + 38}" text-anchor="middle">time in s</text>`);
  axes.forEach((axis, index) => {
    const values = log ? logTicks(axis.range[0], axis.range[1], 8) : linearTicks(axis.range[0], axis.range[1], 6);
    const labels = log ? values.map((value) => shortNumber(value)) : tickLabels(values);
    const edge = index === 0 ? LEFT : LEFT + plotWidth + 72 * (index - 1);
    values.forEach((value, i) => {
      const at = axis.place(value);
      if (index === 0)
        out.push(`<line x1="${LEFT}" x2="${LEFT + plotWidth}" y1="${at.toFixed(1)}" y2="${at.toFixed(1)}" stroke="#e3e7ec"/>`);
      out.push(`<text x="${index === 0 ? edge - 8 : edge + 8}" y="${(at + 4).toFixed(1)}" text-anchor="${index === 0 ? "end" : "start"}">${labels[i]}</text>`);
    });
    if (unitText(axis.unit) !== "")
      out.push(`<text x="${index === 0 ? edge - 8 : edge + 8}" y="${TOP - 8}" text-anchor="${index === 0 ? "end" : "start"}" fill="#5a6675">${escapeMarkup(unitText(axis.unit))}</text>`);
  });
  out.push(`<rect x="${LEFT}" y="${TOP}" width="${plotWidth}" height="${PLOT_HEIGHT}" fill="none" stroke="#9aa5b1"/>`);
  lines.forEach((line, index) => {
    const axis = axes.find((candidate) => candidate.unit === line.unit)!;
    out.push(`<path clip-path="url(#area)" fill="none" stroke="${line.colour}" stroke-width="1.6" stroke-linejoin="round"` +
             `${line.dash.length > 0 ? ` stroke-dasharray="${line.dash.join(" ")}"` : ""} d="${linePath(line, figure, x, axis.place)}"/>`);
    const y = TOP + PLOT_HEIGHT + 58 + LEGEND_LINE * index;
    out.push(`<line x1="${LEFT}" x2="${LEFT + 24}" y1="${y - 4}" y2="${y - 4}" stroke="${line.colour}" stroke-width="2.5"/>`);
    const unit = unitText(line.unit);
    out.push(`<text x="${LEFT + 32}" y="${y}">${escapeMarkup(line.label + (unit === "" ? "" : `, ${unit}`))}</text>`);
  });
  out.push("</svg>");
  return out.join("\n");
}

/// One pixel column of a dense line needs four points only: enter, least, greatest, leave.
function linePath(line: Line, figure: Figure, x: (t: number) => number, y: (value: number) => number): string {
  const { times, values } = line;
  const [from, to] = figure.range;
  const parts: string[] = [];
  let pen = false;
  let lastColumn = -1;
  let low = 0, high = 0, end = 0;
  const flush = (): void => {
    if (lastColumn < 0) return;
    const at = (lastColumn / 2).toFixed(1);
    if (high - low > 0.5) parts.push(`L${at} ${low.toFixed(1)}L${at} ${high.toFixed(1)}`);
    parts.push(`L${at} ${end.toFixed(1)}`);
  };
  for (let i = 0; i < times.length; ++i) {
    if ((i + 1 < times.length && times[i + 1] < from) || (i > 0 && times[i - 1] > to)) continue;
    const value = figure.log ? Math.abs(values[i]) : values[i];
    if (!Number.isFinite(value) || (figure.log && value === 0)) {
      flush();
      pen = false;
      lastColumn = -1;
      continue;
    }
    const column = Math.round(2 * x(times[i])), place = y(value);
    if (!pen) {
      parts.push(`M${(column / 2).toFixed(1)} ${place.toFixed(1)}`);
      pen = true;
    } else if (column !== lastColumn) flush();
    if (column !== lastColumn) low = high = place;
    low = Math.min(low, place);
    high = Math.max(high, place);
    end = place;
    lastColumn = column;
  }
  flush();
  return parts.join("");
}

/// The SVG as a picture of twice its size.
export async function figurePng(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.naturalWidth;
  canvas.height = 2 * image.naturalHeight;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser made no picture"))), "image/png"));
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/// Lines as comma separated values: time first, empty where a line has no number at that time.
export function figureCsv(figure: Figure): string {
  const [from, to] = figure.range;
  const times = [...new Set(figure.lines.flatMap((line) => Array.from(line.times)))]
    .filter((t) => t >= from && t <= to).sort((a, b) => a - b);
  const next = figure.lines.map(() => 0);
  const rows = [["time", ...figure.lines.map((line) => line.name)].map(csvCell).join(",")];
  for (const t of times) {
    const cells = figure.lines.map((line, k) => {
      while (next[k] < line.times.length && line.times[next[k]] < t) ++next[k];
      const value = line.times[next[k]] === t ? line.values[next[k]] : NaN;
      return Number.isFinite(value) ? String(value) : "";
    });
    rows.push([String(t), ...cells].join(","));
  }
  return `${rows.join("\n")}\n`;
}
