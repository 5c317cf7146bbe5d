const partBits = 3;
/** Hashes are spread evenly: no part of unlike ones is so much longer than others. */
const longestPart = { share: 1.25 / (1 << partBits), more: 1_024 };

/** Calls `take` with each of some 64-bit hashes, the same ones at each call. */
export type EachHash = (take: (high: number, low: number) => void) => Promise<void>;

/**
 * Whether a 64-bit hash occurs more than once among so many. They are passed eight times, and each time those with other first bits
 * are sorted: in 1.25 bytes a hash.
 */
export async function isAnyRepeated(count: number, eachHash: EachHash): Promise<boolean> {
  const sorted = new BigUint64Array(Math.ceil(longestPart.share * count) + longestPart.more);
  const words = new Uint32Array(sorted.buffer);
  for (let part = 0; part < 1 << partBits; part++) {
    let length = 0;
    await eachHash((high, low) => {
      if (high >>> (32 - partBits) !== part) return;
      words[length++] = low;
      words[length++] = high;
    });
    if (length > words.length || hasTwins(sorted.subarray(0, length / 2).sort())) return true;
  }
  return false;
}

function hasTwins(sorted: BigUint64Array): boolean {
  for (let at = 1; at < sorted.length; at++) if (sorted[at] === sorted[at - 1]) return true;
  return false;
}
