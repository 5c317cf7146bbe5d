import { expect, it } from 'vitest';
import {
  DatabaseError,
  explainDatabase,
  isAway,
} from '../../../../runners/distributed/database/database-error.js';

const coded = (code: string, message = 'x', syscall = 'connect') =>
  Object.assign(new Error(message), { code, syscall });
const refused = coded('ECONNREFUSED', 'connect 127.0.0.1:5432');
const silent = 'cannot be reached: it does not answer.';
const late =
  'has not answered in time: it or this machine is busy, somebody holds a lock there, or the connection is cut.';

it.each([
  ['a port where nothing listens', refused, 'cannot be reached: nothing listens there.'],
  ['a host with several addresses', new AggregateError([coded('ENETUNREACH'), refused]), 'nothing listens'],
  ['a socket that is not there', coded('ENOENT', 'connect ENOENT /tmp/x'), 'there is no such socket.'],
  ['a restart', coded('57P01'), 'it is being shut down.'],
  ['a connection that fails', coded('08006'), silent],
  ['a pooler whose server is away', coded('08P01', 'server login failed'), silent],
  ['a lost connection', new Error('Connection terminated unexpectedly'), silent],
  [
    'a client that broke',
    new Error('Client has encountered a connection error and is not queryable'),
    silent,
  ],
  ['a slow connection', new Error('timeout exceeded when trying to connect'), late],
  ['a slow handshake', new Error('Connection terminated due to connection timeout'), late],
  ['a slow answer', new Error('Query read timeout'), late],
  ['too many guests', coded('53300'), 'it has too many connections already (max_connections).'],
  ['a full disk', coded('53100'), 'cannot be reached: its disk is full.'],
  ['a disk that fails', coded('58030'), silent],
  ['a statement that was cancelled', coded('57014'), 'that another user cancelled.'],
  ['a standby', coded('25006'), 'is read-only'],
  ['a transaction that was silent', coded('25P03'), 'ended a transaction that was idle for too long'],
  ['a transaction that took too long', coded('25P04', 'Abbruch'), 'ended a transaction that took too long'],
  ['a lock that was not free in time', coded('55P03', 'Abbruch'), 'another transaction was in the way.'],
  ['memory that does not suffice', coded('53200', 'out of memory'), 'it is out of memory.'],
  ['a deadlock', coded('40P01'), 'another transaction was in the way.'],
])('takes %s for a database that comes back', (_, error, sentence) => {
  const { code, message } = explainDatabase(error, 'postgres://db.example/jobs');
  expect(code).toBe('database-away');
  expect(message).toContain(`The database postgres://db.example/jobs `);
  expect(message).toContain(sentence);
  expect(isAway(error)).toBe(true);
});

it.each([
  ['a wrong password', coded('28P01'), 'refuses the user or the password.'],
  [
    'no database of that name',
    coded('3D000', 'database "jobs" does not exist'),
    'Create it first (createdb).',
  ],
  ['a user without rights', coded('42501'), 'have CREATE on it.'],
  ['a certificate nobody vouches for', coded('SELF_SIGNED_CERT_IN_CHAIN'), 'PGSSLROOTCERT does not confirm'],
  ['a pooler', coded('26000', 'prepared statement "x" does not exist'), 'connect to PostgreSQL directly.'],
  [
    'a pooler that refuses settings',
    coded('08P01', 'unsupported startup parameter in options: synchronous_commit'),
    'is reached through a pooler that refuses settings of the connection (unsupported startup parameter in options: synchronous_commit): connect to PostgreSQL directly.',
  ],
  ['a wrong question', coded('42601', 'syntax error'), 'cannot be used: syntax error.'],
  [
    'a column that is gone',
    coded('42703', 'no such column'),
    "lacks a part of millrace's tables: no such column.",
  ],
  ['a file that is missing', coded('ENOENT', 'no such file', 'open'), 'cannot be used: no such file'],
  ['what is not an error', 'broken', 'cannot be used: broken'],
])('takes %s for one that will not do', (_, error, sentence) => {
  const { code, message } = explainDatabase(error, 'shown');
  expect([code, message]).toEqual(['database', expect.stringContaining(sentence)]);
  expect(isAway(error)).toBe(false);
});

it('leaves what is explained already as it is', () => {
  for (const code of ['database', 'database-away'] as const) {
    const error = new DatabaseError(code, 'said: timeout');
    expect(explainDatabase(error, 'shown')).toBe(error);
    expect(isAway(error)).toBe(code === 'database-away');
  }
});
