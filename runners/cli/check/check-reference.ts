import { catchError, firstValueFrom, map, of, retry } from 'rxjs';
import type { Probe, Probed } from '../../../src/transport/got-probe.js';
import type { PhaseTimeouts } from '../../../src/transport/transport.js';

const timeouts: PhaseTimeouts = {
  requestMs: 20_000,
  lookupMs: 5_000,
  connectMs: 5_000,
  secureConnectMs: 5_000,
  sendMs: 5_000,
  responseMs: 15_000,
  readMs: 5_000,
};

/** What is wrong with the address of a reference picture; `undefined`: a picture is there. One that does not answer is asked twice. */
export function checkReference(url: string, probe: Probe): Promise<string | undefined> {
  return firstValueFrom(
    probe({ url, timeouts }).pipe(
      retry({ count: 1, delay: 1000 }),
      map(problemOf),
      catchError((error: unknown) =>
        of(`could not be reached: ${error instanceof Error ? error.message : String(error)}`),
      ),
    ),
  );
}

/** Many servers name no type, or a general one: only what is surely no picture is told. */
function problemOf({ status, contentType }: Probed): string | undefined {
  if (status < 200 || status >= 300) return `answers HTTP ${status}`;
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  return type !== undefined && /^(text|audio|video)\/|^application\/(json|xml|pdf)$/.test(type)
    ? `is no picture, but ${type}`
    : undefined;
}
