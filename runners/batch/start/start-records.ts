import { version } from '../../../src/contract/version.js';
import type { ResolvedOptions } from '../context/resolved-options.js';
import type { RecordOf } from '../journal/record.js';
import type { Ahead } from './check/ahead.js';
import type { HeldJournal } from './hold-journal.js';
import { newCap } from './money/cap-in-force.js';

/**
 * What the journal notes of a start, in its order. A new cap comes first: a start that dies between the two must not have
 * begun without it.
 */
export function startRecords(
  options: ResolvedOptions,
  journal: Pick<HeldJournal, 'recovered' | 'identity'>,
  ahead: Pick<Ahead, 'cap'>,
): readonly (RecordOf<'cap'> | RecordOf<'start'>)[] {
  return [...capRecord(options, journal), startRecord(options, journal, ahead)];
}

function capRecord(
  options: ResolvedOptions,
  { recovered }: Pick<HeldJournal, 'recovered'>,
): RecordOf<'cap'>[] {
  const usd = newCap(options, recovered.capUsd);
  return usd === undefined ? [] : [{ k: 'cap', at: options.scheduler.now(), usd }];
}

function startRecord(
  { manifest, settings, scheduler }: ResolvedOptions,
  { identity }: Pick<HeldJournal, 'identity'>,
  { cap }: Pick<Ahead, 'cap'>,
): RecordOf<'start'> {
  const at = scheduler.now();
  return {
    ...{ k: 'start', at, version, identity },
    ...{ manifest: manifest.path, settings: { ...settings, ...(cap && { maxCostUsd: cap.usd }) } },
  };
}
