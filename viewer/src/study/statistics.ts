// SPDX-License-Identifier: MIT
// What a table of members tells: histograms, shares of variance, means over a grid of two parameters.

export interface Histogram {
  low: number;
  width: number;
  counts: number[];
}

/// Counts in equal intervals, as many as the square root of the numbers, within 5 and 40.
export function histogram(values: ArrayLike<number>): Histogram | undefined {
  const known = Array.from(values).filter(Number.isFinite);
  if (known.length === 0) return undefined;
  let low = Infinity, high = -Infinity;
  for (const x of known) {
    low = Math.min(low, x);
    high = Math.max(high, x);
  }
  if (low === high) return { low: low - 0.5, width: 1, counts: [known.length] };
  const bins = Math.min(40, Math.max(5, Math.round(Math.sqrt(known.length))));
  const width = (high - low) / bins, counts = new Array<number>(bins).fill(0);
  for (const x of known) counts[Math.min(bins - 1, Math.floor((x - low) / width))] += 1;
  return { low, width, counts };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, x) => sum + x, 0) / values.length;
}

export function variance(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((sum, x) => sum + (x - middle) ** 2, 0) / values.length;
}

/// Share of an output's variance that a parameter explains by itself, its first-order index: the variance of the mean of y
/// where x is known, over the variance of y. Estimated from any table: members in classes of equal number by x (values
/// that are equal stay together), and the part that the scatter within classes would show by chance is taken off.
export function varianceShare(x: ArrayLike<number>, y: ArrayLike<number>): number {
  const rows = Array.from(x, (value, i) => [value, y[i]]).filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b));
  if (rows.length < 8) return NaN;
  rows.sort((one, other) => one[0] - other[0]);
  const all = rows.map((row) => row[1]), total = variance(all);
  if (!(total > 0)) return NaN;
  const size = rows.length / Math.max(2, Math.min(32, Math.round(Math.cbrt(rows.length) * 2)));
  const classes: number[][] = [[]];
  rows.forEach(([value, result], i) => {
    const full = classes[classes.length - 1].length >= size;
    if (full && i > 0 && value !== rows[i - 1][0]) classes.push([]);
    classes[classes.length - 1].push(result);
  });
  const middle = mean(all), n = all.length, k = classes.length;
  if (k < 2 || n <= k) return NaN;
  const between = classes.reduce((sum, one) => sum + one.length * (mean(one) - middle) ** 2, 0);
  const within = classes.reduce((sum, one) => sum + one.length * variance(one), 0);
  return Math.min(1, Math.max(0, (between - ((k - 1) * within) / (n - k)) / (n * total)));
}

export interface Surface {
  columns: number[]; // edges
  rows: number[];
  means: (number | undefined)[][]; // [row][column]
}

/// Edges of cells over one parameter: between its values where they are few, otherwise equal.
function edges(values: readonly number[], cells: number): number[] {
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  if (distinct.length === 1) return [distinct[0] - 0.5, distinct[0] + 0.5];
  if (distinct.length <= cells) {
    const middles = distinct.slice(1).map((x, i) => (x + distinct[i]) / 2);
    const last = distinct.length - 1;
    return [2 * distinct[0] - middles[0], ...middles, 2 * distinct[last] - middles[last - 1]];
  }
  const low = distinct[0], high = distinct[distinct.length - 1];
  return Array.from({ length: cells + 1 }, (_, i) => low + (i / cells) * (high - low));
}

function cellOf(limits: readonly number[], x: number): number {
  let cell = 0;
  while (cell < limits.length - 2 && x >= limits[cell + 1]) cell += 1;
  return cell;
}

/// Mean of z over cells of two parameters.
export function surface(x: ArrayLike<number>, y: ArrayLike<number>, z: ArrayLike<number>): Surface | undefined {
  const known = Array.from(z, (_, i) => i).filter((i) => Number.isFinite(z[i]));
  if (known.length === 0) return undefined;
  const cells = Math.min(24, Math.max(3, Math.round(Math.sqrt(known.length / 3))));
  const columns = edges(known.map((i) => x[i]), cells), rows = edges(known.map((i) => y[i]), cells);
  const sums = rows.slice(1).map(() => columns.slice(1).map(() => ({ sum: 0, count: 0 })));
  for (const i of known) {
    const cell = sums[cellOf(rows, y[i])][cellOf(columns, x[i])];
    cell.sum += z[i];
    cell.count += 1;
  }
  return { columns, rows, means: sums.map((row) => row.map(({ sum, count }) => (count > 0 ? sum / count : undefined))) };
}
