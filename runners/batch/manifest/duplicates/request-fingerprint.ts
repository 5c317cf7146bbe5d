import type { Row } from '../manifest-row.js';
import { mixed } from './id-hash.js';

/**
 * A 64-bit hash, in two halves, of the endpoint and request of a row. The order of keys makes no difference. The request is
 * not written as text, which alone would take twice as long, and only the length and first character of a key are hashed.
 * Different requests may have the same hash, so its matches are compared by SHA-256. The object is reused for all rows.
 */
export class RequestFingerprint {
  high = 0;
  low = 0;
  /** Rows that follow each other mostly go to one endpoint. */
  readonly #last = { endpoint: '', high: 0x9e3779b9, low: 0x85ebca6b };

  of({ endpoint, request, product }: Pick<Row, 'endpoint' | 'request' | 'product'>): this {
    if (endpoint !== this.#last.endpoint) this.#begin(endpoint);
    this.high = this.#last.high;
    this.low = this.#last.low;
    this.#value(request);
    // What `--repeat` asks for once more is compared with the same repeat of other rows alone.
    if (product !== undefined && product.repeat > 1) this.#mix(product.repeat, 4);
    const high = mixed(this.high);
    const low = mixed(this.low + high);
    this.high = (high + low) >>> 0;
    this.low = low >>> 0;
    return this;
  }

  #begin(endpoint: string): void {
    this.high = 0x9e3779b9;
    this.low = 0x85ebca6b;
    this.#text(endpoint, 0);
    Object.assign(this.#last, { endpoint, high: this.high, low: this.low });
  }

  #value(value: unknown): void {
    if (typeof value === 'string') this.#text(value, 0);
    else if (typeof value !== 'object' || value === null) this.#text(String(value), 1);
    else if (Array.isArray(value)) {
      for (const entry of value) this.#value(entry);
      this.#mix(value.length, 2);
    } else this.#entries(value as Record<string, unknown>);
  }

  /** Adds up the hashes of the entries, so that their order makes no difference and no list of keys is made. */
  #entries(object: Record<string, unknown>): void {
    const { high, low } = this;
    let sumHigh = 0;
    let sumLow = 0;
    for (const key in object) {
      this.high = high ^ key.length;
      this.low = low ^ key.charCodeAt(0);
      this.#value(object[key]);
      sumHigh = (sumHigh + Math.imul(this.high ^ (this.high >>> 15), 0x7feb352d)) | 0;
      sumLow = (sumLow + Math.imul(this.low ^ (this.low >>> 16), 0x846ca68b)) | 0;
    }
    this.high = sumHigh;
    this.low = sumLow;
    this.#mix(1, 3);
  }

  /** Hashes two characters at a time. @param type distinguishes a text from a number with the same digits */
  #text(text: string, type: number): void {
    let { high, low } = this;
    const { length } = text;
    for (let at = 0; at < length; at += 2) {
      // Past the end of the text this is NaN, which counts as 0.
      high = Math.imul(high ^ text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 16), 0xcc9e2d51);
      high = (high << 13) | (high >>> 19);
      low = (((low << 5) | (low >>> 27)) + high) | 0;
    }
    this.high = high;
    this.low = low;
    this.#mix(length, type);
  }

  #mix(length: number, type: number): void {
    this.high = Math.imul(this.high ^ length, 0x85ebca6b) ^ Math.imul(type + 1, 0x1b873593);
    this.low = Math.imul(this.low ^ this.high, 0xc2b2ae35);
  }
}
