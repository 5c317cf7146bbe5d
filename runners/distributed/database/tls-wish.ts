import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { DatabaseError } from './database-error.js';

/** Ways to connect, to be tried in this order; `false`: without TLS. */
export type TlsWish = readonly (ConnectionOptions | false)[];

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof modes)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What libpq makes of sslmode, sslrootcert, sslcert and sslkey: of the address, else of PGSSLMODE and its like, else of
 * ~/.postgresql. By default TLS is taken where it is offered, and only `verify-ca` and `verify-full`, or a root
 * certificate, check who offers it.
 *
 * @throws {DatabaseError} for a mode that is none, or a certificate that cannot be read.
 */
export function tlsWishOf(parameters: URLSearchParams, env: Environment, home = homedir()): TlsWish {
  const told = (name: string) => parameters.get(name) ?? (env[`PG${name.toUpperCase()}`] || undefined);
  const mode = modeOf(told('sslmode') ?? 'prefer');
  if (mode === 'disable') return [false];
  const options = {
    ...rootOf(told('sslrootcert'), mode, home),
    ...clientOf(told('sslcert'), told('sslkey'), home),
  };
  if (mode === 'allow') return [false, options];
  return mode === 'prefer' ? [options, false] : [options];
}

function modeOf(text: string): Mode {
  const mode = modes.find((one) => one === text);
  if (mode !== undefined) return mode;
  throw new DatabaseError('database', `sslmode: "${text}" is not one of ${modes.join(', ')}`);
}

/** With a root certificate `require` checks the chain as well, as libpq does. */
function rootOf(named: string | undefined, mode: Mode, home: string): ConnectionOptions {
  if (named === 'system') return {};
  const path = named ?? join(home, '.postgresql', 'root.crt');
  const isThere = named !== undefined || existsSync(path);
  const isChecked = mode === 'verify-ca' || mode === 'verify-full' || (mode === 'require' && isThere);
  if (!isChecked) return { rejectUnauthorized: false };
  if (!isThere) {
    const message = `sslmode=${mode} needs the certificate of whoever signed the server's: name it by PGSSLROOTCERT, or put it at ${path} (PGSSLROOTCERT=system takes the system's)`;
    throw new DatabaseError('database', message);
  }
  const ca = textOf(path, 'PGSSLROOTCERT');
  return mode === 'verify-full' ? { ca } : { ca, checkServerIdentity: () => undefined };
}

function clientOf(cert: string | undefined, key: string | undefined, home: string): ConnectionOptions {
  const certPath = cert ?? join(home, '.postgresql', 'postgresql.crt');
  if (cert === undefined && !existsSync(certPath)) return {};
  const keyPath = key ?? join(home, '.postgresql', 'postgresql.key');
  return { cert: textOf(certPath, 'PGSSLCERT'), key: textOf(keyPath, 'PGSSLKEY') };
}

function textOf(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new DatabaseError('database', `${name}: ${path} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}
