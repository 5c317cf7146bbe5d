import { Command } from 'commander';
import { version } from '../../src/contract/version.js';
import type { CliIo } from './io/cli-io.js';
import type { FaultContext } from './io/explain-error.js';
import { addFolderCommands, type Ended } from './add-folder-commands.js';
import { addEmulatorOptions, addRunOptions } from './options/add-run-options.js';

type Raw = Record<string, unknown>;

/** The commands with their options. What a command does is loaded when it runs, so that the help comes at once. */
export function buildProgram(io: CliIo, fault: FaultContext, ended: Ended): Command {
  const program = new Command('millrace')
    .description('Sends the rows of a manifest to serverless endpoints. Never pays twice, never loses a row.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => widthOf(io.stdout.columns),
      getErrHelpWidth: () => widthOf(io.stderr.columns),
    })
    .addHelpText('after', closingWords);
  addManifestCommands(program, io, fault, ended);
  addFolderCommands(program, io, fault, ended);
  addOtherCommands(program, io, fault, ended);
  addCompletion(program, io, ended);
  return program;
}

/** A terminal that does not know its size says 0. */
function widthOf(columns = 0): number {
  return columns > 0 ? columns : 100;
}

const closingWords = `
A <manifest> is a .csv, .jsonl or .ndjson file (each also .gz), or - for stdin with --format and --out.
The options of a command: millrace run --help. To begin: millrace plan <manifest>`;

const exitCodes = `
Exit codes: 0 every row completed, 1 some failed, 2 nothing was sent, 3 cost cap, 4 no row can succeed (key, endpoint,
TLS), 5 --halt, 6 rows are held as unknown, 69 service not reached, 70 fault of millrace, 74 disk or journal,
75 another process holds the run, 129, 130 and 143 interrupted. Run again to go on.`;

function addManifestCommands(program: Command, io: CliIo, fault: FaultContext, ended: Ended): void {
  addRunOptions(
    program
      .command('plan')
      .description('check every row and price the run; sends nothing. Takes the options of run')
      .argument('<manifest>')
      .option(
        '--check',
        'test the key, each endpoint and each reference picture, by requests that cost nothing',
      )
      .option('--save <FILE>', 'keep the plan, so that run --plan FILE does exactly that'),
  ).action(async (manifest: string, raw: Raw) => {
    const { planCommand } = await import('./commands/plan-command.js');
    ended(await planCommand(manifest, raw, io, fault));
  });
  addRunOptions(
    program
      .command('run')
      .description('do it; run again to go on')
      .argument('[manifest]', 'with --plan it is known')
      .option(
        '--follow',
        'with -: work the rows of an endless NDJSON stdin as they arrive; their ends go to stdout',
      )
      .option('--plan <FILE>', 'do exactly what a saved plan says, or nothing where something has changed')
      .option(
        '--db <URL|embedded>',
        'over many machines: workers do the rows, PostgreSQL is between (millrace worker)',
      )
      .option(
        '--metrics-file <FILE>',
        "figures for Prometheus' textfile collector, every 10 s and at the end",
      )
      .addHelpText('after', exitCodes),
  ).action(async (manifest: string | undefined, raw: Raw) => {
    const { runCommand } = await import('./commands/run-command.js');
    ended(await runCommand(manifest, raw, io, fault));
  });
}

function addOtherCommands(program: Command, io: CliIo, fault: FaultContext, ended: Ended): void {
  program
    .command('worker')
    .description('one more machine for the runs of a database, until it is stopped')
    .option('--db <URL|embedded>', 'the database of the runs: postgres://…, or embedded in the folder --out')
    .option('--out <DIR>', "with --db embedded: the run's folder, where its database is")
    .option(
      '--base-url <URL>',
      'host of the queue API (env MILLRACE_BASE_URL): it serves runs against this host',
    )
    .option('--lb-base-url <URL>', 'host of the routes (env MILLRACE_LB_BASE_URL)')
    .option('--api-key-file <FILE>', 'file with the API key (else env MILLRACE_API_KEY)')
    .option(
      '--artifacts <DIR>',
      "the run's folder, where this machine shares it: pictures are saved from here",
    )
    .option('--slots <N>', 'requests and downloads at once (default: 64)')
    .option('--http <CLIENT>', 'got or undici: a quarter of the CPU, to be installed beside (default: got)')
    .option('--quiet', 'only what needs a person')
    .action(async (raw: Raw) => {
      const { workerCommand } = await import('./commands/worker-command.js');
      ended(await workerCommand(raw, io, fault));
    });
  addEmulatorOptions(
    program
      .command('serve')
      .description('the emulator on a port of this machine')
      .option('--port <N>', 'port to listen on (default: any free one)')
      .option('--key <KEY>', 'the API key that it takes (default: millrace-emulator-key)'),
  ).action(async (raw: Raw) => {
    const { serveCommand } = await import('./commands/serve-command.js');
    ended(await serveCommand(raw, io));
  });
  addRunOptions(
    program
      .command('config')
      .description('print what a run would go by, and where each value is from; takes the options of run')
      .argument('[manifest]'),
  ).action(async (manifest: string | undefined, raw: Raw) => {
    const { configCommand } = await import('./commands/config-command.js');
    ended(await configCommand(manifest, raw, io));
  });
  program
    .command('init')
    .description('write a manifest of the pictures in a folder')
    .argument('<folder>')
    .requiredOption('--prompt <TEXT>', 'what is to be done with each picture')
    .option('--out <FILE>', 'the manifest (default: edits.csv in the folder)')
    .action(async (folder: string, raw: { prompt: string; out?: string }) => {
      const { initCommand } = await import('./commands/init-command.js');
      ended(await initCommand(folder, raw, io));
    });
}

function addCompletion(program: Command, io: CliIo, ended: Ended): void {
  program
    .command('completion')
    .description('print a script that completes commands, options and files')
    .argument('<shell>', 'bash or zsh')
    .action(async (shell: string) => {
      const { completionCommand } = await import('./commands/completion-command.js');
      ended(completionCommand(shell, program, io));
    });
}
