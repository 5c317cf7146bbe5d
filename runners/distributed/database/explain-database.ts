import { DatabaseError } from './database-error.js';

/** Tells what keeps a database from being used, with what to do now. The password is in no message of the driver. */
export function explainDatabase(error: unknown, shown: string): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const { code = '', message } = innermost(error);
  const known = sentences[code];
  const [kind, sentence] = known?.(message) ?? byMessage(message);
  return new DatabaseError(kind, `The database ${shown} ${sentence}`, { cause: error });
}

type Verdict = readonly ['database' | 'database-away', string];

const away = (why: string): Verdict => ['database-away', `cannot be reached: ${why}.`];
const wrongPassword =
  'refuses the user or the password. The password comes from the address, PGPASSWORD or ~/.pgpass.';

/** By codes of the system and of PostgreSQL. */
const sentences: Readonly<Record<string, (message: string) => Verdict>> = {
  ECONNREFUSED: () => away('nothing listens there'),
  ENOTFOUND: () => away('there is no such host'),
  EAI_AGAIN: () => away('the name of its host could not be looked up'),
  ETIMEDOUT: () => away('it does not answer'),
  EHOSTUNREACH: () => away('there is no way to its host'),
  ENETUNREACH: () => away('there is no way to its network'),
  ECONNRESET: () => away('it cut the connection'),
  ENOENT: () => away('there is no such socket'),
  '57P01': () => away('it is being shut down'),
  '57P02': () => away('it crashed'),
  '57P03': () => away('it is starting up, or shutting down'),
  '53300': () => away('it has too many connections already (max_connections)'),
  '28P01': () => ['database', wrongPassword],
  '28000': (message) => ['database', `lets nobody in from here: ${message} (see its pg_hba.conf).`],
  '3D000': (message) => ['database', `cannot be opened: ${message}. Make it first (createdb).`],
  '42501': (message) => [
    'database',
    `does not allow what millrace needs: ${message}. Its user must own the database, or have CREATE on it.`,
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: () => ['database', untrusted],
  SELF_SIGNED_CERT_IN_CHAIN: () => ['database', untrusted],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => ['database', untrusted],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => ['database', untrusted],
  CERT_HAS_EXPIRED: () => ['database', 'has a certificate that has expired.'],
  ERR_TLS_CERT_ALTNAME_INVALID: (message) => ['database', `has a certificate for another name: ${message}`],
};

const untrusted = 'has a certificate that PGSSLROOTCERT does not vouch for.';

function byMessage(message: string): Verdict {
  if (/client password must be a string/.test(message))
    return ['database', 'wants a password, and none was given: set PGPASSWORD, or put it into ~/.pgpass.'];
  if (/does not support SSL/.test(message)) return ['database', 'offers no TLS, and PGSSLMODE asks for it.'];
  if (/timeout|terminated/i.test(message)) return away('it does not answer');
  return ['database', `cannot be used: ${message}`];
}

/** Of several addresses of one host that were tried, the last one's. */
function innermost(error: unknown): { code?: string; message: string } {
  if (error instanceof AggregateError) return innermost(error.errors.at(-1));
  return error instanceof Error ? error : { message: String(error) };
}
