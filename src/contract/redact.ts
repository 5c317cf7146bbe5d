import { decodeEscapes, decodeWithPlaces, type Decoded } from './decode-escapes.js';

const mask = '[redacted]';

/** A shorter secret is masked only behind `Bearer`, since ordinary words could contain it. */
const minLength = 8;

/** The decoded form of a secret that contains escapes is masked from this length on. */
const minDecodedLength = 4;

/** Escapes of escapes are decoded this many times. */
const maxLayers = 8;

/** A longer text holds a picture in base64, in which a search for the secret in base64 would take too long. */
const longestWithCode = 1024 * 1024;

/**
 * Masks secrets in a text, in any spelling that a service may echo: with characters escaped as in JSON (`\u003d`, `\/`),
 * percent-encoded, as an HTML entity, quoted-printable or UTF-16, each several times over, or as base64 or hexadecimal digits. The first half of a secret, or more of it,
 * is masked too, as an echo may be cut. Valid JSON stays valid. The time is proportional to the length of the text.
 */
export function redact(text: string, secrets: readonly string[]): string {
  let masked = text;
  for (const secret of secrets) if (secret !== '') masked = maskOne(masked, secret);
  return masked;
}

function maskOne(text: string, secret: string): string {
  if (secret.length < minLength)
    return ['Bearer ', 'bearer '].reduce((masked, word) => maskSpelled(masked, word + secret, true), text);
  const { forms, codes } = spellingsOf(secret);
  let masked = text;
  for (const form of forms) masked = maskSpelled(masked, form, false);
  if (masked.length > longestWithCode) return masked;
  for (const code of codes) if (masked.includes(code)) masked = masked.replaceAll(code, mask);
  return masked;
}

function decodeFully(text: string): string {
  const decoded = decodeEscapes(text);
  return decoded === text ? text : decodeFully(decoded);
}

function maskSpelled(text: string, secret: string, isWhole: boolean): string {
  const half = isWhole ? secret.length : Math.max(minLength, Math.ceil(secret.length / 2));
  const needle = secret.slice(0, half);
  let masked = text;
  // The text that remains may contain another spelling.
  for (let round = 0; round < maxLayers && isFound(masked, needle); round++)
    masked = maskSpans(masked, spansOf(masked, secret, needle));
  return masked;
}

function isFound(text: string, needle: string): boolean {
  if (text.includes(needle)) return true;
  let read = text;
  for (let layer = 0; layer < maxLayers; layer++) {
    const decoded = decodeEscapes(read);
    if (decoded === read) return false;
    if (decoded.includes(needle)) return true;
    read = decoded;
  }
  return false;
}

type Span = readonly [from: number, to: number];

/** The places of the secret in the text, in order. */
function spansOf(text: string, secret: string, needle: string): Span[] {
  const spans: Span[] = [];
  let read: Decoded = { text, starts: undefined, ends: undefined };
  for (let layer = 0; layer <= maxLayers; layer++) {
    for (let at = read.text.indexOf(needle); at !== -1; at = read.text.indexOf(needle, at + 1))
      spans.push(spanAt(text, secret, read, at));
    const decoded = decodeWithPlaces(read);
    if (decoded.text === read.text) break;
    read = decoded;
  }
  return spans.sort(([one], [other]) => one - other);
}

function spanAt(text: string, secret: string, { text: read, starts, ends }: Decoded, at: number): Span {
  let length = 0;
  while (length < secret.length && read[at + length] === secret[length]) length++;
  // A last backslash may escape a quote behind the secret; backslashes before a first quote belong to the secret.
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
  /** The secret, and what it is when it is decoded. */
  readonly forms: ReadonlySet<string>;
  readonly codes: readonly string[];
}

/** Made once for each secret, of which a process has few. */
const spellings = new Map<string, Spellings>();

function spellingsOf(secret: string): Spellings {
  const known = spellings.get(secret);
  if (known !== undefined) return known;
  // A secret may contain what looks like an escape: its decoded form is masked too, which may be shorter than a secret.
  const decoded = decodeFully(secret);
  const forms = new Set(decoded.length >= minDecodedLength ? [secret, decoded] : [secret]);
  const made = { forms, codes: codesOf(secret) };
  if (spellings.size >= 16) spellings.clear();
  spellings.set(secret, made);
  return made;
}

/** The secret in hexadecimal, and the parts of its base64 that do not depend on the text around it, in both alphabets. */
function codesOf(secret: string): string[] {
  const parts = ['', 'x', 'xx'].map((before) => {
    // Characters that hold bits of the text around the secret are left out.
    const from = Math.ceil((before.length * 8) / 6);
    const to = Math.floor(((before.length + secret.length) * 8) / 6);
    return btoa(before + secret).slice(from, to);
  });
  const urlSafe = parts.map((part) => part.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = [...new TextEncoder().encode(secret)]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  return [...new Set([...parts, ...urlSafe, hex, hex.toUpperCase()])];
}
