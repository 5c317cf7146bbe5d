/** A decoded text, and where each of its characters was in the original text. Absent: at the same index. */
export interface Decoded {
  readonly text: string;
  readonly starts: Int32Array | undefined;
  readonly ends: Int32Array | undefined;
}

const escape = new RegExp(
  [
    // JSON and JavaScript, URLs, HTML, quoted-printable: two hexadecimal digits.
    ...[/\\u00([\da-f]{2})/, /\\u\{0{0,4}([\da-f]{2})\}/, /\\x([\da-f]{2})/, /%(?:u00)?([\da-f]{2})/],
    ...[/&#x0{0,6}([\da-f]{2});?/, /=([\da-f]{2})/],
    ...[/&#0{0,6}(\d{2,3});?/, /\\([01][0-7]{2})/, /&([a-z]{2,6});/, /\\(["\\/])/],
    // Between the characters of UTF-16 that was read as bytes.
    '\0',
  ]
    .map((part) => (typeof part === 'string' ? part : part.source))
    .join('|'),
  'gi',
);

const entities: Readonly<Record<string, string>> = {
  ...{ excl: '!', quot: '"', num: '#', dollar: '$', percnt: '%', amp: '&', apos: "'", lpar: '(', rpar: ')' },
  ...{ ast: '*', plus: '+', comma: ',', period: '.', sol: '/', colon: ':', semi: ';', lt: '<', equals: '=' },
  ...{ gt: '>', quest: '?', commat: '@', lsqb: '[', bsol: '\\', rsqb: ']', hat: '^', lowbar: '_' },
  ...{ grave: '`', lcub: '{', verbar: '|', vert: '|', rcub: '}', hyphen: '-', dash: '-' },
};

/** Decodes the escapes of JSON, URLs, HTML and mail once: an escape of an escape becomes an escape, and NULs are left out. */
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
    if (character !== '') place(match.index, copied);
  }
  parts.push(text.slice(copied));
  for (let at = copied; at < text.length; at++) place(at, at + 1);
  return { text: parts.join(''), starts, ends };
}

const escapeSigns = ['%', '\\', '&', '=', '\0'];

function hasEscape(text: string): boolean {
  for (const sign of escapeSigns) if (text.includes(sign)) return true;
  return false;
}

function printable(code: number): string | undefined {
  if (code === 0) return '';
  return code >= 0x20 && code <= 0x7e ? String.fromCharCode(code) : undefined;
}

/** `undefined` for a character that no secret contains. */
function characterOf(match: readonly (string | undefined)[]): string | undefined {
  const [whole, ...groups] = match;
  const hex = groups.slice(0, 6).find((group) => group !== undefined);
  const [decimal, octal, entity, quoted] = groups.slice(6, 10);
  if (whole === '\0') return '';
  if (hex !== undefined) return printable(parseInt(hex, 16));
  if (decimal !== undefined) return printable(Number(decimal));
  if (octal !== undefined) return printable(parseInt(octal, 8));
  return entity === undefined ? quoted : entities[entity.toLowerCase()];
}
