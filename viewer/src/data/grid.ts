// SPDX-License-Identifier: MIT
// Finding a time among increasing times.

/// Largest index whose time is not after t; 0 before the first.
export function indexAt(times: ArrayLike<number>, t: number): number {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

/// Index of the time nearest to t.
export function nearestIndex(times: ArrayLike<number>, t: number): number {
  const i = indexAt(times, t);
  return i + 1 < times.length && times[i + 1] - t < t - times[i] ? i + 1 : i;
}

export interface Place {
  index: number; // interval [index, index + 1]
  fraction: number; // 0 at index, 1 at index + 1
}

/// Interval and fraction of a time, held at both ends.
export function placeAt(times: ArrayLike<number>, t: number): Place {
  const last = times.length - 1;
  if (last < 1 || t <= times[0]) return { index: 0, fraction: 0 };
  if (t >= times[last]) return { index: last - 1, fraction: 1 };
  const index = indexAt(times, t);
  const length = times[index + 1] - times[index];
  return { index, fraction: length > 0 ? (t - times[index]) / length : 0 };
}

/// Linear interpolation of a row at a place.
export function valueAt(row: ArrayLike<number>, place: Place): number {
  const a = row[place.index];
  return place.fraction === 0 || row.length < 2 ? a : a + place.fraction * (row[place.index + 1] - a);
}
