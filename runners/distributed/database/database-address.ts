import { DatabaseError } from './database-error.js';
import { tlsWishOf, type TlsWish } from './tls-wish.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a database is, and how it wants to be spoken to. */
export interface DatabaseAddress {
  /** Without what concerns TLS; the password may be in it. */
  readonly url: string;
  /** The same for people and for files: the password masked. */
  readonly shown: string;
  readonly tls: TlsWish;
  /** To be masked wherever they would show. */
  readonly secrets: readonly string[];
}

const tlsParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'ssl'];
const mask = '***';

/**
 * Reads `postgres://user@host:port/database`. What the address leaves out comes from libpq's environment: PGHOST, PGPORT,
 * PGUSER, PGDATABASE, PGPASSWORD or ~/.pgpass, PGSSLMODE, PGSSLROOTCERT, PGSSLCERT, PGSSLKEY.
 *
 * @throws {DatabaseError} `database` for what is no such address.
 */
export function databaseAddress(text: string, env: Environment): DatabaseAddress {
  const url = parsed(text);
  const tls = tlsWishOf(url.searchParams, env);
  for (const name of tlsParameters) url.searchParams.delete(name);
  const { password: inUrl } = url;
  const inQuery = url.searchParams.get('password') ?? '';
  const shown = new URL(url);
  if (inUrl !== '') shown.password = mask;
  if (inQuery !== '') shown.searchParams.set('password', mask);
  const secrets = [decoded(inUrl), inUrl, inQuery, env['PGPASSWORD'] ?? ''].filter((one) => one !== '');
  return { url: url.href, shown: shown.href, tls, secrets: [...new Set(secrets)] };
}

/** The text is not repeated: a password may be in it. */
function parsed(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ['postgres:', 'postgresql:'].includes(url.protocol)) return url;
  const advice = 'it is `embedded`, or looks like postgres://user@host:5432/database';
  const hint = text.includes('@')
    ? '; a password with special characters is written percent-encoded, or left to PGPASSWORD'
    : '';
  throw new DatabaseError('database', `--db: this is no address of a database: ${advice}${hint}`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
