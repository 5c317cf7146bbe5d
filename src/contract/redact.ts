import { decodeEscapes, decodeWithPlaces, type Decoded } from './decode-escapes.js';

const mask = '[redacted]';

/** A shorter secret is masked only behind `Bearer`: it would otherwise be found within ordinary words. */
const minLength = 8;

/** Escapes of escapes are read so many times. */
const maxLayers = 8;

/** A longer text is a picture in base64, in which a search for more base64 would take longer than reading it. */
const longestWithCode = 1024 * 1024;

/**
 * Masks secrets in a text, in whatever spelling a service echoes them: with any of their characters as JSON (`\u003d`,
 * `\/`), percent-encoded or an HTML entity, each several times over, or as base64. The first half of a secret, or more of
 * it, is masked too: whoever echoes it may have cut it. Valid JSON stays valid. Takes time in proportion to the text.
 */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, secret) => (secret === '' ? masked : maskOne(masked, secret)), text);
}

function maskOne(text: string, secret: string): string {
  if (secret.length < minLength)
    return ['Bearer ', 'bearer '].reduce((masked, word) => maskSpelled(masked, word + secret, true), text);
  // A secret may itself hold what looks like an escape: then it is found where it has been read as one, too.
  const forms = new Set([secret, decodeFully(secret)].filter(({ length }) => length >= minLength));
  const masked = [...forms].reduce((all, form) => maskSpelled(all, form, false), text);
  return masked.length > longestWithCode
    ? masked
    : base64Of(secret).reduce((all, code) => (all.includes(code) ? all.replaceAll(code, mask) : all), masked);
}

function decodeFully(text: string): string {
  const decoded = decodeEscapes(text);
  return decoded === text ? text : decodeFully(decoded);
}

function maskSpelled(text: string, secret: string, isWhole: boolean): string {
  const half = isWhole ? secret.length : Math.max(minLength, Math.ceil(secret.length / 2));
  const needle = secret.slice(0, half);
  let masked = text;
  // What is left of one spelling may be a part of another.
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

/** Where the secret stands in the text, in the order of their beginnings. */
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
  // The last of its backslashes may escape a quote that is none of it, and those before its first quote belong to it.
  while (secret[length - 1] === '\\') length--;
  let from = starts?.[at] ?? at;
  if ('"/\\'.includes(secret.charAt(0))) while (text[from - 1] === '\\') from--;
  const last = at + length - 1;
  return [from, ends?.[last] ?? last + 1];
}

function maskSpans(text: string, spans: readonly Span[]): string {
  const pieces: string[] = [];
  let copied = 0;
  for (const [from, to] of spans) {
    if (from >= copied) pieces.push(text.slice(copied, from), mask);
    copied = Math.max(copied, to);
  }
  return pieces.join('') + text.slice(copied);
}

/** The parts of base64 that are the same whatever stands before and behind the secret, in both alphabets. */
function base64Of(secret: string): string[] {
  const known = codes.get(secret);
  if (known !== undefined) return known;
  const parts = ['', 'x', 'xx'].map((before) => {
    // Characters that hold bits of what stands around the secret are left out.
    const from = Math.ceil((before.length * 8) / 6);
    const to = Math.floor(((before.length + secret.length) * 8) / 6);
    return btoa(before + secret).slice(from, to);
  });
  const urlSafe = parts.map((part) => part.replaceAll('+', '-').replaceAll('/', '_'));
  const made = [...new Set([...parts, ...urlSafe])];
  if (codes.size >= 16) codes.clear();
  codes.set(secret, made);
  return made;
}

/** Made once for each secret: a process knows few. */
const codes = new Map<string, string[]>();
