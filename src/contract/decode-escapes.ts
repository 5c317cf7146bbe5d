/** A decoded text, and where each of its characters was in the original text. Absent: at the same index. */
export interface Decoded {
  readonly text: string;
  readonly starts: Int32Array | undefined;
  readonly ends: Int32Array | undefined;
}

const escape =
  /\\u00([\da-f]{2})|\\u\{0{0,4}([\da-f]{2})\}|\\x([\da-f]{2})|%([\da-f]{2})|&#x0{0,6}([\da-f]{2});?|&#0{0,6}(\d{2,3});?|&([a-z]{2,6});|\\(["\\/])/gi;

const entities: Readonly<Record<string, string>> = {
  ...{ excl: '!', quot: '"', num: '#', dollar: '$', percnt: '%', amp: '&', apos: "'", lpar: '(', rpar: ')' },
  ...{ ast: '*', plus: '+', comma: ',', period: '.', sol: '/', colon: ':', semi: ';', lt: '<', equals: '=' },
  ...{ gt: '>', quest: '?', commat: '@', lsqb: '[', bsol: '\\', rsqb: ']', hat: '^', lowbar: '_' },
  ...{ grave: '`', lcub: '{', verbar: '|', vert: '|', rcub: '}', hyphen: '-', dash: '-' },
};

/** Decodes the escapes of JSON, URLs and HTML once: an escape of an escape becomes an escape. */
export function decodeEscapes(text: string): string {
  if (!hasEscape(text)) return text;
  return text.replace(escape, (...match: string[]) => characterOf(match) ?? match[0] ?? '');
}

/** `decodeEscapes` for one of several rounds, with the places in the text of the first round. */
export function decodeWithPlaces(before: Decoded): Decoded {
  const { text } = before;
  const starts = new Int32Array(text.length);
  const ends = new Int32Array(text.length);
  const parts: string[] = [];
  let length = 0;
  let copied = 0;
  const place = (from: number, to: number): void => {
    starts[length] = before.starts?.[from] ?? from;
    ends[length++] = before.ends?.[to - 1] ?? to;
  };
  for (const match of text.matchAll(escape)) {
    const character = characterOf(match);
    if (character === undefined) continue;
    parts.push(text.slice(copied, match.index), character);
    for (let at = copied; at < match.index; at++) place(at, at + 1);
    copied = match.index + match[0].length;
    place(match.index, copied);
  }
  parts.push(text.slice(copied));
  for (let at = copied; at < text.length; at++) place(at, at + 1);
  return { text: parts.join(''), starts, ends };
}

function hasEscape(text: string): boolean {
  return text.includes('%') || text.includes('\\') || text.includes('&');
}

function printable(code: number): string | undefined {
  return code >= 0x20 && code <= 0x7e ? String.fromCharCode(code) : undefined;
}

/** `undefined` for a character that no secret contains. */
function characterOf(match: readonly (string | undefined)[]): string | undefined {
  const hex = match[1] ?? match[2] ?? match[3] ?? match[4] ?? match[5];
  if (hex !== undefined) return printable(parseInt(hex, 16));
  if (match[6] !== undefined) return printable(Number(match[6]));
  return match[7] === undefined ? match[8] : entities[match[7].toLowerCase()];
}
