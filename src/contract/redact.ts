const mask = '[redacted]';

/** A shorter secret is masked only after `Bearer`, because ordinary words could contain it. */
const minLength = 8;

/** The decoded form of a secret that contains escapes is masked from this length on. */
const minDecodedLength = 4;

/** Escapes of escapes are decoded this many times. */
const maxLayers = 8;

/** Longer text contains a picture in base64, in which searching for the secret in base64 would take too long. */
const longestWithCode = 1024 * 1024;

/** As many texts that a pattern matches are looked for in all other encodings: a hostile reply may hold a million. */
const maxElsewhere = 4;

/** A text that must not be shown, or a pattern of such texts. */
export type Secret = string | RegExp;

/**
 * Masks secrets in a text, in any encoding in which a service may echo them: escaped as in JSON (`\u003d`, `\/`),
 * percent-encoded, as HTML entities, quoted-printable or UTF-16, each several times over, or as base64 or hexadecimal digits.
 * At least the first half of a secret is masked too, because an echo may be cut. What a pattern matches in the text or in what
 * its escapes stand for is such a secret, or only its first group. Valid JSON stays valid. The time is proportional to the length of the text.
 */
export function redact(text: string, secrets: readonly Secret[]): string {
  let masked = new Readings(text);
  for (const secret of secrets)
    if (typeof secret !== 'string') masked = maskMatches(masked, secret);
    else if (secret !== '') masked = maskOne(masked, secret);
  return masked.text;
}

/** A text and what its escapes stand for: decoded once for all secrets, because a reply may be large and have many. */
class Readings {
  /** The text, then each with the escapes of the one before it decoded. */
  private readonly layers: string[];
  private isDecoded = false;

  constructor(readonly text: string) {
    this.layers = [text];
  }

  has(needle: string): boolean {
    for (let layer = 0; layer <= maxLayers; layer++) {
      const read = this.at(layer);
      if (read === undefined) return false;
      if (read.includes(needle)) return true;
    }
    return false;
  }

  at(layer: number): string | undefined {
    const read = this.layers[layer - 1];
    if (layer < this.layers.length || this.isDecoded || read === undefined) return this.layers[layer];
    const decoded = decodeEscapes(read);
    if (decoded === read) this.isDecoded = true;
    else this.layers.push(decoded);
    return this.layers[layer];
  }
}

function maskMatches(read: Readings, pattern: RegExp): Readings {
  const each = new RegExp(pattern, [...new Set(`${pattern.flags}dg`)].join(''));
  const found = new Set<string>();
  for (let layer = 0; layer <= maxLayers && found.size <= maxElsewhere; layer++)
    for (const [from, to] of matchedIn(read.at(layer) ?? '', each))
      if (found.size <= maxElsewhere) found.add((read.at(layer) ?? '').slice(from, to));
  const masked = [...found].slice(0, maxElsewhere).reduce(maskOne, read);
  if (found.size <= maxElsewhere) return masked;
  const spans = spansOf(masked.text, ({ text, starts, ends }) =>
    matchedIn(text, each).map(([from, to]) => [starts?.[from] ?? from, ends?.[to - 1] ?? to]),
  );
  return new Readings(maskSpans(masked.text, spans));
}

function matchedIn(text: string, each: RegExp): Span[] {
  const spans = Array.from(
    text.matchAll(each),
    ({ indices }): Span => indices?.[1] ?? indices?.[0] ?? [0, 0],
  );
  return spans.filter(([from, to]) => to - from >= minLength);
}

function maskOne(read: Readings, secret: string): Readings {
  if (secret.length < minLength)
    return ['Bearer ', 'bearer '].reduce((masked, word) => maskSpelled(masked, word + secret, true), read);
  const { forms, codes } = spellingsOf(secret);
  let masked = read;
  for (const form of forms) masked = maskSpelled(masked, form, false);
  if (masked.text.length > longestWithCode) return masked;
  const found = codes.filter((code) => masked.text.includes(code));
  return found.length === 0
    ? masked
    : new Readings(found.reduce((text, code) => text.replaceAll(code, mask), masked.text));
}

function decodeFully(text: string): string {
  const decoded = decodeEscapes(text);
  return decoded === text ? text : decodeFully(decoded);
}

function maskSpelled(read: Readings, secret: string, isWhole: boolean): Readings {
  const half = isWhole ? secret.length : Math.max(minLength, Math.ceil(secret.length / 2));
  const needle = secret.slice(0, half);
  let masked = read;
  // The text that remains may contain another spelling.
  for (let round = 0; round < maxLayers && masked.has(needle); round++) {
    const { text } = masked;
    masked = new Readings(
      maskSpans(
        text,
        spansOf(text, (one) => spansWith(text, secret, needle, one)),
      ),
    );
  }
  return masked;
}

type Span = readonly [from: number, to: number];

/** The places in the text of what is found in it, and in what its escapes stand for, in order. */
function spansOf(text: string, find: (read: Decoded) => readonly Span[]): Span[] {
  const spans: Span[] = [];
  let read: Decoded = { text, starts: undefined, ends: undefined };
  for (let layer = 0; layer <= maxLayers; layer++) {
    for (const span of find(read)) spans.push(span);
    const decoded = decodeWithPlaces(read);
    if (decoded.text === read.text) break;
    read = decoded;
  }
  return spans.sort(([one], [other]) => one - other);
}

function spansWith(text: string, secret: string, needle: string, read: Decoded): Span[] {
  const spans: Span[] = [];
  for (let at = read.text.indexOf(needle); at !== -1; at = read.text.indexOf(needle, at + 1))
    spans.push(spanAt(text, secret, read, at));
  return spans;
}

function spanAt(text: string, secret: string, { text: read, starts, ends }: Decoded, at: number): Span {
  let length = 0;
  while (length < secret.length && read[at + length] === secret[length]) length++;
  // A last backslash may escape a quote after the secret; backslashes before a first quote belong to the secret.
  while (secret[length - 1] === '\\') length--;
  let from = starts?.[at] ?? at;
  if ('"/\\'.includes(secret.charAt(0))) while (text[from - 1] === '\\') from--;
  const last = at + length - 1;
  return [from, ends?.[last] ?? last + 1];
}

function maskSpans(text: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let copied = 0;
  for (const [from, to] of spans) {
    if (from >= copied) parts.push(text.slice(copied, from), mask);
    copied = Math.max(copied, to);
  }
  return parts.join('') + text.slice(copied);
}

interface Spellings {
  /** The secret and its decoded form. */
  readonly forms: ReadonlySet<string>;
  readonly codes: readonly string[];
}

/** Computed once for each secret; a process has few. */
const spellings = new Map<string, Spellings>();

function spellingsOf(secret: string): Spellings {
  const known = spellings.get(secret);
  if (known !== undefined) return known;
  // A secret may contain what looks like an escape, so its decoded form is masked too. That may be shorter than a secret must
  // be.
  const decoded = decodeFully(secret);
  const forms = new Set(decoded.length >= minDecodedLength ? [secret, decoded] : [secret]);
  const made = { forms, codes: codesOf(secret) };
  if (spellings.size >= 16) spellings.clear();
  spellings.set(secret, made);
  return made;
}

/**
 * The bytes of the secret in hexadecimal, and the parts of their base64 that do not depend on the text around it, in both
 * alphabets. `btoa` takes bytes alone: a secret may hold any character, such as a password or a key with a stray `…`.
 */
function codesOf(secret: string): string[] {
  const bytes = [...new TextEncoder().encode(secret)];
  const parts = ['', 'x', 'xx'].map((before) => {
    // Without the characters that contain bits of the text around the secret.
    const from = Math.ceil((before.length * 8) / 6);
    const to = Math.floor(((before.length + bytes.length) * 8) / 6);
    return btoa(before + bytes.map((byte) => String.fromCharCode(byte)).join('')).slice(from, to);
  });
  const urlSafe = parts.map((part) => part.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [...new Set([...parts, ...urlSafe, hex, hex.toUpperCase()])];
}

/** A decoded text, with the place of each character in the original text; absent if it is the same index. */
interface Decoded {
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
  excl: '!',
  quot: '"',
  num: '#',
  dollar: '$',
  percnt: '%',
  amp: '&',
  apos: "'",
  lpar: '(',
  rpar: ')',
  ast: '*',
  plus: '+',
  comma: ',',
  period: '.',
  sol: '/',
  colon: ':',
  semi: ';',
  lt: '<',
  equals: '=',
  gt: '>',
  quest: '?',
  commat: '@',
  lsqb: '[',
  bsol: '\\',
  rsqb: ']',
  hat: '^',
  lowbar: '_',
  grave: '`',
  lcub: '{',
  verbar: '|',
  vert: '|',
  rcub: '}',
  hyphen: '-',
  dash: '-',
};

/** Decodes the escapes of JSON, URLs, HTML and mail once: an escape of an escape becomes an escape, and NULs are left out. */
function decodeEscapes(text: string): string {
  if (!hasEscape(text)) return text;
  return text.replace(escape, (...match: string[]) => characterOf(match) ?? match[0] ?? '');
}

/** `decodeEscapes` for one of several rounds, with the places in the text of the first round. */
function decodeWithPlaces(before: Decoded): Decoded {
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
