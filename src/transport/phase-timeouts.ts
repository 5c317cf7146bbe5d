import type { PhaseTimeouts } from './transport.js';

const defaults = {
  lookupMs: 10_000,
  connectMs: 10_000,
  secureConnectMs: 10_000,
  sendMs: 60_000,
  readMs: 60_000,
} as const;

/**
 * The limits of one exchange. The service may take `responseMs` until its reply begins: for /runsync that is
 * `executionTimeoutMs` (spec 8). A hang anywhere else, and a drip of single bytes, ends by a limit of its own.
 */
export function phaseTimeouts(responseMs: number, overrides: Partial<PhaseTimeouts> = {}): PhaseTimeouts {
  const phases = { ...defaults, responseMs, ...overrides };
  const { lookupMs, connectMs, secureConnectMs, sendMs, readMs } = phases;
  return {
    requestMs: lookupMs + connectMs + secureConnectMs + sendMs + phases.responseMs + readMs,
    ...phases,
  };
}
