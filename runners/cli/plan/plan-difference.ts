import type { PlanDifference } from '../messages/ahead-text.js';
import { isAnyRunOf, isEnd, nodeDisk, type PriceBook, type RowStatus } from '../../batch/formats.js';
import {
  checkIdentity,
  checkManifest,
  elsewhereSchema,
  peekJournal,
  readElsewhere,
  readSummary,
  refuseBehind,
  refuseBought,
  refuseEarlier,
  refuseFolder,
  refuseOtherManifest,
  refuseUnknownColumns,
  refuseUnpriced,
  resolveOptions,
  whoHolds,
  type Ahead,
  type RunBatchOptions,
  type RunIdentity,
} from '../../batch/internal.js';
import { runAgain } from '../../report/messages/run-again.js';
import type { CliIo } from '../io/cli-io.js';
import type { ManifestSource } from '../options/find-manifest.js';
import { optionsOf, type NamesWith } from '../options/option-table.js';
import { isOfFailures, outFolder } from '../options/run-folder.js';
import { serviceSettings } from '../service/service-settings.js';
import { describesStart, type RunOptions } from '../options/parse-options.js';
import { commandOfRun } from './command-of-run.js';
import { plannedSettings } from './planned-settings.js';
import { dirname } from 'node:path';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { formatMoney, plainText, shownPath } from '../messages/plain-text.js';

/**
 * Compares a manifest with the run in its folder, as a start would, and writes nothing. `undefined` if there is nothing to
 * compare: the run has not begun and has no cap, or the manifest is stdin, which cannot be read twice.
 *
 * @throws {MillraceError} `usage` if a start would refuse the folder or the host; `journal-broken` if the journal has lost records
 */
export async function planDifference(
  { source, options, prices, sample }: PlannedStart,
  io: Pick<CliIo, 'cwd' | 'env'>,
): Promise<PlanDifference | undefined> {
  const { path } = source;
  if (path === undefined) return undefined;
  const out = outFolder(source, options.out, options.local, io.cwd);
  const notes = await firstRunNote(path, out, io.cwd);
  await refuseFolder(nodeDisk, out);
  const byValue = { costBy: options.costBy, maxCostByUsd: options.maxCostBy };
  const owner = await whoHolds(nodeDisk, out);
  const summary = await readSummary(nodeDisk, out);
  const journal = await peekJournal(nodeDisk, out, byValue);
  if (journal !== undefined) refuseBehind(out, journal, summary);
  if (owner === undefined && !options.local) await refuseEarlier(nodeDisk, out, journal?.recovered.repairs);
  const identity = identityOf(options, io);
  if (journal !== undefined) await checkIdentity(journal, identity, out);
  const isAlone =
    notes.length === 0 && !(await isAnyRunOf(nodeDisk, { manifest: path, sample, ...identity }));
  if (journal === undefined && !describesStart(options) && isAlone) return undefined;
  for (const { cost, ...row } of journal?.recovered.highestReported ?? []) prices.observe(row, cost);
  const settings = await plannedSettings(source, options, prices);
  const manifest = { path, ...settings };
  const resolved = resolveOptions({
    manifest,
    out,
    prices,
    identity,
    ...choicesOf(options),
    ...capOf(options),
  });
  const found = await checkManifest(resolved, journal, { stops: { isStopping: false }, peekJournal });
  const { pending } = found;
  // A running process still waits for these answers.
  const ahead = owner === undefined ? found.ahead : { ...found.ahead, unanswered: 0 };
  if (journal !== undefined) refuseOtherManifest(resolved, journal.recovered, ahead);
  refuseUnknownColumns(ahead);
  refuseBought(resolved, ahead);
  refuseUnpriced(resolved, ahead);
  const takesMs = await duration(out, ahead);
  return {
    out,
    ahead,
    isBegun: journal !== undefined,
    done: doneOf(journal?.recovered.totals.rows),
    notes: [
      ...notes,
      ...ownerNote(owner),
      ...(await elsewhereNote(
        out,
        'bought more rows,',
        'they count as rows to be sent here. A start with --db copies them first, and does not send them again',
      )),
    ],
    isRunning: owner !== undefined,
    goingOn: pending.size - ahead.unanswered - ahead.doubled,
    ...(takesMs !== undefined && { takesMs }),
  };
}

function ownerNote(owner: Awaited<ReturnType<typeof whoHolds>>): string[] {
  if (owner === undefined) return [];
  const { pid, host } = owner;
  return [
    plainText(
      `note: process ${pid} on ${host.name} works on this run, and sends these rows meanwhile: a start is refused (75) until its end`,
      500,
    ),
  ];
}

export interface PlannedStart {
  readonly source: ManifestSource;
  readonly options: RunOptions;
  readonly prices: PriceBook;
  /** Hashes of a `RowSample`. */
  readonly sample: readonly string[];
}

/** Without a host, which a plan does not need, hosts are not compared. */
function identityOf({ local, ...hosts }: RunOptions, { env }: Pick<CliIo, 'env'>): RunIdentity {
  const { baseUrl = '', lbBaseUrl = '' } = local ? {} : serviceSettings(hosts, env);
  return { local, baseUrl, lbBaseUrl };
}

function doneOf(rows: ReadonlyMap<RowStatus, number> = new Map()): PlanDifference['done'] {
  const held = rows.get('unknown') ?? 0;
  const completed = rows.get('completed') ?? 0;
  const ended = [...rows].reduce((sum, [status, count]) => sum + (isEnd(status) ? count : 0), 0);
  return { completed, held, failed: ended - completed - held };
}

/** Fewer ended rows than this give no estimate. */
const enoughRows = 3;

async function duration(out: string, { fits }: Ahead): Promise<number | undefined> {
  const last = await readSummary(nodeDisk, out).catch(() => undefined);
  const { startedAt, endedAt } = last?.times ?? {};
  const ended = last?.thisStart.ended ?? 0;
  if (startedAt === undefined || endedAt === undefined || ended < enoughRows || fits.rows === 0)
    return undefined;
  return ((Date.parse(endedAt) - Date.parse(startedAt)) / ended) * fits.rows;
}

/**
 * A note for a manifest that is the failures.jsonl of another run, whose cap and decisions do not apply to the new run. Empty
 * for any other manifest.
 *
 * @param cwd paths are shown relative to this folder
 */
export async function firstRunNote(manifest: string, out: string, cwd: string): Promise<string[]> {
  const first = dirname(manifest);
  if (!isOfFailures(manifest) || first === out) return [];
  const journal = await peekJournal(nodeDisk, first).catch(() => undefined);
  if (journal === undefined) return [];
  const { capUsd } = journal.recovered;
  const cap = typeof capUsd === 'number' ? `its cap of ${formatMoney(toMicroDollars(capUsd))}` : 'its cap';
  const run = shownPath(first, cwd);
  const command = await commandOfRun(first, { cwd });
  const again = command && runAgain(command, '--retry', 'failed');
  const goOn = again === undefined ? '' : ` To continue in ${run}: ${again}`;
  const text = `note: these are the failures of the run in ${run}, and they start a new run, ${shownPath(out, cwd)}: ${cap} and what was decided there do not apply here.${goOn}`;
  return [plainText(text, 2000)];
}

/**
 * A note that workers may have records that the folder lacks, if they may.
 *
 * @param what what they may have done
 * @param then what follows from it
 */
export async function elsewhereNote(folder: string, what: string, then: string): Promise<string[]> {
  const found = await readElsewhere(nodeDisk, folder, elsewhereSchema);
  if (found?.isOpen !== true) return [];
  const text = `note: workers may have ${what} whose records are only in the database so far (${found.database}): ${then}`;
  return [plainText(text, 500)];
}

type Choices = Pick<RunOptions, NamesWith<'isChoice'>>;

/** These options have the same names on the command line and in the batch runner. */
export function choicesOf(options: RunOptions): Partial<RunBatchOptions> {
  const names = optionsOf('run').flatMap(({ name, row }) => (row.isChoice ? [name as keyof Choices] : []));
  const chosen = names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]);
  return Object.fromEntries(chosen) as Partial<Choices>;
}

/** The cap for the batch runner. A cap that the run remembers overrides one of the configuration. */
export function capOf({
  maxCost,
  maxCostFrom,
  maxCostBy,
}: RunOptions): Pick<RunBatchOptions, 'maxCostUsd' | 'defaultMaxCostUsd' | 'maxCostByUsd'> {
  const byValue = maxCostBy === undefined ? {} : { maxCostByUsd: maxCostBy };
  if (maxCost === undefined) return byValue;
  if (maxCostFrom === undefined) return { ...byValue, maxCostUsd: maxCost === 'none' ? null : maxCost };
  return maxCost === 'none' ? byValue : { ...byValue, defaultMaxCostUsd: maxCost };
}
