import type PgBoss from 'pg-boss';
import { type Database, type Transaction, queueSchema } from './database.js';

/** `submit`: a row is sent. `poll`: its job is asked for once. `download`: its picture is saved. */
export type PieceKind = 'submit' | 'poll' | 'download';
export const pieceKinds: readonly PieceKind[] = ['submit', 'poll', 'download'];

/** A piece of work on a row, named by the row's own uuid: there is never more than one of a kind. */
export interface Piece {
  readonly piece: string;
  /** It is not worked on before so many ms from now. */
  readonly afterMs: number;
  /** Handed on from piece to piece. */
  readonly data?: PieceData;
}

export interface PieceData {
  /** Status calls so far, in this start. */
  readonly calls: number;
  /** Tries in a row that brought no answer. */
  readonly failures: number;
  /** 404s in a row: when the first came, in ms since the epoch by the database's clock, and how many there were. */
  readonly missing?: { readonly since: number; readonly answers: number };
}

/** How long whoever fetched a piece may be at it before another one gets it: a poll is short, a picture may be large. */
const leaseSeconds: Record<PieceKind, number> = { submit: 300, poll: 30, download: 3_600 };
/** A piece is never given up. */
const retryLimit = 1_000_000;

export function queueOf(run: number, kind: PieceKind): string {
  return `millrace_${run}_${kind}`;
}

export async function makeQueues({ boss }: Database, run: number): Promise<void> {
  for (const kind of pieceKinds) {
    const options = { retryLimit, retryDelay: 0, expireInSeconds: leaseSeconds[kind] };
    const name = queueOf(run, kind);
    await boss.createQueue(name, { ...options, name, policy: 'standard' });
  }
}

/** pg-boss drops no queue with pieces in it. */
export async function dropQueues({ boss, pool }: Database, run: number): Promise<void> {
  const names = pieceKinds.map((kind) => queueOf(run, kind));
  await pool.query(`delete from ${queueSchema}.job where name = any($1)`, [names]);
  for (const name of names) await boss.deleteQueue(name);
}

/** Puts pieces in place of those of the same name. */
export async function schedulePieces(
  boss: PgBoss,
  on: Transaction,
  queue: { run: number; kind: PieceKind },
  pieces: readonly Piece[],
): Promise<void> {
  if (pieces.length === 0) return;
  const name = queueOf(queue.run, queue.kind);
  await dropPieces(
    boss,
    on,
    queue,
    pieces.map(({ piece }) => piece),
  );
  const jobs = pieces.map(({ piece, afterMs, data }) => ({
    ...{ id: piece, name, startAfter: `${Math.max(afterMs, 0) / 1_000}` },
    ...(data && { data }),
  }));
  await boss.insert(jobs, { db: executing(on) });
}

export async function dropPieces(
  boss: PgBoss,
  on: Transaction,
  { run, kind }: { run: number; kind: PieceKind },
  pieces: readonly string[],
): Promise<void> {
  if (pieces.length > 0) await boss.deleteJob(queueOf(run, kind), [...pieces], { db: executing(on) });
}

/** Pieces that are due, leased to whoever asks. pg-boss takes an error for an empty queue: inside a transaction the next query tells. */
export async function fetchPieces(
  boss: PgBoss,
  on: Transaction,
  { run, kind }: { run: number; kind: PieceKind },
  most: number,
): Promise<readonly { readonly piece: string; readonly data: PieceData }[]> {
  const batchSize = Math.floor(most);
  if (batchSize < 1) return [];
  const options = { batchSize, priority: false, db: executing(on) };
  const jobs = await boss.fetch<PieceData | null>(queueOf(run, kind), options);
  return jobs.map(({ id, data }) => ({ piece: id, data: data ?? { calls: 0, failures: 0 } }));
}

/** Ms until the next piece is due, 0 or less where one is; `undefined`: there is none. */
export const nextDueSql = (kind: PieceKind): string =>
  `(select extract(epoch from min(start_after) - clock_timestamp()) * 1000 from ${queueSchema}.job
    where name = 'millrace_' || $1::int || '_${kind}' and state < 'active')`;

function executing(on: Transaction): PgBoss.Db {
  return { executeSql: (text, values) => on.query(text, values) };
}
