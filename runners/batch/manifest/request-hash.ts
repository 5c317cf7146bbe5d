import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';

const digits = 24;

/** Tells requests apart: the first 24 hex digits of the SHA-256 of what is sent, where, as canonical JSON. */
export function requestHash(sent: {
  readonly kind: string;
  readonly endpoint: string;
  readonly request: unknown;
}): string {
  const { kind, endpoint, request } = sent;
  // In this order nothing has to be sorted.
  return hash('sha256', canonicalJson({ endpoint, kind, request }), 'hex').slice(0, digits);
}
