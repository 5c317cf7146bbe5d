import { MillraceError } from '../../../src/contract/millrace-error.js';

export class DatabaseError extends MillraceError {
  static override readonly name: string = 'DatabaseError';
  /**
   * `database`: the address, the password, the schema or the installation is wrong; a person has to change it (exit 2).
   * `database-away`: the database cannot be reached now (exit 69).
   */
  declare readonly code: 'database' | 'database-away';
}

/** What lies between this process and the server has dropped the settings of a connection. */
export class SettingsDropped extends Error {
  static override readonly name: string = 'SettingsDropped';

  constructor(setting: string, wanted: string, found: string | undefined) {
    super(
      `is reached through a pooler that drops settings of the connection: ${setting} is ${found ?? 'not known'}, and millrace needs ${wanted}. Connect to PostgreSQL directly: rows could be bought twice.`,
    );
  }
}

/** The tables in the database are not as millrace needs them: waiting for it does not help. */
export class BrokenDatabase extends MillraceError {
  static override readonly name: string = 'BrokenDatabase';

  constructor(cause: unknown, shown: string) {
    const { message } = explainDatabase(cause, shown);
    super('journal-io', message.endsWith(restore) ? message : `${message} Put it right and run again.`, {
      cause,
    });
  }
}

/**
 * Whether this error of the driver is about the tables as a whole, and not about what is written into them: somebody has dropped
 * or changed them, or what the user may do.
 */
export function isBroken(error: unknown): boolean {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return severity !== undefined && typeof code === 'string' && /^(28|3D|3F|42|XX00[12])/.test(code);
}

/** Explains why a database cannot be used, and what to do about it. The driver's messages never contain the password. */
export function explainDatabase(error: unknown, shown: string): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const cause = innermost(error);
  const { code = '', message } = cause;
  const away = isAway(error);
  const sentence = sentences[code]?.(message) ?? byMessage(cause, away);
  return new DatabaseError(away ? 'database-away' : 'database', `The database ${shown} ${sentence}`, {
    cause: error,
  });
}

const awayBecause = (why: string) => (): string => `cannot be reached: ${why}.`;
const inTheWay = (): string => 'was busy: another transaction was in the way.';

/** The sentences, by the error codes of the system and of PostgreSQL. */
const sentences: Readonly<Record<string, (message: string) => string>> = {
  ECONNREFUSED: awayBecause('nothing listens there'),
  ENOTFOUND: awayBecause('there is no such host'),
  EAI_AGAIN: awayBecause('the name of its host could not be looked up'),
  ETIMEDOUT: awayBecause('it does not answer'),
  EHOSTUNREACH: awayBecause('there is no way to its host'),
  ENETUNREACH: awayBecause('there is no way to its network'),
  ECONNRESET: awayBecause('it cut the connection'),
  '57P01': awayBecause('it is being shut down'),
  '57P02': awayBecause('it crashed'),
  '57P03': awayBecause('it is starting up, or shutting down'),
  '53300': awayBecause('it has too many connections already (max_connections)'),
  '53100': awayBecause('its disk is full'),
  '53200': awayBecause('it is out of memory'),
  '57014': () => 'gave up a statement that another user cancelled.',
  '25P03': () => 'ended a transaction that was idle for too long: this machine may be very busy.',
  '25P04': () => 'ended a transaction that took too long (transaction_timeout).',
  '25006': () =>
    'is read-only: it is a standby or about to become one, or somebody has set default_transaction_read_only there.',
  '40001': inTheWay,
  '40P01': inTheWay,
  '55P03': inTheWay,
  '26000': () => behindPooler,
  '42P05': () => behindPooler,
  '28P01': () =>
    'refuses the user or the password. The password comes from the address, PGPASSWORD or ~/.pgpass.',
  '28000': (message) => `refuses connections from here: ${message} (see its pg_hba.conf).`,
  '3D000': (message) => `cannot be opened: ${message}. Create it first (createdb).`,
  '42P01': lacksTables,
  '42703': lacksTables,
  '3F000': lacksTables,
  '42501': (message) =>
    `does not allow what millrace needs: ${message}. Its user must own the database, or have CREATE on it.`,
  DEPTH_ZERO_SELF_SIGNED_CERT: () => untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: () => untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => untrusted,
  CERT_HAS_EXPIRED: () => 'has a certificate that has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: (message) => `has a certificate for another name: ${message}`,
};

function lacksTables(message: string): string {
  return `lacks a part of millrace's tables: ${message}. Another program has dropped it, or a newer millrace has changed it. ${restore}`;
}

/** What to do if the tables cannot be restored. */
export const withoutTables =
  'or drop the schemas millrace and millrace_queue, and start with --repair, which holds the rows that may have been bought.';
const restore = `Start again: the queues of a run are made anew then. If that does not help, restore the tables; ${withoutTables}`;
const behindPooler =
  'is reached through a pooler in transaction mode, which keeps no prepared statements and no LISTEN: connect to PostgreSQL directly.';
/** Other errors of a pooler, which have the same code, pass. */
const refusedSettings = /^unsupported startup parameter/;
const untrusted = 'has a certificate that PGSSLROOTCERT does not confirm.';

function byMessage(error: Error | { message: string }, away: boolean): string {
  const { message } = error;
  if (error instanceof SettingsDropped) return message;
  if (/client password must be a string/.test(message))
    return 'needs a password, and none was given: set PGPASSWORD, or put it into ~/.pgpass.';
  if (refusedSettings.test(message))
    return `is reached through a pooler that refuses settings of the connection (${message}): connect to PostgreSQL directly.`;
  if (/does not support SSL/.test(message)) return 'offers no TLS, and PGSSLMODE asks for it.';
  if (away && message.startsWith('connect ENOENT')) return 'cannot be reached: there is no such socket.';
  // The reason may also be that this process is busy.
  if (away && /timeout/i.test(message))
    return 'has not answered in time: it or this machine is busy, somebody holds a lock there, or the connection is cut.';
  return away ? 'cannot be reached: it does not answer.' : `cannot be used: ${message.replace(/\.$/, '')}.`;
}

/** The last error, if several addresses of one host were tried. */
function innermost(error: unknown): { code?: string; message: string } {
  if (error instanceof AggregateError) return innermost(error.errors.at(-1));
  return error instanceof Error ? error : { message: String(error) };
}

/**
 * PostgreSQL's codes for temporary states: it starts, stops, has too many connections, too little memory or no room on its
 * disk, or cannot use its files; another transaction was in the way, this one took too long, or somebody cancelled it.
 */
const passing = /^(08|57P|57014|53|58|40001|40P01|55P03|25006|25P0[34])/;
const ofTheNet = /^E(CONN|PIPE|TIMEDOUT|HOST|NET|AI_AGAIN|NOTFOUND)/;

/** Whether this error of the driver means that the database cannot be reached now. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseError) return error.code === 'database-away';
  // Several addresses of one host were tried.
  if (error instanceof AggregateError) return error.errors.every(isAway);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error instanceof SettingsDropped || refusedSettings.test(error.message)) return false;
  if (passing.test(code) || ofTheNet.test(code) || isNoSocket(error)) return true;
  return /connection (was )?(terminated|closed|ended)|timeout|not queryable|socket/i.test(error.message);
}

/** The server's socket file exists only while the server runs. */
function isNoSocket(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ENOENT' && error.syscall === 'connect';
}
