import { version } from '../../../src/contract/version.js';
import type { Journal } from '../journal/journal.js';
import type { RecordOf } from '../journal/record.js';
import type { Ahead } from './check/ahead.js';
import { newCap } from './money/cap-in-force.js';
import { checkIdentity } from './check/check-identity.js';
import type { ResolvedOptions } from '../context/resolved-options.js';

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
