/** What each byte is worth as a lower-case hex digit; -1 where it is none. */
const digits = new Int8Array(256).fill(-1);
for (let value = 0; value < 16; value++) digits[value.toString(16).charCodeAt(0)] = value;

/** Eight lower-case hex digits as a number; -1, which is no checksum, where one of them is none. */
export function hexAt(bytes: Buffer, at: number): number {
  let value = 0;
  let sign = 0;
  for (let i = at; i < at + 8; i++) {
    const digit = digits[bytes[i] ?? 0] ?? -1;
    sign |= digit;
    value = (value << 4) | digit;
  }
  return sign < 0 ? -1 : value >>> 0;
}
