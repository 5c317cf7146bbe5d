import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isAnyRunOf, listPrices, nodeDisk, type Plan } from '../../batch/formats.js';
import { RowSample } from '../../batch/planning.js';
import { flagOf, type ListedOption, optionsOf } from '../options/option-table.js';
import { withAxesFile } from '../plan/planned-settings.js';
import { manifestOf, openPlan, withPlannedRows } from '../plan/open-plan.js';
import type { CliIo, CommandCall, FaultContext, RawOptions } from '../io/cli-io.js';
import { findManifest, type ManifestSource } from '../options/find-manifest.js';
import { readPrices } from '../options/configured-endpoints.js';
import { isOfFailures, outFolder } from '../options/run-folder.js';
import { describesStart, startOptions, type PlanOptions } from '../options/parse-options.js';
import { priceTableText, planJson, planText, priceText, reservedText } from '../messages/plan-text.js';
import { shownPath } from '../messages/plain-text.js';
import type { PlanCheck } from '../plan/check-plan.js';
import type { PlannedStart } from '../plan/plan-difference.js';
import { optionNotes, plannedPrices, planSource, refuseInvalid, refuseSame } from '../plan/plan-source.js';

/**
 * Checks every row of a manifest and prices the run. Sends nothing; with `--check` only requests that cost nothing. Exit 0, or
 * the exit code of the check. Throws `UsageError` if a row is invalid.
 */
export async function planCommand({
  args: [name],
  raw: given,
  io,
  fault,
}: CommandCall<[string?]>): Promise<number> {
  const { raw, plan: saved } = await openPlan(name, given, io);
  const options = await withAxesFile(startOptions('plan', raw), io.cwd);
  const read = await readPrices(options.prices, io.cwd, options.endpoints);
  const prices = plannedPrices(read, options);
  const format = options.format ?? (options.follow ? 'jsonl' : undefined);
  const source = await findManifest(manifestOf('plan', name, saved), format, io);
  if (!options.quiet) noteUnused(given, io);
  const { save } = options;
  const sample = new RowSample();
  const planned =
    save !== undefined
      ? await (
          await import('../plan/save-plan.js')
        ).planAndSave(resolve(io.cwd, save), { raw, source, options, prices, sample }, io)
      : await planSource(source, options, { io, prices, sample });
  if (!options.quiet) for (const line of optionNotes(planned, options)) io.stderr.write(`${line}\n`);
  const compared = saved === undefined ? options : await withPlannedRows(options, saved);
  const start = { source, options: compared, prices, sample: sample.hashes };
  const difference = await differenceFrom(planned, start, io);
  const checked = await checkIfAsked(planned, { source, options }, io, fault);
  if (options.json) {
    const { name: from, prices: table, reserved } = listPrices(prices.table());
    io.stdout.write(
      `${JSON.stringify({ ...planJson(planned), ...(options.lowPriority && { lowPriority: true }), prices: table, priceTable: from, ...(Object.keys(reserved).length > 0 && { reserved }), ...difference?.json, ...checked?.json })}\n`,
    );
  } else if (!options.quiet) {
    const used = prices.table();
    // The published prices are only those of edits.
    const isUsed = planned.byKind.edit > 0 || listPrices(used).name !== 'published';
    const price = `  price        ${priceText(planned.cost, options.local)}`;
    const lines = [
      ...planText(planned, source.name),
      ...(isUsed ? [`  prices       ${priceTableText(used)}`] : []),
      ...reservedText(used),
      price,
      ...(difference?.text ?? []),
      ...(checked?.text ?? []),
    ];
    io.stdout.write(`${lines.join('\n')}\n`);
  }
  refuseInvalid(planned, source, options, io);
  refuseSame(difference?.same ?? planned.same, options, source.name);
  const { path } = source;
  if (saved !== undefined && path !== undefined) {
    const { holdManifestToPlan } = await import('../plan/hold-to-plan.js');
    await holdManifestToPlan(saved, { source: { ...source, path }, options, prices });
  }
  for (const line of checked?.problems ?? []) io.stderr.write(`${line}\n`);
  return checked?.exitCode ?? 0;
}

/** Prints which of the given options of `run` have no effect on a plan, and which a saved one does not keep. */
function noteUnused(given: RawOptions, io: CliIo): void {
  const flags = (isMeant: (option: ListedOption) => boolean): string =>
    optionsOf('plan')
      .filter(({ name, row }) => given[name] !== undefined && given[name] !== row.isOn)
      .filter(isMeant)
      .map(({ name }) => flagOf(name))
      .join(', ');
  const unused = flags(({ unused }) => unused === true);
  if (unused !== '') io.stderr.write(`note: a plan does not depend on ${unused}\n`);
  if (given['save'] === undefined) return;
  const again = flags(({ row }) => row.isChoice === true && row.isPlanned !== true);
  if (again !== '') io.stderr.write(`note: --save does not keep ${again}: give it to run --plan as well\n`);
}

/** What a start would do to the run in the folder; nothing if the manifest must be corrected first. */
async function differenceFrom(
  planned: Plan,
  start: PlannedStart,
  io: CliIo,
): Promise<{ text: string[]; json: object; same: Plan['same'] } | undefined> {
  const { options } = start;
  if (planned.invalid > 0 && !options.skipInvalid) return undefined;
  if (!describesStart(options) && (await isOfNoRun(start, io))) return undefined;
  const { planDifference } = await import('../plan/plan-difference.js');
  const found = await planDifference(start, io);
  if (found === undefined) return undefined;
  const { differenceJson, differenceText } = await import('../messages/ahead-text.js');
  return {
    text: differenceText(found, shownPath(found.out, io.cwd), options.local),
    json: differenceJson(found),
    same: found.ahead.same,
  };
}

/** Without hosts, runs against any host count. */
const anyHost = { baseUrl: '', lbBaseUrl: '' };

/**
 * Whether no folder can hold this run yet: not the output folder, not the one that the manifest came from, and not that of
 * another run of this manifest or its rows. Then the comparison is not loaded, which would take most of the time of a small
 * plan.
 */
async function isOfNoRun({ source, options, sample }: PlannedStart, io: CliIo): Promise<boolean> {
  if (source.path === undefined) return true;
  if (isOfFailures(source.path)) return false;
  const found = await stat(outFolder(source, options.out, options.local, io.cwd)).catch(
    (error: unknown) => (error as NodeJS.ErrnoException).code,
  );
  if (found !== 'ENOENT' || options.local) return found === 'ENOENT';
  const of = { manifest: source.path, sample, ...anyHost };
  return !(await isAnyRunOf(nodeDisk, of));
}

/** Sends no requests if the manifest must be corrected first. */
async function checkIfAsked(
  planned: Plan,
  { source, options }: { source: ManifestSource; options: PlanOptions },
  io: CliIo,
  fault: FaultContext,
): Promise<PlanCheck | undefined> {
  if (!options.check || (planned.invalid > 0 && !options.skipInvalid)) return undefined;
  const { checkPlan } = await import('../plan/check-plan.js');
  return checkPlan(source, options, io, fault);
}
