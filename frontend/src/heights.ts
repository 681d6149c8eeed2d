// Heights of a long list of which only a part was ever measured: sums and search in O(log n).

/** A Fenwick tree over heights in pixels. */
export class Heights {
  readonly values: Float64Array;
  private readonly tree: Float64Array;

  constructor(estimates: ArrayLike<number>) {
    const size = estimates.length;
    this.values = Float64Array.from(estimates);
    this.tree = new Float64Array(size + 1);
    for (let k = 1; k <= size; k++) {
      this.tree[k] += this.values[k - 1];
      const parent = k + (k & -k);
      if (parent <= size) this.tree[parent] += this.tree[k];
    }
  }

  get size(): number {
    return this.values.length;
  }

  /** Sets one height; returns how much it grew. */
  set(index: number, height_px: number): number {
    const growth = height_px - this.values[index];
    if (growth === 0) return 0;
    this.values[index] = height_px;
    for (let k = index + 1; k < this.tree.length; k += k & -k) this.tree[k] += growth;
    return growth;
  }

  /** Where an item begins: the sum of the heights before it. */
  before(index: number): number {
    let sum = 0;
    for (let k = index; k > 0; k -= k & -k) sum += this.tree[k];
    return sum;
  }

  /** The item at a distance from the top, kept within the list. */
  at(offset_px: number): number {
    let index = 0;
    let rest = offset_px;
    let step = 1;
    while (step * 2 < this.tree.length) step *= 2;
    for (; step > 0; step >>= 1) {
      const next = index + step;
      if (next < this.tree.length && this.tree[next] <= rest) {
        index = next;
        rest -= this.tree[next];
      }
    }
    return Math.min(index, Math.max(0, this.size - 1));
  }
}
