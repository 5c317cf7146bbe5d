import { assumePrice, nodeDisk, type PriceBook } from '../../batch/formats.js';
import { refuseFolder } from '../../batch/internal.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { findManifest } from '../options/find-manifest.js';
import { outFolder } from '../options/run-folder.js';
import { parseOptions } from '../options/parse-options.js';
import { repeatedOptions } from '../options/repeated-options.js';
import { readPrices } from '../options/read-prices.js';
import { runOptionsSchema, type RunOptions } from '../options/start-options.js';
import { manifestOf, openPlan } from '../plan/open-plan.js';
import type { SavedPlan } from '../plan/read-plan.js';
import { openTarget } from '../service/open-target.js';
import { spoolInput } from '../start/spool-input.js';
import { attendRun } from '../start/attend-run.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { holdManifestToPlan } from '../plan/hold-to-plan.js';
import type { StartedRun } from '../start/batch-options.js';
import { resolve } from 'node:path';
import { openLiveRows } from '../start/live-rows.js';

/** Does what a manifest asks for, or goes on with it. The price is said, and agreed to, before anything is sent. */
export async function runCommand(
  name: string | undefined,
  given: Readonly<Record<string, unknown>>,
  io: CliIo,
  fault: FaultContext,
): Promise<number> {
  const { raw, from, plan } = await openPlan(name, given, io);
  const options = parseOptions(runOptionsSchema, raw);
  const repeat = repeatedOptions(raw, from, io.cwd);
  const prices = await readPrices(options.prices, io.cwd, options.endpoints);
  if (options.follow) return followRows(name, { options, repeat, prices, io, fault });
  const manifest = await findManifest(manifestOf('run', name, plan), options.format, io);
  const out = outFolder(manifest, options.out, options.local, io.cwd);
  const target = await openTarget(options, manifest.folder, io, fault);
  try {
    await refuseFolder(nodeDisk, out);
    const { source, discard } = await spoolInput(manifest, out, io);
    const started = { source, out, options, repeat, target, prices, io, fault };
    return await attendRun(plan === undefined ? started : await heldToPlan(started, plan)).finally(discard);
  } finally {
    await target.close();
  }
}

/** A start that does what was planned and nothing else. Throws `UsageError` with what has changed. */
async function heldToPlan(run: StartedRun, plan: SavedPlan): Promise<StartedRun> {
  const { assumePrice: assumed } = run.options;
  const prices = assumed === undefined ? run.prices : assumePrice(run.prices, toMicroDollars(assumed));
  const bytes = await holdManifestToPlan(plan, { ...run, prices });
  return { ...run, plan, bytes, options: await partOf(run.options, plan) };
}

/** `--limit` counts rows that are still to be done: at a second start they would be others than those planned. */
async function partOf(options: StartedRun['options'], plan: SavedPlan): Promise<StartedRun['options']> {
  if (options.limit === undefined) return options;
  const only: string[] = [];
  for await (const { id } of plan.rows()) only.push(id);
  return { ...options, limit: undefined, only };
}

/** What a run is begun with. */
interface Following {
  readonly options: RunOptions;
  readonly repeat: StartedRun['repeat'];
  readonly prices: PriceBook;
  readonly io: CliIo;
  readonly fault: FaultContext;
}

/** Works the rows of stdin as they arrive, until it ends or the run is interrupted. */
async function followRows(
  name: string | undefined,
  { options, repeat, prices, io, fault }: Following,
): Promise<number> {
  const live = openLiveRows(name ?? '', options, io);
  const out = resolve(io.cwd, options.out ?? '');
  const source = { name: 'stdin', path: '', format: 'jsonl', gzip: false, folder: io.cwd } as const;
  try {
    const target = await openTarget(options, source.folder, io, fault);
    const started = { source, out, options, repeat, target, prices, io, fault, live };
    return await attendRun(started).finally(() => target.close());
  } finally {
    live.close();
  }
}
