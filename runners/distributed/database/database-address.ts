import { DatabaseError } from './database-error.js';
import { tlsWishOf, type TlsWish } from './tls-wish.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a database is, and how to connect to it. */
export interface DatabaseAddress {
  /** Without parameters about TLS; may contain the password. */
  readonly url: string;
  /** The same for messages and files: with the password masked. */
  readonly shown: string;
  readonly tls: TlsWish;
  /** Texts to be masked in all output. */
  readonly secrets: readonly string[];
}

const tlsParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'ssl'];
const mask = '***';

/**
 * Reads `postgres://user@host:port/database`. What the address leaves out comes from libpq's environment: PGHOST, PGPORT,
 * PGUSER, PGDATABASE, PGPASSWORD or ~/.pgpass, PGSSLMODE, PGSSLROOTCERT, PGSSLCERT, PGSSLKEY.
 *
 * @throws {DatabaseError} `database` for any other text.
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

/** The message does not repeat the text, which may contain a password. */
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
