import { InvalidOptionError } from '../contract/millrace-error.js';

/** HMAC-SHA-256 of a text, in base64url without padding. */
export type Hmac = (secret: string, text: string) => string | PromiseLike<string>;

/** The POST that a callback is about. */
export interface CalledPost {
  /** The run that the rows belong to. A receiver accepts only callbacks of its own run. */
  readonly run: string;
  readonly row: string;
  /** Counts from 1, over all starts of the run. */
  readonly attempt: number;
}

/** A shorter secret could be guessed. */
const minSecretLength = 32;
/** No address is longer. */
const maxTokenLength = 4_096;

/**
 * Tokens that name a POST and that only the holder of the secret can create. The service does not sign its calls, so the
 * address that it gets is signed instead. A token is one path segment: the named POST, a dot, and the HMAC.
 */
export class CallbackTokens {
  /** @throws InvalidOptionError for a secret that is too short */
  constructor(
    private readonly secret: string,
    private readonly hmac: Hmac = webHmac(),
  ) {
    if (typeof secret !== 'string' || secret.length < minSecretLength)
      throw new InvalidOptionError('secret', `is shorter than ${minSecretLength} characters`);
  }

  of({ run, row, attempt }: CalledPost): string | Promise<string> {
    const named = toBase64Url(new TextEncoder().encode(JSON.stringify([run, row, attempt])));
    const signed = this.hmac(this.secret, named);
    return typeof signed === 'string'
      ? `${named}.${signed}`
      : Promise.resolve(signed).then((mac) => `${named}.${mac}`);
  }

  /** The POST that a token names; `undefined` if the token is forged or broken. */
  async read(token: string): Promise<CalledPost | undefined> {
    if (token.length > maxTokenLength) return undefined;
    const [named = '', mac = '', ...more] = token.split('.');
    if (more.length > 0 || !isSame(mac, await this.hmac(this.secret, named))) return undefined;
    return postOf(named);
  }
}

/** The token of a called address: the last segment of its path. */
export function tokenIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The POST that a token claims to name, unverified; `undefined` if the token is broken. */
export function postNamedIn(token: string): CalledPost | undefined {
  try {
    return postOf(token.slice(0, Math.max(token.indexOf('.'), 0)));
  } catch {
    return undefined;
  }
}

function postOf(named: string): CalledPost {
  const [run, row, attempt] = JSON.parse(fromBase64Url(named)) as [string, string, number];
  return { run, row, attempt };
}

/** Compares in the same time for any text of that length. */
function isSame(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}

function toBase64Url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function fromBase64Url(text: string): string {
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));
}

/** Uses WebCrypto, which every platform has. */
function webHmac(): Hmac {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  let key: ReturnType<typeof crypto.subtle.importKey> | undefined;
  return async (secret, text) => {
    const encoder = new TextEncoder();
    key ??= crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
    return toBase64Url(new Uint8Array(await crypto.subtle.sign(algorithm, await key, encoder.encode(text))));
  };
}
