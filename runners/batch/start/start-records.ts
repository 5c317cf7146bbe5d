import { version } from '../../../src/contract/version.js';
import type { ResolvedOptions } from '../context/resolved-options.js';
import type { RecordOf } from '../journal/record.js';
import { askedAxes } from '../manifest/matrix/asked-axes.js';
import { costByInForce, isSameCostBy } from '../row/totals.js';
import type { Ahead } from './check/ahead.js';
import type { HeldJournal } from './hold-journal.js';
import { newCap } from './money/cap-in-force.js';

/**
 * The records of a start, in journal order. A new cap comes first, so that no start is journalled without its cap if the
 * process dies in between.
 */
export function startRecords(
  options: ResolvedOptions,
  journal: Pick<HeldJournal, 'recovered' | 'identity'>,
  ahead: Pick<Ahead, 'cap'>,
): readonly (RecordOf<'cap'> | RecordOf<'cost-by'> | RecordOf<'start'>)[] {
  return [
    ...capRecord(options, journal),
    ...costByRecord(options, journal),
    startRecord(options, journal, ahead),
  ];
}

function capRecord(
  options: ResolvedOptions,
  { recovered }: Pick<HeldJournal, 'recovered'>,
): RecordOf<'cap'>[] {
  const usd = newCap(options, recovered.capUsd);
  return usd === undefined ? [] : [{ k: 'cap', at: options.scheduler.now(), usd }];
}

function costByRecord(
  options: ResolvedOptions,
  { recovered }: Pick<HeldJournal, 'recovered'>,
): RecordOf<'cost-by'>[] {
  const costBy = costByInForce(options, recovered.costBy);
  if (isSameCostBy(costBy, recovered.costBy)) return [];
  return [{ k: 'cost-by', at: options.scheduler.now(), ...costBy }];
}

function startRecord(
  { manifest, settings, scheduler }: ResolvedOptions,
  { identity }: Pick<HeldJournal, 'identity'>,
  { cap }: Pick<Ahead, 'cap'>,
): RecordOf<'start'> {
  const at = scheduler.now();
  const axes = askedAxes(manifest.settings);
  return {
    k: 'start',
    at,
    version,
    identity,
    manifest: manifest.path,
    settings: { ...settings, ...(cap && { maxCostUsd: cap.usd }), ...(axes.length > 0 && { axes }) },
  };
}
