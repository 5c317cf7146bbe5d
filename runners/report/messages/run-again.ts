import { isAbsolute, join } from 'node:path';
import { shellWords } from '../../batch/manifest/quote-value.js';
import type { Disk } from '../../batch/disk/disk.js';
import type { RunIdentity } from '../../batch/journal/record.js';
import type { ReachedCap } from '../../batch/ledger/value-caps.js';

/** The parts of commands about a run. */
export interface RunCommand {
  /** Path of the run's first manifest; empty if rows arrived without one. */
  readonly manifest: string;
  readonly folder: string;
  /** The options that a later start of the same run needs: `--local`, `--base-url`, `--endpoint`, a cap. */
  readonly options: readonly string[];
  /** A rehearsal against the embedded emulator: nothing was spent. */
  readonly isRehearsal: boolean;
  /** The name of a folder that does not exist yet. */
  readonly another: string;
  /** The manifest of the last start with its options, if it is another one. The rows to go are in it. */
  readonly latest?: OfManifest | undefined;
  /** The run's manifests, except the first, by their absolute paths. */
  readonly others?: ReadonlyMap<string, OfManifest>;
  /** Options of the last start that only its rows to go need. */
  readonly toGo?: readonly string[];
}

/** A manifest of a run, as a command writes it, and the options for it. */
export type OfManifest = Pick<RunCommand, 'manifest' | 'options'>;

export interface StartFacts extends RunIdentity {
  readonly manifest: string;
  /** Options of its command line that a later start needs as well, as the run noted them. */
  readonly repeat: { readonly manifest: readonly string[]; readonly others: readonly string[] };
  /** USD: the cap of the start, unless the configuration sets it. */
  readonly maxCost: number | undefined;
  /** USD: the cap of the start, from any source. */
  readonly cap?: number;
  /** Whether bought rows that had changed were bought again (`--changed redo`). */
  readonly redoes?: boolean;
}

/**
 * How commands name the run: with its first manifest, because a later one (of rejected rows, for example) may have only some of
 * the rows, and with the options of its last start. For rows of later manifests see `forRowsToGo` and `forRowsOf`.
 *
 * @param starts the starts of the run, the first one at least
 * @param folders as the commands write them
 */
export function runAgainCommand(
  starts: readonly Pick<StartFacts, 'manifest' | 'repeat'>[],
  last: StartFacts,
  folders: Pick<RunCommand, 'folder' | 'another'>,
): RunCommand {
  const [first = last] = starts;
  const isSame = first.manifest === last.manifest;
  const later = [...starts, last].filter(({ manifest }) => manifest !== first.manifest);
  const named = ({ manifest, repeat }: Pick<StartFacts, 'manifest' | 'repeat'>) => ({
    // It is not a path if rows arrived one by one.
    manifest: isAbsolute(manifest) ? manifest : '',
    options: optionsOf(last, repeat.manifest),
  });
  return {
    ...folders,
    ...named(isSame ? last : first),
    ...(!isSame && { latest: named(last) }),
    ...(later.length > 0 && { others: new Map(later.map((start) => [start.manifest, named(start)])) }),
    ...(last.redoes === true && { toGo: ['--changed', 'redo'] }),
    isRehearsal: last.local,
  };
}

/** The same run with the manifest of its last start, which certainly has the rows that this start left. */
export function forRowsToGo({ latest, toGo = [], ...run }: RunCommand): RunCommand {
  const { manifest, options } = latest ?? run;
  return { ...run, manifest, options: [...options, ...toGo] };
}

/** The same run with the manifest at this path, for rows that may be in no other; without a path, with the first. */
export function forRowsOf(run: RunCommand, manifest: string | undefined): RunCommand {
  return manifest === undefined ? run : { ...run, ...run.others?.get(manifest) };
}

/** The same run with an earlier manifest, for rows to go that the last one may not have. */
export function forEarlierRows(run: RunCommand, manifest: string | undefined): RunCommand {
  return { ...forRowsOf(run, manifest), latest: undefined };
}

/** `out-again`, or the first of `out-again-2`, `out-again-3` … that does not exist. */
export async function anotherFolder(disk: Pick<Disk, 'stat'>, folder: string): Promise<string> {
  const name = `${folder.replace(/-again(?:-\d+)?$/, '')}-again`;
  let free = name;
  for (let number = 2; (await disk.stat(free)) !== undefined; number++) free = `${name}-${number}`;
  return free;
}

/** The options for a manifest that the gallery wrote: options about the first manifest are left out. */
export function optionsToRedo(last: StartFacts): readonly string[] {
  return withoutFaults({ options: optionsOf(last, []) }).options;
}

function optionsOf(start: StartFacts, ofManifest: readonly string[]): string[] {
  const { local, baseUrl, lbBaseUrl, repeat, maxCost } = start;
  return [
    ...(local ? ['--local'] : baseUrl === '' ? [] : ['--base-url', baseUrl]),
    ...(local || lbBaseUrl === '' ? [] : ['--lb-base-url', lbBaseUrl]),
    ...ofManifest,
    ...repeat.others,
    ...(maxCost === undefined ? [] : ['--max-cost', String(maxCost)]),
  ];
}

/** The command that continues the run, with further arguments. */
export function runAgain(run: RunCommand, ...more: readonly string[]): string | undefined {
  return commandOn('run', run, more);
}

export function runElsewhere(run: RunCommand): string | undefined {
  return commandOn('run', run, [], run.another);
}

export function withoutOption<T extends Pick<RunCommand, 'options'>>(run: T, option: string): T {
  const at = run.options.indexOf(option);
  return at < 0 ? run : { ...run, options: run.options.toSpliced(at, 2) };
}

/** For rows that are sent again: the emulator draws its faults from a seed, so the same rows would get the same faults. */
export function withoutFaults<T extends Pick<RunCommand, 'options'>>(run: T): T {
  return withoutOption(run, '--faults');
}

/** The command that prices the rest of the run without these caps. Sends nothing. */
export function priceRest(run: RunCommand, caps: readonly ReachedCap[]): string | undefined {
  const lifted = caps.flatMap(({ option, column }) =>
    option === 'max-cost-per-day' ? [] : [`--${option}`, column === undefined ? 'none' : `${column}=none`],
  );
  const given = caps.map(({ option }) => run.options.indexOf(`--${option}`)).filter((at) => at >= 0);
  const options = run.options.filter((_, at) => !given.includes(at) && !given.includes(at - 1));
  return commandOn('plan', { ...run, options }, lifted);
}

/** A manifest from stdin is passed through stdin again, because its pictures are relative to the working directory. */
function commandOn(
  command: 'run' | 'plan',
  { manifest, folder, options }: RunCommand,
  more: readonly string[],
  out = folder,
): string | undefined {
  if (manifest === '') return undefined;
  const isKept = ['manifest.csv', 'manifest.jsonl'].some((name) => join(folder, name) === manifest);
  const name = isKept ? '-' : asOperand(manifest);
  const words = shellWords('millrace', command, name, '--out', asOperand(out), ...options, ...more);
  return isKept ? `${words} < ${shellWords(manifest)}` : words;
}

/** Puts a folder before a name that begins with `-`. */
function asOperand(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}
