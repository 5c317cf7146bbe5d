import { Command } from 'commander';
import { version } from '../../src/contract/version.js';
import type { CliIo } from './io/cli-io.js';
import type { FaultContext } from './io/explain-error.js';
import { addEmulatorOptions, addRunOptions } from './options/add-run-options.js';

type Raw = Record<string, unknown>;
/** Notes the exit code that a command ends with. */
type Ended = (exitCode: number) => void;

/** The commands with their options. What a command does is loaded when it runs, so that the help comes at once. */
export function buildProgram(io: CliIo, fault: FaultContext, ended: Ended): Command {
  const program = new Command('millrace')
    .description('Sends the rows of a manifest to serverless endpoints. Never pays twice, never loses a row.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
    })
    .addHelpText('after', closingWords);
  addManifestCommands(program, io, fault, ended);
  addFolderCommands(program, io, fault, ended);
  addBookCommands(program, io, ended);
  addOtherCommands(program, io, fault, ended);
  addCompletion(program, io, ended);
  return program;
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
    const { plan } = await import('./commands/plan.js');
    ended(await plan(manifest, raw, io, fault));
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
    const { run } = await import('./commands/run.js');
    ended(await run(manifest, raw, io, fault));
  });
}

function addFolderCommands(program: Command, io: CliIo, fault: FaultContext, ended: Ended): void {
  program
    .command('status')
    .description('where a run stands, also while it runs')
    .argument('<out>')
    .option('--db <URL>', 'the database of a run over many machines (default: as its folder notes it)')
    .option('--json', 'as one JSON object on stdout')
    .action(async (out: string, raw: Raw) => {
      const { status } = await import('./commands/status.js');
      ended(await status(out, raw, io));
    });
  program
    .command('report')
    .description('write report.html')
    .argument('<out>')
    .action(async (out: string) => {
      const { report } = await import('./commands/report.js');
      ended(await report(out, io, fault));
    });
  program
    .command('settle')
    .description('end a held row by hand')
    .argument('<out>')
    .argument('<id>')
    .option('--job <ID>', 'it was accepted under this job id: the next start polls it')
    .option('--paid <USD>', 'it was accepted and cost this, and its result is given up')
    .option('--not-sent', 'it never reached the service: the next start sends it')
    .option('--db <URL>', 'the database of a run over many machines (default: as its folder notes it)')
    .action(async (out: string, id: string, raw: Raw) => {
      const { settle } = await import('./commands/settle.js');
      ended(await settle(out, id, raw, io, fault));
    });
  program
    .command('refetch')
    .description('download the pictures that are missing, buy nothing')
    .argument('<out>')
    .option('--downloads <N>', 'pictures being saved at once (default: 4)')
    .option('--retries <N>', 'extra tries of each (default: 4)')
    .option('--quiet', 'only what needs a person')
    .option('--json', 'the summary as one JSON object on stdout, everything else on stderr')
    .action(async (out: string, raw: Raw) => {
      const { refetch } = await import('./commands/refetch.js');
      ended(await refetch(out, raw, io, fault));
    });
}

/** Those that only read. */
function addBookCommands(program: Command, io: CliIo, ended: Ended): void {
  program
    .command('watch')
    .description('the report on a page of this machine, live: before, while and after a run')
    .argument('<out>')
    .option('--port <N>', 'port to listen on (default: any free one)')
    .action(async (out: string, raw: Raw) => {
      const { watch } = await import('./commands/watch.js');
      ended(await watch(out, raw, io));
    });
  program
    .command('reconcile')
    .description("hold a run's purchases against a billing export; exit 0 when they are even, else 1")
    .argument('<out>')
    .requiredOption('--statement <FILE>', 'the export: CSV with a line a charge')
    .option('--job-column <NAME>', 'its column with the job id (default: by usual names)')
    .option('--amount-column <NAME>', 'its column with the amount in USD (default: by usual names)')
    .option('--time-column <NAME>', 'its column with the time, if it has one (default: by usual names)')
    .option('--json', 'as one JSON object on stdout')
    .action(async (out: string, raw: Raw) => {
      const { reconcile } = await import('./commands/reconcile.js');
      ended(await reconcile(out, raw, io));
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
    .option('--http <CLIENT>', 'got or undici: a fifth of the CPU, to be installed beside (default: got)')
    .option('--quiet', 'only what needs a person')
    .action(async (raw: Raw) => {
      const { worker } = await import('./commands/worker.js');
      ended(await worker(raw, io, fault));
    });
  addEmulatorOptions(
    program
      .command('serve')
      .description('the emulator on a port of this machine')
      .option('--port <N>', 'port to listen on (default: any free one)')
      .option('--key <KEY>', 'the API key that it takes (default: millrace-emulator-key)'),
  ).action(async (raw: Raw) => {
    const { serve } = await import('./commands/serve.js');
    ended(await serve(raw, io));
  });
  addRunOptions(
    program
      .command('config')
      .description('print what a run would go by, and where each value is from; takes the options of run')
      .argument('[manifest]'),
  ).action(async (manifest: string | undefined, raw: Raw) => {
    const { config } = await import('./commands/config.js');
    ended(await config(manifest, raw, io));
  });
  program
    .command('init')
    .description('write a manifest of the pictures in a folder')
    .argument('<folder>')
    .requiredOption('--prompt <TEXT>', 'what is to be done with each picture')
    .option('--out <FILE>', 'the manifest (default: edits.csv in the folder)')
    .action(async (folder: string, raw: { prompt: string; out?: string }) => {
      const { init } = await import('./commands/init.js');
      ended(await init(folder, raw, io));
    });
}

function addCompletion(program: Command, io: CliIo, ended: Ended): void {
  program
    .command('completion')
    .description('print a script that completes commands, options and files')
    .argument('<shell>', 'bash or zsh')
    .action(async (shell: string) => {
      const { completion } = await import('./commands/completion.js');
      ended(completion(shell, program, io));
    });
}
