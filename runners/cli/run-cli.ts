import { Command, CommanderError } from 'commander';
import { endings } from '../report/messages/status-label.js';
import { version } from '../../src/contract/version.js';
import type { CliIo, CommandCall, FaultContext, OutStream } from './io/cli-io.js';
import { wrapped } from './io/wrap-lines.js';
import { addOptions } from './options/option-table.js';
import type { CommandName } from './options/table/table-row.js';

/**
 * Runs the command that `argv` names and returns its exit code. The only entry of the command line; it uses the process only
 * through `streams`. Never throws, never exits.
 */
export async function runCli(argv: readonly string[], streams: CliIo): Promise<number> {
  const isScript = argv[0] === 'completion';
  const io = isScript ? streams : withWrappedLines(streams);
  let exitCode = 0;
  const fault: FaultContext = { secrets: [io.env['MILLRACE_API_KEY'] ?? ''] };
  const explain = async (error: unknown) =>
    (await import('./io/explain-error.js')).explainError(error, io, fault);
  io.onFault(explain);
  const program = buildProgram(argv, io, fault, (code) => void (exitCode = code));
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    // commander has already printed the help, the version, or the problem with the command.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return explain(error);
  }
}

/** Wraps the lines of streams, without opening streams that are not used. */
function withWrappedLines(streams: CliIo): CliIo {
  let stdout: OutStream | undefined;
  let stderr: OutStream | undefined;
  return Object.defineProperties(Object.create(streams) as CliIo, {
    stdout: { get: () => (stdout ??= wrapped(streams.stdout)) },
    stderr: { get: () => (stderr ??= wrapped(streams.stderr)) },
  });
}

interface CommandEntry {
  readonly name: CommandName | 'completion';
  readonly about: string;
  /** The arguments in commander's notation, each with a description unless its name explains it. */
  readonly args?: readonly (readonly [notation: string, meaning?: string])[];
  readonly after?: string;
  /** Loads the command's implementation, which returns the exit code. The help does not load it. */
  readonly load: () => Promise<(call: CommandCall<never>) => number | Promise<number>>;
}

const exitCodes = `
Exit codes: 0 every row completed, 1 some failed, 2 nothing was sent, 3 ${endings[3]},
4 no row left can succeed (key, endpoint, TLS), 5 --halt, 6 rows are in doubt, 69 service not reached, 70 fault of millrace,
74 disk or journal, 75 another process holds the run, 129, 130 and 143 interrupted. Run again to continue.`;

const commands: readonly CommandEntry[] = [
  {
    name: 'plan',
    about: 'check every row and price the run; sends nothing; takes the options of run',
    args: [['[manifest]', 'not needed with --plan']],
    load: async () => (await import('./commands/plan-command.js')).planCommand,
  },
  {
    name: 'run',
    about: 'send the rows of a manifest; run it again to continue',
    args: [['[manifest]', 'not needed with --plan']],
    after: exitCodes,
    load: async () => (await import('./commands/run-command.js')).runCommand,
  },
  {
    name: 'status',
    about: 'show where a run stands, also while it runs',
    args: [['<out>']],
    load: async () => (await import('./commands/status-command.js')).statusCommand,
  },
  {
    name: 'report',
    about: 'write report.html for a run',
    args: [['<out>']],
    load: async () => (await import('./commands/report-command.js')).reportCommand,
  },
  {
    name: 'settle',
    about: 'decide about rows in doubt',
    args: [['<out>'], ['[id...]', 'ids of rows; with --statement, all rows in doubt by default']],
    load: async () => (await import('./commands/settle-command.js')).settleCommand,
  },
  {
    name: 'refetch',
    about: 'download missing pictures; buys nothing',
    args: [['<out>']],
    load: async () => (await import('./commands/refetch-command.js')).refetchCommand,
  },
  {
    name: 'pick',
    about: 'copy the pictures that you kept in the report, by the chosen.csv that it saves',
    args: [['<out>'], ['[list]', 'chosen.csv (default: the newest one of this run)']],
    load: async () => (await import('./commands/pick-command.js')).pickCommand,
  },
  {
    name: 'watch',
    about: 'show the report live on a page of this machine, before, during and after a run',
    args: [['<out>']],
    load: async () => (await import('./commands/report-command.js')).watchCommand,
  },
  {
    name: 'reconcile',
    about: "compare a run's purchases with a billing export; exit 0 when they are even, else 1",
    args: [['<out>']],
    load: async () => (await import('./commands/reconcile-command.js')).reconcileCommand,
  },
  {
    name: 'worker',
    about: 'work on the runs of a database, until it is stopped',
    load: async () => (await import('./commands/worker-command.js')).workerCommand,
  },
  {
    name: 'serve',
    about: 'run the emulator on a port of this machine',
    load: async () => (await import('./commands/serve-command.js')).serveCommand,
  },
  {
    name: 'config',
    about: 'print the settings of a run and where each is from; takes the options of run',
    args: [['[manifest]']],
    load: async () => (await import('./commands/config-command.js')).configCommand,
  },
  {
    name: 'init',
    about: 'write a manifest of the pictures in a folder',
    args: [['<folder>']],
    load: async () => (await import('./commands/init-command.js')).initCommand,
  },
  {
    name: 'completion',
    about: 'print a script that completes commands, options and files',
    args: [['<shell>', 'bash or zsh']],
    load: async () => (await import('./commands/completion-command.js')).completionCommand,
  },
];

const closingWords = `
A <manifest> is a .csv, .jsonl or .ndjson file (each also .gz), or - for stdin with --format and --out.
The options of a command: millrace <command> --help. To begin: millrace plan <manifest>`;

/**
 * Declares the command of this call, or all commands if it names none. For completion, every command has its options. A
 * command's implementation is loaded only when it runs, so that the help appears at once.
 */
function buildProgram(
  argv: readonly string[],
  io: CliIo,
  fault: FaultContext,
  ended: (exitCode: number) => void,
): Command {
  const program = new Command('millrace')
    .description('Sends the rows of a manifest to serverless endpoints. Never pays twice, never loses a row.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: io.printPage ?? ((text) => void io.stdout.write(text)),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => widthOf(io.printPage ? undefined : io.stdout.columns),
      getErrHelpWidth: () => widthOf(io.stderr.columns),
      // Help has no colours. Without these, commander opens both streams to find out whether it must remove any.
      getOutHasColors: () => true,
      getErrHasColors: () => true,
      outputError: (text, write) => write(withHint(text, argv)),
    })
    .addHelpText('after', closingWords);
  const isScript = argv[0] === 'completion';
  const called = isScript ? [] : commands.filter(({ name }) => name === argv[0]);
  for (const { name, about, args = [], after, load } of called[0] === undefined ? commands : called) {
    const command = program.command(name).description(about);
    for (const [notation, meaning] of args) command.argument(notation, meaning);
    // The last two arguments are the options and the command itself.
    command.action(async (...given: unknown[]) => {
      const raw = given.at(-2) as CommandCall['raw'];
      const args = given.slice(0, -2) as never;
      // Loaded before an error can happen, because then the package may be gone, or too many files may be open.
      await import('./io/explain-error.js');
      const work = async () => (await load())({ args, raw, io, fault, program });
      if (raw['profile'] !== true) return ended(await work());
      const { profiled } = await import('./io/profiled.js');
      return ended(await profiled(name, work, io, fault));
    });
    if (name !== 'completion' && (isScript || argv.includes(name)))
      addOptions(command, name, called[0] && argv);
    if (after !== undefined) command.addHelpText('after', after);
  }
  return program;
}

/** commander's error, and the command that shows the help. */
function withHint(text: string, argv: readonly string[]): string {
  if (text.includes('(Did you mean')) return text;
  const command = commands.find(({ name }) => name === argv[0]);
  if (text.includes("missing required argument 'out'"))
    return `${text}  name the output folder of a run, as in: millrace ${argv[0] ?? ''} edits.out\n`;
  if (!text.includes('unknown option') && !text.includes('unknown command')) return text;
  if (/unknown option '-[^-'][^']*[ ./]/.test(text))
    return `${text}  a path that begins with a dash is written with ./ before it\n`;
  if (command !== undefined) return `${text}  its options: millrace ${command.name} --help\n`;
  const isAhead = commands.some(({ name }) => argv.includes(name));
  return `${text}  ${isAhead ? 'options stand behind the command: millrace run edits.csv --max-cost 5' : 'the commands: millrace --help'}\n`;
}

/** A usual width for a terminal that reports 0 because it does not know its own. */
const widthOf = (columns = 0): number => (columns > 0 ? columns : 100);
