// SPDX-License-Identifier: MIT
// Round places on an axis.

/// Multiples of 1, 2 or 5 times a power of ten within [low, high], about `count` of them.
export function linearTicks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const share = raw / power;
  const factor = share <= 1.0000001 ? 1 : share <= 2.0000001 ? 2 : share <= 5.0000001 ? 5 : 10;
  const step = factor * power;
  const ticks: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) ticks.push(i * step + 0); // no minus zero
  return ticks;
}

/// Powers of ten within [low, high], at most about `count`, both positive.
export function logTicks(low: number, high: number, count: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const stride = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, count)));
  const ticks: number[] = [];
  for (let power = first; power <= last; power += stride) ticks.push(10 ** power);
  return ticks;
}
