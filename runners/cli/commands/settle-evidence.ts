import { catchError, firstValueFrom, map, of, timeout } from 'rxjs';
import { errorText, isMillraceError } from '../../../src/contract/millrace-error.js';
import { redact } from '../../../src/contract/redact.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import type { RowSettlement } from '../../batch/index.js';
import { nodeDisk, shellWords } from '../../batch/formats.js';
import { peekJournal, type RowFacts, type RowRecords, signaturesIn, withRows } from '../../batch/internal.js';
import type { CliIo, FaultContext } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { trackConnections } from '../io/track-connections.js';
import { loadConfig } from '../options/load-config.js';
import { commandOptions } from '../options/parse-options.js';
import { readApiKey, serviceSettings } from '../service/service-settings.js';
import type { OptionsOf } from '../options/option-table.js';
import { countOf, plainText, shownPath } from '../messages/plain-text.js';
import { isAbsolute } from 'node:path';
import { toUsd } from '../../../src/contract/micro-dollars.js';
import { nameOfCharge, whyBlind } from '../../report/reconcile/describe-reconciliation.js';
import type { Reconciliation } from '../../report/reconcile/reconcile-run.js';
import { claimsOn } from '../../report/reconcile/suspect-charges.js';
import { reconciled } from './reconcile-command.js';

const jobPatienceMs = 30_000;

export type SettleArguments = OptionsOf<'settle'>;

interface Asking {
  readonly options: SettleArguments;
  readonly io: CliIo;
  readonly fault: FaultContext;
}

/**
 * Asks the service for a job before a row is settled with it, because a wrong id would end the row as expired. Not in a
 * rehearsal, whose emulator has ended. Throws `UsageError` if the service does not know the job or cannot be asked, unless
 * `--yes` was given.
 */
export async function askForJob(folder: string, id: string, jobId: string, asking: Asking): Promise<void> {
  const { options, io } = asking;
  const journal = await peekJournal(nodeDisk, folder);
  const row = await journal?.find(id);
  const { identity, manifests = [] } = journal?.recovered ?? {};
  if (row?.intent === undefined || identity === undefined || identity.local) return;
  const named = await namedService(options, manifests.at(-1), io);
  const connections = trackConnections();
  const problem = await problemOf(
    { row: row.intent, jobId, baseUrl: identity.baseUrl },
    named,
    asking,
  ).finally(() => connections.letGo());
  if (problem === undefined) return;
  if (options.yes) io.stderr.write(`warning: ${plainText(problem.text, 500)}\n`);
  else throw new UsageError([problem.text], `nothing is settled: ${problem.instead}`);
}

type NamedService = Pick<SettleArguments, 'baseUrl' | 'apiKeyFile'>;

/** The base URL and the key file: from the options, the environment, or the configuration beside the run's manifest. */
export async function namedService(
  { baseUrl, apiKeyFile }: NamedService,
  manifest: string | undefined,
  io: Pick<CliIo, 'cwd' | 'env'>,
): Promise<NamedService> {
  const given = { ...(baseUrl && { baseUrl }), ...(apiKeyFile && { apiKeyFile }) };
  const isPath = manifest !== undefined && isAbsolute(manifest);
  const { raw } = await loadConfig(given, isPath ? manifest : undefined, io);
  const known = commandOptions('settle', { baseUrl: raw['baseUrl'], apiKeyFile: raw['apiKeyFile'] });
  return { ...known, baseUrl: serviceSettings(known, io.env).baseUrl };
}

interface Asked {
  readonly row: Pick<RowFacts, 'endpoint' | 'request'>;
  readonly jobId: string;
  /** The host of the run. */
  readonly baseUrl: string;
}

/** The reason if the job may not be the row's, and what to do instead. */
async function problemOf(
  { row: { endpoint, request }, jobId, baseUrl }: Asked,
  named: NamedService,
  { io, fault }: Asking,
): Promise<{ readonly text: string; readonly instead: string } | undefined> {
  const job = `job ${JSON.stringify(jobId)}`;
  const instead = '--yes settles it all the same';
  // The key goes only to a host from the options, environment or configuration, never to one from the run's files.
  if (named.baseUrl !== baseUrl)
    return {
      text: `${job} was not looked up: the run is against ${baseUrl}, which is not the host that --base-url, MILLRACE_BASE_URL or the configuration names`,
      instead: `add --base-url ${baseUrl}, or --yes to settle it without looking it up`,
    };
  const { key } = await readApiKey(named.apiKeyFile, io);
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
          const why = redact(errorText(error), signaturesIn(request));
          if (!isUnknown) return of({ text: `${job} could not be looked up: ${why}`, instead });
          return of({
            text: `the service does not know ${job} at the endpoint ${endpoint}: the id is wrong, or the job is older than it keeps them (those of /runsync for a minute)`,
            instead: `if your account shows that it was charged, record that with --paid USD; ${instead}`,
          });
        }),
      ),
  );
}

type Held = Reconciliation['held'][number];

interface OpenPurchase extends Held {
  /** Whether the row was not bought again since, and can still be polled. */
  readonly isLatest: boolean;
}

/**
 * How held purchases ended according to a billing export. A single charge that matches a purchase is its job, or its cost if
 * its row was bought again since. Without such a charge it was not sent. `open` has purchases that match the same charges as
 * others, about which a person must decide.
 *
 * @param ids only these rows; all if empty
 */
export async function proposedSettlements(
  folder: string,
  ids: readonly string[],
  options: SettleArguments,
  io: Pick<CliIo, 'cwd'>,
): Promise<{ readonly rows: RowSettlement[]; readonly open: Undecided[] }> {
  const { held, byHand } = await reconciled(folder, options.statement ?? '', options, io);
  const journal = await peekJournal(nodeDisk, folder);
  const claims = claimsOn(held);
  const named = new Set(ids);
  const asked = held.filter(({ purchase }) => named.size === 0 || named.has(purchase.id));
  const rows: RowSettlement[] = [];
  const open = new Map<string, OpenPurchase[]>();
  const beyond: Undecided[] = [];
  const found = journal && withRows(journal, asked, ({ purchase }) => purchase.id);
  for await (const [one, row] of found ?? []) {
    const isLatest = isLatestPurchase(row, one.purchase.attempt);
    const charges = `${one.charges.map(nameOfCharge).join(' ')}${one.hasMore ? ' …' : ''}`;
    const blind = one.charges.length === 0 ? whyBlind(one) : undefined;
    if (isAskedFor(row, one)) {
      const text = `${nameOf(one.purchase)}: it was accepted as job ${one.purchase.jobId}, which the next start polls: not settled`;
      beyond.push({ text, command: undefined });
      continue;
    }
    if (blind !== undefined)
      beyond.push({ text: `${nameOf(one.purchase)}: ${blind}: not settled`, command: undefined });
    else if (one.charges.length > 1 || one.charges.some((charge) => claims(charge) > 1))
      addTo(open, charges, { ...one, isLatest });
    else rows.push(proposal({ ...one, isLatest }));
  }
  const name = shownPath(folder, io.cwd);
  return {
    rows,
    open: [...described([...open.values()], (alike) => ambiguous(name, alike, { held, byHand })), ...beyond],
  };
}

function addTo<T>(groups: Map<string, T[]>, key: string, one: T): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [one]);
  else group.push(one);
}

/** The most groups of purchases that are described: those of a long outage differ by a charge each. */
const groupsShown = 200;

function described(
  groups: readonly OpenPurchase[][],
  describe: (alike: readonly OpenPurchase[]) => Undecided,
): Undecided[] {
  const left = groups.slice(groupsShown).reduce((sum, { length }) => sum + length, 0);
  const text = `${countOf(left, 'more row is', 'more rows are')} in doubt like these: not settled`;
  return [...groups.slice(0, groupsShown).map(describe), ...(left > 0 ? [{ text, command: undefined }] : [])];
}

const namesShown = 5;
/** The most ids in a printed command: nobody would use a longer one. */
const idsInCommand = 50;

/** A line about rows that a person must decide on, with a command that settles them, if there is one. */
interface Undecided {
  readonly text: string;
  readonly command: string | undefined;
}

/** Purchases that may have the same charges: each charge belongs to at most one of them, and the export does not show to which. */
function ambiguous(
  folder: string,
  alike: readonly OpenPurchase[],
  { held, byHand }: Pick<Reconciliation, 'held' | 'byHand'>,
): Undecided {
  const { charges = [], hasMore = false } = alike[0] ?? {};
  // Purchases that were settled by hand without a job: any charge of their price may be theirs.
  const settled = byHand.filter(({ purchase }) => charges.some(({ amount }) => amount === purchase.cost));
  const own = new Set(alike.map(({ purchase }) => purchase));
  const rivals = held.filter(({ purchase, mayBe }) => !own.has(purchase) && charges.some(mayBe));
  const names = listed(alike.map(({ purchase }) => nameOf(purchase)));
  const others = listed([...rivals, ...settled].map(({ purchase }) => nameOf(purchase)));
  const what = `${hasMore ? 'more than ' : ''}${countOf(charges.length, 'charge')} of ${alike.length > 1 ? 'their' : 'its'} price (${listed(charges.map(nameOfCharge), hasMore)})`;
  const shared = others === '' ? '' : `, which may be of ${others} as well`;
  const look = `look whose ${charges.length > 1 ? 'they are' : 'it is'}, and ${waysOf(alike, charges)}`;
  const isEach = !hasMore && rivals.length === 0 && charges.length === alike.length + settled.length;
  const command = isEach ? allPaid(folder, alike, charges) : undefined;
  const instead =
    command && '. There is one for each, so all were paid; to record that and give up their results:';
  return {
    text: `${names}: the statement has ${what}${shared}: not settled; ${look}${instead ?? ''}`,
    command,
  };
}

function waysOf(alike: readonly OpenPurchase[], charges: Held['charges']): string {
  const earlier = '--attempt N --paid USD';
  const latest = charges.every(({ jobId }) => jobId === '') ? '--paid USD' : '--job';
  if (alike.every(({ isLatest }) => isLatest)) return `settle each row with ${latest}`;
  return alike.some(({ isLatest }) => isLatest)
    ? `settle each row with ${latest}, or with ${earlier} where it was bought again since`
    : `settle each with ${earlier}`;
}

/** The command that records all of them as paid, if there is a charge for each and none is an earlier attempt of its row. */
function allPaid(folder: string, alike: readonly Held[], charges: Held['charges']): string | undefined {
  const ids = new Set(alike.map(({ purchase }) => purchase.id));
  const isFirst = alike.every(({ purchase }) => purchase.attempt === 1);
  const [charge] = charges;
  const isEqual = charges.every(({ amount }) => amount === charge?.amount);
  if (charge === undefined || !isEqual || !isFirst || ids.size !== alike.length || ids.size > idsInCommand)
    return undefined;
  return settleWords(folder, [...ids], '--paid', String(toUsd(charge.amount)));
}

/** The command that settles rows. An id may begin with a dash, as an option does: then the ids stand behind `--`. */
export function settleWords(folder: string, ids: readonly string[], ...options: readonly string[]): string {
  const words = ids.some((id) => id.startsWith('-')) ? [...options, '--', ...ids] : [...ids, ...options];
  return shellWords('millrace', 'settle', folder, ...words);
}

function listed(names: readonly string[], hasMore = false): string {
  const rest = names.length > namesShown ? `, …${hasMore ? '' : ` (${names.length})`}` : '';
  return `${names.slice(0, namesShown).join(', ')}${rest}`;
}

function nameOf({ id, attempt }: Held['purchase']): string {
  return attempt > 1 ? `${id} (attempt ${attempt})` : id;
}

function isLatestPurchase(row: RowRecords | undefined, attempt: number): boolean {
  return row?.status === 'unknown' && (row.outcome?.purchase?.attempt ?? row.attempts) === attempt;
}

/** Whether its job is known and may still run, or was given up without a charge: then `--not-sent` would be wrong. */
function isAskedFor(row: RowRecords | undefined, { purchase, charges }: Held): boolean {
  if (row === undefined || row.status === 'open' || row.status === 'unknown') return false;
  const isCurrent = (row.outcome?.purchase?.attempt ?? row.attempts) === purchase.attempt;
  return isCurrent && (row.status !== 'expired' || charges.length === 0);
}

function proposal({ purchase, charges, isLatest }: OpenPurchase): RowSettlement {
  const { id, attempt } = purchase;
  const [charge] = charges;
  const which = isLatest ? { id } : { id, attempt };
  if (charge === undefined) return { ...which, settlement: { notSent: true } };
  if (isLatest && charge.jobId !== '') return { ...which, settlement: { jobId: charge.jobId } };
  return { ...which, settlement: { paidUsd: toUsd(charge.amount) } };
}
