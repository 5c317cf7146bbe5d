/**
 * Hashes text to 64 bits, in two halves of 32: two murmur-like passes at once. Not for secrets. Among a million texts
 * the chance that any two meet is about one in thirty million.
 */
export class TextHash {
  /** Halves of the last hash, unsigned. */
  high = 0;
  low = 0;

  of(text: string): void {
    let a = 0x9e3779b9 ^ text.length;
    let b = 0x85ebca6b ^ text.length;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      a = Math.imul(a ^ Math.imul(unit, 0xcc9e2d51), 0x1b873593);
      a = (a << 13) | (a >>> 19);
      b = Math.imul(b ^ Math.imul(unit, 0x2545f491), 0x5bd1e995);
      b = (b << 17) | (b >>> 15);
    }
    this.high = mix(a ^ Math.imul(b, 0x27d4eb2f));
    this.low = mix(b ^ Math.imul(a, 0x165667b1));
  }
}

function mix(half: number): number {
  let h = half ^ (half >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
