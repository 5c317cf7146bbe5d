import { once } from 'node:events';
import { createServer, type AddressInfo, type ServerOpts, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import type { DatabaseAddress } from '../../../../runners/distributed/database/database-address.js';
import { isAway } from '../../../../runners/distributed/database/database-error.js';
import { inTransaction } from '../../../../runners/distributed/database/transaction.js';
import { openPool } from '../../../../runners/distributed/database/open-pool.js';

/** A message of PostgreSQL's protocol: its type, its length, its content. */
function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const letIn = Buffer.concat([message('R', Buffer.from([0, 0, 0, 0])), message('Z', Buffer.from('I'))]);
const thrownOut = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

/** A server at which each connection is handled like this, and the address of a database there. */
async function serve(handle: (socket: Socket) => void, options: ServerOpts = {}) {
  const server = createServer(options, (socket) => {
    socket.on('error', () => undefined);
    handle(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `postgres://millrace@127.0.0.1:${(server.address() as AddressInfo).port}/millrace`;
  const address: DatabaseAddress = { url, tls: [false], shown: url, secrets: [] };
  return { server, address };
}

it('survives a connection that is let in and thrown out in one packet, and says that the database is away', async () => {
  let guests = 0;
  const { server, address } = await serve((socket) => {
    const isFirst = guests++ === 0;
    socket.once('data', () => {
      if (isFirst) socket.write(letIn);
      else socket.end(Buffer.concat([letIn, thrownOut]));
    });
  });
  const uncaught: unknown[] = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => uncaught.push(error));
  try {
    const { pool } = await openPool(address);
    const refused: unknown = await pool
      .connect()
      .then(
        (client) => client.query('select 1').finally(() => client.release(true)),
        (error: unknown) => error,
      )
      .catch((error: unknown) => error);
    await pool.end();
    expect(uncaught).toEqual([]);
    expect(isAway(refused), String(refused)).toBe(true);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of others) process.on('uncaughtException', listener);
    server.close();
  }
});

it('gives up a connection that stays open and answers no more, and says that the database is away', async () => {
  const { server, address } = await serve((socket) => socket.once('data', () => socket.write(letIn)));
  const { pool } = await openPool(address, { answerMs: 50 });
  try {
    const given: unknown = await inTransaction(pool, (on) => on.query('select 1')).catch(
      (error: unknown) => error,
    );
    expect(isAway(given), String(given)).toBe(true);
    expect(pool.totalCount).toBe(0);
  } finally {
    await pool.end();
    server.close();
  }
});

it('does not wait for a trial connection that the server never closes', async () => {
  const letsIn = (socket: Socket) => socket.once('data', () => socket.write(letIn));
  const { server, address } = await serve(letsIn, { allowHalfOpen: true });
  const { close } = await openPool(address);
  await close();
  server.close();
}, 8_000);
