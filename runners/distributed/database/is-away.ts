import { DatabaseError } from './database-error.js';

/** Codes of PostgreSQL that pass: it stops, starts or has too many guests; another transaction was in the way, or this one was silent for too long. */
const passing = /^(08|57P|53300|40001|40P01|25006|25P03)/;
const ofTheNet = /^E(CONN|PIPE|TIMEDOUT|HOST|NET|AI_AGAIN|NOTFOUND)/;

/** Whether an error of the driver says that the database cannot be reached now. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseError) return error.code === 'database-away';
  // Of several addresses of one host that were tried.
  if (error instanceof AggregateError) return error.errors.every(isAway);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (passing.test(code) || ofTheNet.test(code) || isNoSocket(error)) return true;
  return /connection (was )?(terminated|closed|ended)|timeout|not queryable|socket/i.test(error.message);
}

/** The server's socket file is there while it runs. */
function isNoSocket(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENOENT' && error.syscall === 'connect';
}
