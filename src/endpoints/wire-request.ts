import { phaseTimeouts } from '../transport/phase-timeouts.js';
import type { PhaseTimeouts, WireRequest } from '../transport/transport.js';
import { wireHeaders } from '../transport/wire-headers.js';

/** What differs between the calls. */
export interface Call {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** JSON text. */
  readonly body?: string | undefined;
  /** How long the service may take until its reply begins. */
  readonly responseMs: number;
  /** Whether it buys work. */
  readonly paid: boolean;
}

/** A caller may ask for another wait each time. */
const maxLimits = 64;

/** Makes the requests of one endpoint; what they have in common is made once. */
export function createWireRequests(apiKey: string | undefined): (call: Call) => WireRequest {
  const headers = Object.freeze(wireHeaders(apiKey, false));
  const headersWithBody = Object.freeze(wireHeaders(apiKey, true));
  const limits = new Map<number, PhaseTimeouts>();
  const limitsOf = (responseMs: number): PhaseTimeouts => {
    const known = limits.get(responseMs);
    if (known) return known;
    if (limits.size === maxLimits) limits.clear();
    const made = Object.freeze(phaseTimeouts(responseMs));
    limits.set(responseMs, made);
    return made;
  };
  return ({ method, url, body, responseMs, paid }) => {
    const timeouts = limitsOf(responseMs);
    return body === undefined
      ? { method, url, headers, timeouts, paid }
      : { method, url, headers: headersWithBody, body, timeouts, paid };
  };
}
