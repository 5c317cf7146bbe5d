import { MillraceError } from '../../../../src/contract/millrace-error.js';
import type { RunIdentity } from '../../journal/record.js';

/**
 * What this start notes as the run's identity: its own, with the hosts that only earlier starts needed.
 *
 * @throws {MillraceError} `usage` where it would mix a rehearsal with the real thing, or two services.
 */
export function checkIdentity(earlier: RunIdentity | undefined, now: RunIdentity, out: string): RunIdentity {
  if (earlier === undefined) return now;
  if (earlier.local !== now.local)
    throw refused(out, earlier.local ? 'a rehearsal with the emulator' : 'a run against a real service', now);
  if (now.local) return now;
  for (const host of ['baseUrl', 'lbBaseUrl'] as const) {
    if (earlier[host] !== '' && now[host] !== '' && earlier[host] !== now[host])
      throw refused(out, `a run against ${earlier[host]}`, now, now[host]);
  }
  return {
    local: false,
    baseUrl: now.baseUrl || earlier.baseUrl,
    lbBaseUrl: now.lbBaseUrl || earlier.lbBaseUrl,
  };
}

function refused(
  out: string,
  was: string,
  now: RunIdentity,
  host = now.baseUrl || now.lbBaseUrl,
): MillraceError {
  const is = now.local ? 'the emulator' : host;
  const message = `The folder ${out} holds ${was}, and this start is against ${is}: nothing was sent. Choose another --out, or go on with what it was begun with.`;
  return new MillraceError('usage', message);
}
