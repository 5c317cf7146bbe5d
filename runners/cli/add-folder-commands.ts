import type { Command } from 'commander';
import type { CliIo } from './io/cli-io.js';
import type { FaultContext } from './io/explain-error.js';

type Raw = Record<string, unknown>;
/** Notes the exit code that a command ends with. */
export type Ended = (exitCode: number) => void;

/** The commands that look at a run's folder, or mend it, and need no manifest. */
export function addFolderCommands(program: Command, io: CliIo, fault: FaultContext, ended: Ended): void {
  addTellingCommands(program, io, fault, ended);
  addMendingCommands(program, io, fault, ended);
  addComparingCommands(program, io, ended);
}

/** Where the run stands, once. */
function addTellingCommands(program: Command, io: CliIo, fault: FaultContext, ended: Ended): void {
  program
    .command('status')
    .description('where a run stands, also while it runs')
    .argument('<out>')
    .option('--db <URL>', 'the database of a run over many machines (default: as its folder notes it)')
    .option('--json', 'as one JSON object on stdout')
    .action(async (out: string, raw: Raw) => {
      const { statusCommand } = await import('./commands/status-command.js');
      ended(await statusCommand(out, raw, io));
    });
  program
    .command('report')
    .description('write report.html')
    .argument('<out>')
    .action(async (out: string) => {
      const { reportCommand } = await import('./commands/report-command.js');
      ended(await reportCommand(out, io, fault));
    });
}

function addMendingCommands(program: Command, io: CliIo, fault: FaultContext, ended: Ended): void {
  program
    .command('settle')
    .description('end held rows by hand')
    .argument('<out>')
    .argument('[id...]', 'ids of rows; with --statement all that are held')
    .option(
      '--job <ID>',
      'it was accepted under this job id, which is asked for first: the next start polls it',
    )
    .option('--paid <USD>', 'it was accepted and cost this, and its result is given up')
    .option('--not-sent', 'it never reached the service: the next start sends it')
    .option(
      '--undo',
      'take back --job or --not-sent, before a start has acted on it: the rows are held again',
    )
    .option('--attempt <N>', 'of a row that was bought again since: what is held for its attempt N')
    .option('--statement <FILE>', 'what reconcile proposes by a billing export (CSV), after a question')
    .option('--job-column <NAME>', "the export's column with the job id (default: by usual names)")
    .option('--amount-column <NAME>', 'its column with the amount in USD (default: by usual names)')
    .option('--time-column <NAME>', 'its column with the time, if it has one (default: by usual names)')
    .option('--yes', 'do not ask; also settle on a job that the service does not know')
    .option('--base-url <URL>', 'host of the queue API, to ask for the job (env MILLRACE_BASE_URL)')
    .option('--api-key-file <FILE>', 'file with the API key, to ask for the job (else env MILLRACE_API_KEY)')
    .option('--db <URL>', 'the database of a run over many machines (default: as its folder notes it)')
    .action(async (out: string, ids: string[], raw: Raw) => {
      const { settleCommand } = await import('./commands/settle-command.js');
      ended(await settleCommand(out, ids, raw, io, fault));
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
      const { refetchCommand } = await import('./commands/refetch-command.js');
      ended(await refetchCommand(out, raw, io, fault));
    });
}

/** The run while it goes, and beside what was billed. */
function addComparingCommands(program: Command, io: CliIo, ended: Ended): void {
  program
    .command('watch')
    .description('the report on a page of this machine, live: before, while and after a run')
    .argument('<out>')
    .option('--port <N>', 'port to listen on (default: any free one)')
    .action(async (out: string, raw: Raw) => {
      const { watchCommand } = await import('./commands/report-command.js');
      ended(await watchCommand(out, raw, io));
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
      const { reconcileCommand } = await import('./commands/reconcile-command.js');
      ended(await reconcileCommand(out, raw, io));
    });
}
