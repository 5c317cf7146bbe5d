import { catchError, firstValueFrom, map, of, timeout } from 'rxjs';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import type { RowSettlement } from '../../batch/index.js';
import { nodeDisk } from '../../batch/formats.js';
import { peekJournal, type RowRecords } from '../../batch/internal.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { trackConnections } from '../io/track-connections.js';
import { UsageError } from '../io/usage-error.js';
import { readApiKey } from '../service/read-api-key.js';
import type { OptionsOf } from '../options/option-table.js';
import { serviceSettings } from '../service/service-settings.js';
import { countOf } from '../messages/number-text.js';
import { plainText } from '../messages/plain-text.js';
import { resolve } from 'node:path';
import { toUsd } from '../../../src/contract/micro-dollars.js';
import { reconcileRun, type Reconciliation } from '../../report/reconcile/reconcile-run.js';
import { explainStatement } from './reconcile-command.js';

const jobPatienceMs = 30_000;

type SettleArguments = OptionsOf<'settle'>;

interface Asking {
  readonly options: SettleArguments;
  readonly io: CliIo;
  readonly fault: FaultContext;
}

/**
 * Asks the service for a job before a row is settled with it: a wrong id would end the row as expired. The emulator of a
 * rehearsal is gone by then and is not asked. Throws `UsageError` where the service does not know the job, or cannot be
 * asked, unless `--yes` says to go on.
 */
export async function askForJob(folder: string, id: string, jobId: string, asking: Asking): Promise<void> {
  const { options, io } = asking;
  const journal = await peekJournal(nodeDisk, folder);
  const row = await journal?.find(id);
  const { identity } = journal?.recovered ?? {};
  if (row?.intent === undefined || identity === undefined || identity.local) return;
  const connections = trackConnections();
  const problem = await problemOf(row.intent.endpoint, jobId, identity.baseUrl, asking).finally(() =>
    connections.letGo(),
  );
  if (problem === undefined) return;
  if (options.yes) io.stderr.write(`warning: ${plainText(problem, 500)}\n`);
  else throw new UsageError([problem], 'nothing is settled; --yes settles it all the same');
}

async function problemOf(
  endpoint: string,
  jobId: string,
  baseUrl: string,
  { options, io, fault }: Asking,
): Promise<string | undefined> {
  const job = `job ${JSON.stringify(jobId)}`;
  // The key goes to a host that was named for this call, not to one that a file names.
  if (serviceSettings(options, io.env).baseUrl !== baseUrl)
    return `${job} was not asked for: the run is against ${baseUrl}, which neither --base-url nor MILLRACE_BASE_URL names`;
  const { key } = await readApiKey(options.apiKeyFile, io);
  fault.secrets.push(key);
  const client = createClient({ apiKey: key, baseUrl });
  return firstValueFrom(
    client
      .queue(endpoint, { retry: { maxRetries: 2 } })
      .status(jobId)
      .pipe(
        timeout(jobPatienceMs),
        map(() => undefined),
        catchError((error: unknown) => {
          const isUnknown = isMillraceError(error) && error.code === 'not-found';
          const why = error instanceof Error ? error.message : String(error);
          return of(
            isUnknown
              ? `the service does not know ${job} at the endpoint ${endpoint}: the id is wrong, or the job is older than it keeps them`
              : `${job} could not be asked for: ${why}`,
          );
        }),
      ),
  );
}

type Held = Reconciliation['held'][number];

/**
 * How a billing export says that held purchases ended: one charge that looks like a purchase is its job, or what it cost
 * where its row was bought again since; none means that it was not sent. `open`: a line for each purchase that several
 * charges may be, or that shares its charge with others. A person decides about these.
 *
 * @param ids only these rows; all where there are none
 */
export async function proposedSettlements(
  folder: string,
  ids: readonly string[],
  { statement = '', jobColumn: job, amountColumn: amount, timeColumn: time }: SettleArguments,
  io: Pick<CliIo, 'cwd'>,
): Promise<{ readonly rows: RowSettlement[]; readonly open: string[] }> {
  const { held } = await reconcileRun(folder, resolve(io.cwd, statement), {
    columns: { ...(job && { job }), ...(amount && { amount }), ...(time && { time }) },
  }).catch(explainStatement);
  const journal = await peekJournal(nodeDisk, folder);
  const rows: RowSettlement[] = [];
  const open: string[] = [];
  for (const one of held) {
    const { id, attempt } = one.purchase;
    if (ids.length > 0 && !ids.includes(id)) continue;
    const rivals = held.filter(
      (other) => other !== one && other.charges.some((charge) => one.charges.includes(charge)),
    );
    if (one.charges.length > 1 || rivals.length > 0) open.push(ambiguous(one, rivals));
    else rows.push(proposal(one, attempt, await journal?.find(id)));
  }
  return { rows, open };
}

const rivalsShown = 5;

/** A purchase that several charges may be, or that shares its charge with others: each charge settles at most one. */
function ambiguous({ purchase, charges }: Held, rivals: readonly Held[]): string {
  const many = charges.length > 1;
  const jobs = charges.map(({ jobId, lines }) => (jobId === '' ? `line ${lines[0]}` : `job ${jobId}`));
  const what = `${countOf(charges.length, 'charge')} of its price (${jobs.slice(0, rivalsShown).join(', ')})`;
  const names = rivals.slice(0, rivalsShown).map(({ purchase: other }) => nameOf(other));
  const more = rivals.length > names.length ? ', …' : '';
  const others = names.length === 0 ? '' : `, which may be of ${names.join(', ')}${more} as well`;
  return `${nameOf(purchase)}: the statement has ${what}${others}: not settled; look which ${many ? 'one' : 'row'} it is and settle it with --job`;
}

function nameOf({ id, attempt }: Held['purchase']): string {
  return attempt > 1 ? `${id}, attempt ${attempt}` : id;
}

function proposal({ purchase, charges }: Held, attempt: number, row: RowRecords | undefined): RowSettlement {
  const { id } = purchase;
  const [charge] = charges;
  const isLatest = row?.status === 'unknown' && (row.outcome?.purchase?.attempt ?? row.attempts) === attempt;
  const which = isLatest ? { id } : { id, attempt };
  if (charge === undefined) return { ...which, settlement: { notSent: true } };
  if (isLatest && charge.jobId !== '') return { ...which, settlement: { jobId: charge.jobId } };
  return { ...which, settlement: { paidUsd: toUsd(charge.amount) } };
}
