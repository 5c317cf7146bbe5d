import { resolve } from 'node:path';
import { lastValueFrom, merge, tap } from 'rxjs';
import { runBatch, runStages, type RunStages } from '../../batch/index.js';
import { listenForStop } from '../io/listen-for-stop.js';
import { trackConnections } from '../io/track-connections.js';
import type { MetricsFile } from '../progress/keep-metrics-file.js';
import { viewRun, type RunView } from '../progress/view-run.js';
import { holdManifestToPlan, withinPlan } from '../plan/hold-to-plan.js';
import { agreedRows, agreeToPlan, explainRefusal, type CheckedRun } from '../start/agree-to-plan.js';
import { askHealth } from '../service/check-service.js';
import { batchOptions, type StartedRun, repeatedOptions } from '../start/batch-options.js';
import { printOutcome, type Warning } from '../start/print-outcome.js';
import { nodeDisk } from '../../batch/formats.js';
import { checkAhead, gateFor, refuseFolder, type RunEvent } from '../../batch/internal.js';
import type { CommandCall } from '../io/cli-io.js';
import { findManifest } from '../options/find-manifest.js';
import { outFolder } from '../options/run-folder.js';
import { startOptions } from '../options/parse-options.js';
import { readPrices } from '../options/configured-endpoints.js';
import { manifestOf, openPlan, withPlannedRows } from '../plan/open-plan.js';
import { plannedPrices } from '../plan/plan-source.js';
import { withAxesFile } from '../plan/planned-settings.js';
import type { SavedPlan } from '../plan/saved-plan.js';
import { openTarget, pickTransport } from '../service/open-target.js';
import { spoolInput } from '../start/spool-input.js';
import { openLiveRows } from '../start/live-rows.js';

/** Runs a manifest, or continues its run. It prints the price and gets the user's agreement before it sends anything. */
export async function runCommand({
  args: [name],
  raw: given,
  io,
  fault,
}: CommandCall<[string?]>): Promise<number> {
  const { raw, from, plan } = await openPlan(name, given, io);
  const options = await withAxesFile(startOptions('run', raw), io.cwd);
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

/** Runs exactly what was planned. Throws `UsageError` with the differences if anything has changed. */
async function heldToPlan(run: StartedRun, plan: SavedPlan): Promise<StartedRun> {
  const bytes = await holdManifestToPlan(plan, { ...run, prices: plannedPrices(run.prices, run.options) });
  return { ...run, plan, bytes, options: await withPlannedRows(run.options, plan) };
}

/** Runs the rows of stdin as they arrive, until stdin ends or the run is interrupted. */
async function followRows(
  name: string | undefined,
  { options, repeat, prices, io, fault }: Pick<StartedRun, 'options' | 'repeat' | 'prices' | 'io' | 'fault'>,
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

const warningsKept = 1_000;

/** Runs a start to its end, shows its progress, prints the outcome, and returns the exit code. */
async function attendRun(run: StartedRun): Promise<number> {
  const transport = await pickTransport(run.options.http);
  const connections = trackConnections();
  const stop = listenForStop(run.io);
  const gate = gateFor(run.options.rate);
  let checked: CheckedRun | undefined;
  const view = viewRun(run.io, {
    quiet: run.options.quiet,
    isRehearsal: run.target.local,
    folder: run.out,
    concurrency: concurrencyOf(run.options),
    askHealth: () => askHealth(run.target, checked?.ahead.endpoints ?? [], gate),
  });
  let answer: 'go' | 'interrupted' | { readonly error: unknown } | undefined;
  let metrics: MetricsFile | undefined;
  const warnings: Warning[] = [];
  const look = (event: RunEvent) => {
    view.look(event);
    metrics?.take(event);
    if (event.type === 'warning' && warnings.length < warningsKept)
      warnings.push({ code: event.code, message: event.message });
    if (event.type === 'checked') checked = event;
    if (event.type === 'started') run.fault.folder = run.out;
  };
  const confirm = async (plan: CheckedRun['plan'], ahead: CheckedRun['ahead']) => {
    view.pause();
    answer = await agreeToPlan({ plan, ahead }, run, stop.first).catch((error: unknown) => ({ error }));
    return answer === 'go';
  };
  try {
    metrics = await openMetrics(run, view);
    const start = await startOf(run, (message) => view.warn(message));
    const last = await lastValueFrom(
      start(
        {
          ...batchOptions(run),
          ...(transport && { transport }),
          gate,
          stop: run.live === undefined ? stop.orders$ : merge(stop.orders$, run.live.stop$),
          confirm,
        },
        { ...runStages, takeRows: takeRowsOf(run), checkAhead, beforeRows: run.io.beforeRows },
      ).pipe(tap(look)),
    );
    view.close();
    if (last.type !== 'finished') throw new Error('a run ended without a result');
    if (typeof answer === 'object') throw answer.error;
    if (answer === 'interrupted') return interrupted(last.exitCode, run);
    if (last.exitCode === 2 && checked !== undefined) explainRefusal(checked, run);
    const replaced = checked?.ahead.replaced.count ?? 0;
    const exitCode = await printOutcome(run, last, { warnings, replaced });
    await followUp(run, last);
    return exitCode;
  } finally {
    view.close();
    stop.close();
    await metrics?.close();
    connections.letGo();
  }
}

/** A start that has not begun leaves no summary, so there is nothing to report. */
async function followUp(
  run: StartedRun,
  { exitCode, reason, summary }: Extract<RunEvent, { type: 'finished' }>,
): Promise<void> {
  const { onEnd, onHold, notify } = run.options;
  if (summary === undefined || (onEnd ?? onHold ?? notify) === undefined) return;
  const { afterRun } = await import('../start/after-run.js');
  await afterRun(run, { exitCode, reason, summary });
}

/** The rows of a start: those that arrive, those of a plan, or all rows of the manifest. */
function takeRowsOf({ options, live, plan }: StartedRun): RunStages['takeRows'] {
  const { yes, local, maxCostPerDay } = options;
  if (live !== undefined) return agreedRows(yes || local || maxCostPerDay !== undefined, runStages.takeRows);
  return plan === undefined ? runStages.takeRows : withinPlan(plan);
}

/** What runs the rows: this process, or the workers of a database. */
async function startOf(run: StartedRun, warn: (message: string) => void): Promise<typeof runBatch> {
  if (run.options.db === undefined) return runBatch;
  const { overDatabase } = await import('../start/over-database.js');
  return overDatabase(run, run.options.db, warn);
}

async function openMetrics(
  { options, out, io }: StartedRun,
  view: Pick<RunView, 'warn'>,
): Promise<MetricsFile | undefined> {
  if (options.metricsFile === undefined) return undefined;
  const { keepMetricsFile } = await import('../progress/keep-metrics-file.js');
  const path = resolve(io.cwd, options.metricsFile);
  return keepMetricsFile({ path, out, concurrency: concurrencyOf(options), warn: (why) => view.warn(why) });
}

/** The concurrency to show until the run reports its own. */
function concurrencyOf({ concurrency }: StartedRun['options']): number {
  return typeof concurrency === 'number' ? concurrency : 8;
}

/** Ends a start that was interrupted at the question: by a signal, or by Ctrl-C, which sends no signal while a question is open. */
function interrupted(exitCode: number, { io }: StartedRun): number {
  io.stderr.write('Interrupted. Nothing was sent.\n');
  return exitCode >= 128 ? exitCode : 130;
}
