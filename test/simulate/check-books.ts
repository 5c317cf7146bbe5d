import { createHash } from 'node:crypto';
import { peekJournal } from '../../runners/batch/journal/recovered-journal.js';
import type { JournalRecord } from '../../runners/batch/journal/record.js';
import { costSummary } from '../../runners/batch/end/summary-of.js';
import type { RunEvent } from '../../runners/batch/run-batch.js';
import type { ForgetfulDisk } from '../support/forgetful-disk.js';
import { type AnsweredRow, type FailedRow, wrongAnswers } from '../support/whose-answers.js';
import { requestOf, type SimulatedRow } from './rows.js';
import { pictureOf } from './jobs.js';
import type { Service } from './service.js';

export interface Books {
  readonly rows: readonly SimulatedRow[];
  readonly service: Service;
  readonly disk: ForgetfulDisk;
  readonly out: string;
  readonly finished: Extract<RunEvent, { type: 'finished' }>;
  /** Doubtful requests were sent again. */
  readonly retried: boolean;
  /** Rows that had failed were sent again. */
  readonly failedAgain: boolean;
  /** A standby that lacked commits took the place of the database. @defaultValue false */
  readonly hasLost?: boolean;
  /** Some start left the pictures at their URLs. */
  readonly leftPictures: boolean;
  /** When the last start began. */
  readonly lastStartAt?: number;
}

interface ResultLine extends AnsweredRow {
  readonly cost: number | null;
  readonly image?: { path?: string; sha256?: string };
}

interface FailureLine extends FailedRow {
  readonly error: { code: string; paid: string; message: string };
}

/** Holds the files of a run that is over against each other, the journal, and the service's own bill. */
export async function checkBooks(books: Books): Promise<string[]> {
  const files = readFiles(books);
  return [
    ...(await likeTheNextStart(books)),
    ...onceEach(books, files),
    ...boughtOnce(books, files),
    ...heldRightly(books, files),
    ...costsLikeBill(books, files),
    ...expiredRightly(books, files),
    ...exitsRightly(books, files),
    ...likeTheJournal(books, files),
    ...likeTheSummary(books, files),
    ...ownAnswers(books, files),
    ...picturesThere(books, files),
    ...noKey(books),
  ];
}

type Files = ReturnType<typeof readFiles>;

function readFiles({ disk, out }: Books) {
  const lines = (name: string): string[] =>
    (disk.peek(`${out}/${name}`)?.toString() ?? '').split('\n').filter((line) => line !== '');
  const parsed = <T>(name: string): T[] => lines(name).map((line) => JSON.parse(line) as T);
  const [head = '', ...costs] = lines('costs.csv');
  const names = head.split(',');
  return {
    results: parsed<ResultLine>('results.jsonl'),
    failures: parsed<FailureLine>('failures.jsonl'),
    journal: parsed<JournalRecord>('journal.jsonl'),
    costs: costs.map((line) => {
      const cells = line.split(',');
      return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
    }),
    sheets: { results: lines('results.csv').length, failures: lines('failures.csv').length },
  };
}

function onceEach({ rows, disk, out }: Books, { results, failures, sheets }: Files): string[] {
  const broken: string[] = [];
  const ends = new Map<string, number>();
  for (const { id } of [...results, ...failures]) ends.set(id, (ends.get(id) ?? 0) + 1);
  for (const { id } of rows) if (ends.get(id) !== 1) broken.push(`${id} ended ${ends.get(id) ?? 0} times`);
  if (ends.size !== rows.length) broken.push(`${ends.size} ids in the files, ${rows.length} in the manifest`);
  if (disk.peek(`${out}/results.csv`) === undefined) return broken;
  if (sheets.results !== results.length + 1)
    broken.push(`results.csv has ${sheets.results} lines, results.jsonl ${results.length}`);
  if (sheets.failures !== failures.length + 1)
    broken.push(`failures.csv has ${sheets.failures} lines, failures.jsonl ${failures.length}`);
  return broken;
}

function boughtOnce({ service, rows, retried, failedAgain }: Books, { results }: Files): string[] {
  const broken: string[] = [];
  const mayBeBoughtAgain = new Set(
    // A rejected row whose answer was lost has a job that has failed.
    rows.filter(({ end }) => failedAgain && (end === 'failed' || end === 'rejected')).map(({ id }) => id),
  );
  const accepted = new Map<string, number>();
  for (const post of service.posts)
    if (post.accepted) accepted.set(post.row, (accepted.get(post.row) ?? 0) + 1);
  if (!retried)
    for (const [id, times] of accepted)
      if (times > 1 && !mayBeBoughtAgain.has(id)) broken.push(`${id} was executed ${times} times`);
  const reads = new Set(rows.filter(({ end }) => end === 'read').map(({ id }) => id));
  for (const { id } of results)
    if (!accepted.has(id) && !reads.has(id)) broken.push(`${id} is completed and was never executed`);
  return broken;
}

/**
 * A row is `unknown` exactly where its last POST may have been taken and no answer of it is in the journal: the reply
 * left a doubt, or the process was gone before it could be noted.
 */
function heldRightly(
  { service, retried, hasLost = false, lastStartAt = 0 }: Books,
  { failures, journal }: Files,
): string[] {
  const broken: string[] = [];
  const codes = new Map(failures.map(({ id, error }) => [id, error.code]));
  const answers = answeredSinceIntent(journal);
  // A row whose end was lost with the journal is held, also where its job is known.
  const isRepaired = journal.some(({ k }) => k === 'repaired');
  const lasts = new Map(service.posts.map((post) => [post.row, post]));
  for (const [id, post] of lasts) {
    const isUnknown = codes.get(id) === 'unknown';
    const { intents = 0, answered = false } = answers.get(id) ?? {};
    const neverLeft = intents > service.posts.filter(({ row }) => row === id).length;
    const mayBe = hasLost || post.answered === 'doubt' || post.life.wasCutOff || neverLeft;
    if (isUnknown && !mayBe) broken.push(`${id} is unknown, and its answer came`);
    if (isUnknown && answered && !retried && !isRepaired)
      broken.push(`${id} is unknown, and the journal has its answer`);
    // That of an earlier attempt says nothing of a last one that never left.
    if (isUnknown && !neverLeft && (post.confirmedAt ?? Infinity) < lastStartAt)
      broken.push(`${id} is unknown, and a callback about it was taken`);
    if (!isUnknown && post.answered === 'doubt' && post.wasCalled !== true)
      broken.push(`${id} is not unknown, and its answer never came`);
    if (!isUnknown && post.accepted && !answered)
      broken.push(`${id} was executed, is not unknown, and the journal has no answer`);
  }
  for (const { id, error, millrace } of failures) {
    const rowNumber = millrace.row ?? 0;
    if (error.code === 'unknown' && !lasts.has(id)) {
      // The intent was durable, and the process was gone before the request left; or it may have been lost with the journal.
      const isIntended = journal.some((record) => record.k === 'intent' && record.id === id);
      const isHeldByRepair = journal.some(
        (record) => record.k === 'repaired' && rowNumber <= record.heldUpToRow,
      );
      if (!isIntended && !isHeldByRepair)
        broken.push(`${id} is unknown, and nothing of it was ever to be sent`);
    }
  }
  return broken;
}

/** A row is `expired` only where the service has really forgotten its job. */
function expiredRightly({ service }: Books, { failures }: Files): string[] {
  return failures.flatMap(({ id, error, millrace: { endpoint, jobId } }) =>
    error.code === 'expired' && !service.hasForgotten(endpoint, jobId ?? '')
      ? [`${id} is expired, and the service still has ${jobId}`]
      : [],
  );
}

/** Whatever start held them: held rows are exit 6 until a person has decided. */
function exitsRightly({ finished }: Books, { failures }: Files): string[] {
  const { exitCode } = finished;
  const isHeld = failures.some(({ error }) => error.code === 'unknown');
  const right = isHeld ? [6] : [0, 1];
  return right.includes(exitCode) ? [] : [`exit ${exitCode}, not ${right.join(' or ')}`];
}

/** How often each row was to be sent, and whether the last time has an answer. */
function answeredSinceIntent(journal: readonly JournalRecord[]) {
  const rows = new Map<string, { intents: number; answered: boolean }>();
  for (const record of journal) {
    if (!('id' in record)) continue;
    const row = rows.get(record.id) ?? { intents: 0, answered: false };
    rows.set(record.id, row);
    if (record.k === 'intent') Object.assign(row, { intents: row.intents + 1, answered: false });
    const isEnd =
      record.k === 'outcome' && (record.status === 'completed' || record.error.code !== 'unknown');
    if (record.k === 'accepted' || record.k === 'reply' || isEnd) row.answered = true;
  }
  return rows;
}

/** What the service billed for rows whose end is known stands in costs.csv, to the millionth. */
function costsLikeBill({ service, rows, retried }: Books, { failures, costs }: Files): string[] {
  const broken: string[] = [];
  const open = new Set(failures.filter(({ error }) => error.paid === 'maybe').map(({ id }) => id));
  const booked = new Map<string, number>();
  for (const line of costs) {
    if (line['source'] === 'unknown') continue;
    booked.set(line['id']!, (booked.get(line['id']!) ?? 0) + Math.round(Number(line['cost']) * 1e6));
  }
  for (const { id, cost } of rows) {
    const billed = retried && (service.bill.get(id) ?? 0) > 0 ? cost : (service.bill.get(id) ?? 0);
    if (open.has(id)) continue;
    if (billed !== (booked.get(id) ?? 0))
      broken.push(`${id}: billed ${billed}, costs.csv has ${booked.get(id) ?? 0}`);
  }
  const seen = new Set<string>();
  for (const line of costs) {
    const key = `${line['id']} ${line['attempt']}`;
    if (seen.has(key)) broken.push(`costs.csv has ${key} twice`);
    seen.add(key);
  }
  return broken;
}

/** The files are what follows from the journal: the last word on each row. */
function likeTheJournal({ rows }: Books, { results, failures, journal }: Files): string[] {
  const broken: string[] = [];
  const last = new Map<string, string | undefined>();
  for (const record of journal) {
    if (record.k === 'outcome')
      last.set(record.id, record.status === 'completed' ? 'completed' : record.error.code);
    if (record.k === 'reopen') last.set(record.id, undefined);
  }
  const files = new Map([
    ...results.map(({ id }) => [id, 'completed'] as const),
    ...failures.map(({ id, error }) => [id, error.code] as const),
  ]);
  for (const { id } of rows)
    if (last.get(id) !== files.get(id))
      broken.push(`${id} is ${files.get(id)} in the files and ${last.get(id)} in the journal`);
  return broken;
}

function likeTheSummary({ finished, disk, out, rows }: Books, { results, failures, costs }: Files): string[] {
  const { summary } = finished;
  if (summary === undefined) return ['the last start has no summary'];
  const broken: string[] = [];
  const written = JSON.parse(disk.peek(`${out}/summary.json`)?.toString() ?? '{}') as typeof summary;
  const same = (what: string, is: unknown, wanted: unknown): void => {
    if (is !== wanted) broken.push(`summary: ${what} is ${String(is)}, not ${String(wanted)}`);
  };
  for (const { completed, failed, total, toDo } of [summary.rows, written.rows]) {
    same('completed', completed, results.length);
    same('failed', failed, failures.length);
    same('total', total, rows.length);
    same('toDo', toDo, 0);
  }
  const sum = (source: string): number =>
    costs.reduce(
      (total, line) => total + (line['source'] === source ? Math.round(Number(line['cost']) * 1e6) : 0),
      0,
    );
  same('reported', Math.round(summary.cost.reported * 1e6), sum('reported'));
  same('estimated', Math.round(summary.cost.estimated * 1e6), sum('estimated'));
  // What is known from failures.jsonl alone, after a repair, stands in costs.csv without its price.
  const isPriced = costs.every((line) => line['source'] !== 'unknown' || line['cost'] !== '');
  if (isPriced) same('unknown', Math.round(summary.cost.unknown * 1e6), sum('unknown'));
  for (const { error } of failures)
    if (!summary.failures[error.code as 'unknown'])
      broken.push(`summary: no ${error.code} among the failures`);
  return broken;
}

/** What a start has counted is what the next one reads. */
async function likeTheNextStart({ finished, disk, out }: Books): Promise<string[]> {
  const journal = await peekJournal(disk, out);
  if (journal === undefined || finished.summary === undefined) return ['no journal, or no summary'];
  const { totals } = journal.recovered;
  const wanted = JSON.stringify(inOrder(costSummary(totals)));
  const is = JSON.stringify(inOrder({ ...finished.summary.cost, drift: undefined, cap: undefined }));
  const calls = [finished.summary.statusCalls, totals.statusCalls].join(', not ');
  return [
    ...(is === wanted ? [] : [`summary: the cost is ${is}, and for the next start ${wanted}`]),
    ...(finished.summary.statusCalls === totals.statusCalls ? [] : [`summary: status calls are ${calls}`]),
  ];
}

function inOrder<T extends { byResolution: Record<string, unknown> }>(cost: T): T {
  const sorted = Object.entries(cost.byResolution).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...cost, byResolution: Object.fromEntries(sorted) };
}

/** Each row has the answer to its own request, and no two rows have one job. */
function ownAnswers({ rows, service }: Books, files: Files): string[] {
  const requests = new Map<string, unknown>(
    rows.map((row) => [row.id, row.end === 'read' ? `/read/${row.id}` : requestOf(row)]),
  );
  const foreign = files.failures.filter(
    ({ id, error }) => namesItsRow.has(error.code) && !new RegExp(`\\b${id}\\b`).test(error.message),
  );
  return [
    ...wrongAnswers({
      ...files,
      requestOf: (id) => requests.get(id),
      rowOfJob: (endpoint, jobId) => service.rowOfJob(endpoint, jobId),
    }),
    ...foreign.map(({ id, error }) => `${id} has the failure of another row: ${error.message}`),
  ];
}

/** Failures whose message is the service's own, which names the row. */
const namesItsRow = new Set(['job-failed', 'rejected', 'route-failed', 'route-not-found']);

function picturesThere({ rows, disk, out, leftPictures }: Books, { results }: Files): string[] {
  const broken: string[] = [];
  const paths = new Set<string>();
  const edits = new Set(rows.filter(({ kind }) => kind === 'edit').map(({ id }) => id));
  for (const { id, image } of results) {
    if (!edits.has(id)) continue;
    if (image?.path === undefined) {
      if (!leftPictures) broken.push(`${id} is completed without its picture`);
      continue;
    }
    const bytes = disk.peek(`${out}/${image.path}`);
    if (bytes === undefined || !bytes.equals(pictureOf(id)))
      broken.push(`${image.path} is not the picture of ${id}`);
    else if (createHash('sha256').update(bytes).digest('hex') !== image.sha256)
      broken.push(`${image.path} has another checksum`);
    if (paths.has(image.path)) broken.push(`two rows have ${image.path}`);
    paths.add(image.path);
  }
  const left = disk
    .paths()
    .filter((path) => /\/(results|failures|earlier|costs|summary)[^/]*\.tmp$/.test(path));
  for (const path of left) broken.push(`${path} was left behind`);
  return broken;
}

function noKey({ disk }: Books): string[] {
  return disk
    .paths()
    .flatMap((path) => (disk.peek(path)?.includes('canary-key-77a1') ? [`the key is in ${path}`] : []));
}
