import { MillraceError } from '../../../src/contract/millrace-error.js';
import { version } from '../../../src/contract/version.js';
import type { ResolvedOptions } from '../context/resolved-options.js';
import type { Journal } from '../journal/journal.js';
import type { RecordOf, RunIdentity } from '../journal/record.js';
import type { Ahead } from './check/ahead.js';
import { newCap } from './money/cap-in-force.js';

/**
 * What the journal notes of a start, in its order. A new cap comes first: a start that dies between the two must not have
 * begun without it.
 */
export function startRecords(
  options: ResolvedOptions,
  journal: Pick<Journal, 'recovered'>,
  ahead: Pick<Ahead, 'cap'>,
): readonly (RecordOf<'cap'> | RecordOf<'start'>)[] {
  return [...capRecord(options, journal), startRecord(options, journal, ahead)];
}

function capRecord(options: ResolvedOptions, { recovered }: Pick<Journal, 'recovered'>): RecordOf<'cap'>[] {
  const usd = newCap(options, recovered.capUsd);
  return usd === undefined ? [] : [{ k: 'cap', at: options.scheduler.now(), usd }];
}

function startRecord(
  { identity, out, manifest, settings, scheduler }: ResolvedOptions,
  { recovered }: Pick<Journal, 'recovered'>,
  { cap }: Pick<Ahead, 'cap'>,
): RecordOf<'start'> {
  const at = scheduler.now();
  return {
    ...{ k: 'start', at, version, identity: checkIdentity(recovered.identity, identity, out) },
    ...{ manifest: manifest.path, settings: { ...settings, ...(cap && { maxCostUsd: cap.usd }) } },
  };
}

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
