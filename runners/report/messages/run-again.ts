import { isAbsolute, join } from 'node:path';
import { shellWords } from '../../batch/manifest/quote-value.js';
import type { Disk } from '../../batch/disk/disk.js';
import type { ReachedCap } from '../../batch/ledger/value-caps.js';

/** What commands about a run have to name. */
export interface RunCommand {
  /** Path of the run's first manifest; the empty string where rows arrived without one. */
  readonly manifest: string;
  readonly folder: string;
  /** What a later start needs to be the same run: `--local`, `--base-url`, `--endpoint`, a cap. */
  readonly options: readonly string[];
  /** A rehearsal against the embedded emulator: nothing was spent. */
  readonly isRehearsal: boolean;
  /** A folder that is not there yet. */
  readonly another: string;
}

/** What a start went by. */
export interface StartFacts {
  /** Path of its manifest. */
  readonly manifest: string;
  readonly local: boolean;
  /** The empty string where there was none. */
  readonly baseUrl: string;
  readonly lbBaseUrl: string;
  /** Options of its command line that a later start needs as well, as the run noted them. */
  readonly repeat: { readonly manifest: readonly string[]; readonly others: readonly string[] };
  /** USD: the cap that held for it, unless the configuration says it again. */
  readonly maxCost: number | undefined;
  /** USD: the cap that held for it, wherever it was from. */
  readonly cap?: number;
}

/**
 * What names the run in commands: its first manifest, because a later one (of rejected rows, say) may hold but a part of
 * the rows, and what the last start went by.
 *
 * @param first the run's first start
 * @param folders as the commands are to show them
 */
export function runAgainCommand(
  first: Pick<StartFacts, 'manifest' | 'repeat'>,
  last: StartFacts,
  folders: Pick<RunCommand, 'folder' | 'another'>,
): RunCommand {
  const { manifest, repeat } = first.manifest === last.manifest ? last : first;
  return {
    // Where rows arrived one by one it is no path.
    manifest: isAbsolute(manifest) ? manifest : '',
    ...folders,
    options: optionsOf(last, repeat.manifest),
    isRehearsal: last.local,
  };
}

/** `out-again`, or the first of `out-again-2`, `out-again-3` … that is not there. */
export async function anotherFolder(disk: Pick<Disk, 'stat'>, folder: string): Promise<string> {
  const name = `${folder.replace(/-again(?:-\d+)?$/, '')}-again`;
  let free = name;
  for (let number = 2; (await disk.stat(free)) !== undefined; number++) free = `${name}-${number}`;
  return free;
}

/** The options of a start with a manifest that the gallery has written: those about the first manifest are left out. */
export function optionsToRedo(last: StartFacts): string[] {
  return optionsOf(last, []);
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

/** The command that goes on with the run, with further words. */
export function runAgain(run: RunCommand, ...more: readonly string[]): string | undefined {
  return commandOn('run', run, more);
}

/** The command that makes the whole run once more, in a folder of its own. */
export function runElsewhere(run: RunCommand): string | undefined {
  return commandOn('run', run, [], run.another);
}

/** The same run without an option and its value. */
export function withoutOption(run: RunCommand, option: string): RunCommand {
  const at = run.options.indexOf(option);
  return at < 0 ? run : { ...run, options: run.options.toSpliced(at, 2) };
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

/** A manifest that came through stdin goes through it again: its pictures are relative to the working directory. */
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

/** A name that begins like an option is none with a folder before it. */
function asOperand(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}
