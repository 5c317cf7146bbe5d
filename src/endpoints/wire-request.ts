import { phaseTimeouts } from '../transport/phase-timeouts.js';
import type { WireRequest } from '../transport/transport.js';
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

export function wireRequest(
  apiKey: string | undefined,
  { method, url, body, responseMs, paid }: Call,
): WireRequest {
  return {
    method,
    url,
    headers: wireHeaders(apiKey, body !== undefined),
    ...(body !== undefined && { body }),
    timeouts: phaseTimeouts(responseMs),
    paid,
  };
}
