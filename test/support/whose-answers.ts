import { isDeepStrictEqual } from 'node:util';
import type { JournalRecord } from '../../runners/batch/journal/record.js';

/** A line of results.jsonl, as far as it says whose answer a row has. */
export interface AnsweredRow {
  readonly id: string;
  readonly endpoint: string;
  readonly jobId?: string | null;
  readonly output?: unknown;
  readonly request?: unknown;
}

/** A line of failures.jsonl, as far as it names a job. */
export interface FailedRow {
  readonly id: string;
  readonly millrace: { readonly row?: number; readonly endpoint: string; readonly jobId?: string | null };
}

export interface Answers {
  readonly results: readonly AnsweredRow[];
  readonly failures: readonly FailedRow[];
  /** Lines of costs.csv. */
  readonly costs: readonly Record<string, string>[];
  readonly journal: readonly JournalRecord[];
  /** What the service received for a row and echoes in its output: the job's input, or the route's body. */
  readonly requestOf: (row: string) => unknown;
  /** The row whose request the service answered with this id; `undefined`: no such job. */
  readonly rowOfJob: (endpoint: string, jobId: string) => string | undefined;
}

/**
 * Counts and sums can be right while rows hold each other's answers. Compares each output with the request of its own row,
 * each job id with the row that the service ran it for, and requires that no two rows name one job of an endpoint.
 *
 * @returns what is wrong; empty when each answer is its row's own.
 */
export function wrongAnswers(answers: Answers): string[] {
  return [...foreignOutputs(answers), ...foreignJobs(answers)];
}

/** The service's output is `{echo: request, …}`. */
function foreignOutputs({ results, requestOf }: Answers): string[] {
  return results.flatMap(({ id, output }) => {
    const echo = echoOf(output);
    if (isDeepStrictEqual(echo, requestOf(id))) return [];
    return [`${id} has the answer to another request: ${JSON.stringify(echo)}`];
  });
}

function echoOf(output: unknown): unknown {
  // An output that is nested too deep is kept as its text.
  if (typeof output === 'string') return echoOf(JSON.parse(output));
  return typeof output === 'object' && output !== null && 'echo' in output ? output.echo : undefined;
}

function foreignJobs(answers: Answers): string[] {
  const broken: string[] = [];
  const owners = new Map<string, string>();
  for (const { where, id, endpoint, jobId } of namedJobs(answers)) {
    const key = `${endpoint}/${jobId}`;
    const owner = owners.get(key) ?? id;
    owners.set(key, owner);
    if (owner !== id) broken.push(`${where}: ${owner} and ${id} both have job ${key}`);
    const row = answers.rowOfJob(endpoint, jobId);
    if (row !== id) broken.push(`${where}: ${id} has job ${key} of ${row ?? 'no row'}`);
  }
  return [...new Set(broken)];
}

interface NamedJob {
  readonly where: string;
  readonly id: string;
  readonly endpoint: string;
  readonly jobId: string;
}

/** Every place where a row names a job. A row that collects a job that was bought elsewhere is not a purchase of this run. */
function namedJobs({ results, failures, costs, journal }: Answers): NamedJob[] {
  const named = (where: string, id = '', endpoint = '', jobId?: string | null): NamedJob[] =>
    jobId ? [{ where, id, endpoint, jobId }] : [];
  return [
    ...results.flatMap(({ id, endpoint, jobId }) => named('results', id, endpoint, jobId)),
    ...failures.flatMap(({ id, millrace }) => named('failures', id, millrace.endpoint, millrace.jobId)),
    ...costs.flatMap(({ id, endpoint, jobId }) => named('costs', id, endpoint, jobId)),
    ...journalJobs(journal).flatMap(({ id, endpoint, jobId }) => named('journal', id, endpoint, jobId)),
  ];
}

/** The jobs that the journal has for rows that bought them. */
export function journalJobs(journal: readonly JournalRecord[]) {
  const jobs: { id: string; endpoint: string; jobId: string }[] = [];
  const intents = new Map<string, { endpoint: string; takes?: string }>();
  for (const record of journal) {
    if (record.k === 'intent') intents.set(record.id, record);
    const jobId = 'jobId' in record && record.k !== 'intent' ? record.jobId : undefined;
    if (jobId === undefined || !('id' in record)) continue;
    const intent = intents.get(record.id);
    if (intent?.takes === undefined) jobs.push({ id: record.id, endpoint: intent?.endpoint ?? '', jobId });
  }
  return jobs;
}
