import { expect, it } from 'vitest';
import { databaseAddress } from '../../../../runners/distributed/database/database-address.js';

it('shows an address without its password, and knows what to mask', () => {
  const { shown, url, secrets } = databaseAddress(
    'postgres://me:s%40cret@db.example:5433/jobs?password=other',
    {
      PGPASSWORD: 'third',
    },
  );
  expect(shown).toBe('postgres://me:***@db.example:5433/jobs');
  expect(url).toContain('s%40cret');
  expect(secrets).toEqual(['s@cret', 's%40cret', 'other', 'third']);
});

it('shows how the connection is encrypted and checked: later commands connect with the address that is shown', () => {
  const query = '?sslmode=verify-full&sslrootcert=system&password=secret';
  const { shown, tls } = databaseAddress(`postgres://db.example/jobs${query}`, {});
  const again = databaseAddress(shown, { PGPASSWORD: 'from the environment' });
  expect([shown, again.tls]).toEqual([
    'postgres://db.example/jobs?sslmode=verify-full&sslrootcert=system',
    tls,
  ]);
  expect(again.secrets).toEqual(['from the environment']);
});

it('takes TLS by libpq’s names, from the address before the environment', () => {
  const tlsOf = (query: string, env: Record<string, string> = {}) =>
    databaseAddress(`postgres://db.example/jobs${query}`, env).tls;
  expect(tlsOf('', { PGSSLMODE: 'disable' })).toEqual([false]);
  expect(tlsOf('?sslmode=disable', { PGSSLMODE: 'require' })).toEqual([false]);
  expect(tlsOf('')).toEqual([{ rejectUnauthorized: false }, false]);
  expect(tlsOf('?sslmode=require')).toEqual([{ rejectUnauthorized: false }]);
  expect(tlsOf('?sslmode=verify-full&sslrootcert=system')).toEqual([{}]);
  expect(() => tlsOf('?sslmode=on')).toThrow('"on" is not one of disable, allow');
  expect(() => tlsOf('?sslmode=verify-ca&sslrootcert=/nowhere/ca.crt')).toThrow(
    '/nowhere/ca.crt cannot be read',
  );
  expect(databaseAddress('postgres://db.example/jobs?sslmode=require', {}).url).not.toContain('sslmode');
});

it.each(['mysql://db.example/jobs', 'jobs', 'postgres://me:p#ss@db.example/jobs', ''])(
  'refuses "%s" without repeating it',
  (text) => {
    expect(() => databaseAddress(text, {})).toThrow(/^--db: this is not an address of a database/);
    expect(() => databaseAddress(text, {})).not.toThrow('p#ss');
  },
);
