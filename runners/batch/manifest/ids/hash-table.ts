const smallest = 1024;

/**
 * 64-bit hash → a number above 0, in flat memory: 12 bytes an entry in typed arrays, at most two thirds full. A `Map`
 * of a million ids would take twenty times as much.
 */
export class HashTable {
  #capacity = smallest;
  #size = 0;
  #high = new Uint32Array(smallest);
  #low = new Uint32Array(smallest);
  #values = new Uint32Array(smallest);

  /** 0 when it is not there. */
  get(high: number, low: number): number {
    return this.#values[this.#slot(high, low)] ?? 0;
  }

  /** `value` must be above 0. */
  set(high: number, low: number, value: number): void {
    let slot = this.#slot(high, low);
    if (this.#values[slot] === 0) {
      if (3 * (this.#size + 1) > 2 * this.#capacity) {
        this.#grow();
        slot = this.#slot(high, low);
      }
      this.#size++;
      this.#high[slot] = high;
      this.#low[slot] = low;
    }
    this.#values[slot] = value;
  }

  #slot(high: number, low: number): number {
    const mask = this.#capacity - 1;
    let slot = low & mask;
    while (this.#values[slot] !== 0 && (this.#low[slot] !== low || this.#high[slot] !== high))
      slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [high, low, values] = [this.#high, this.#low, this.#values];
    this.#capacity *= 2;
    this.#high = new Uint32Array(this.#capacity);
    this.#low = new Uint32Array(this.#capacity);
    this.#values = new Uint32Array(this.#capacity);
    values.forEach((value, at) => {
      if (value === 0) return;
      const slot = this.#slot(high[at] ?? 0, low[at] ?? 0);
      this.#high[slot] = high[at] ?? 0;
      this.#low[slot] = low[at] ?? 0;
      this.#values[slot] = value;
    });
  }
}
