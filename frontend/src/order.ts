// Finding a place among sorted values.

/** How many of the sorted values are ≤ the given one. */
export function countUpTo(size: number, valueAt: (k: number) => number, limit: number): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueAt(middle) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
