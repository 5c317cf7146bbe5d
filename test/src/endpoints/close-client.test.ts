import { firstValueFrom, ignoreElements, timer, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/endpoints/create-client.js';
import { clientOver, finished } from '../../support/client-over.js';
import { serveQueue } from '../../support/queue-server.js';
import { scriptedClient } from '../../support/scripted-client.js';

const turn = () => new Promise(setImmediate);
const closed = { code: 'closed' };

describe('client.close()', () => {
  it('ends the streams of its jobs, and waits for the answer to a POST that is on the wire', async () => {
    const service = scriptedClient();
    const endpoint = service.client.queue('e');
    const [paid, waiting] = [endpoint.run({ row: 1 }), endpoint.attach('old')];
    const outcomes = [paid, waiting].map((job) => expect(job.outcome()).rejects.toMatchObject(closed));
    let isClosed = false;
    const closing = service.client.close().then(() => (isClosed = true));
    await Promise.all(outcomes);
    await turn();
    expect(isClosed).toBe(false);
    service.answer('/run', { id: 'j', status: 'IN_QUEUE' });
    await closing;
    expect(paid.jobId).toBe('j');
    expect(service.paths.filter((path) => path.includes('/status/j'))).toStrictEqual([]);
  });

  it('waits until what was accepted is durable, and until a job is cancelled that is not wanted any more', async () => {
    const service = scriptedClient();
    let durable = () => {};
    const checkpoint = ({ type }: { type: string }) =>
      type === 'accepted' ? new Promise<void>((resolve) => (durable = resolve)) : [];
    service.client
      .queue('e', { onUnsubscribe: 'cancel' })
      .run({}, { checkpoint })
      .subscribe({ error: () => undefined });
    const steps: string[] = [];
    const closing = service.client.close().then(() => steps.push('closed'));
    service.answer('/run', { id: 'j', status: 'IN_QUEUE' });
    await turn();
    steps.push('durable');
    durable();
    await turn();
    steps.push('cancelled');
    service.answer('/cancel/j', { id: 'j', status: 'CANCELLED' });
    await closing;
    expect(steps).toStrictEqual(['durable', 'cancelled', 'closed']);
  });

  it('sends nothing more: a job that is subscribed afterwards errors, one that has ended keeps its outcome', async () => {
    const { client, sent } = clientOver(finished);
    const [ended, late] = [client.queue('e').run({}), client.queue('e').run({})];
    await ended.outcome();
    await client.close();
    await client.close();
    await expect(late.outcome()).rejects.toMatchObject(closed);
    expect(await ended.outcome()).toMatchObject({ status: 'completed' });
    expect(sent).toHaveLength(1);
  });

  it('is no error for a job that has just ended: its subscriber, or a listener of all jobs, closes the client at `settled`', async () => {
    for (const bySubscriber of [true, false]) {
      const { client } = clientOver(finished);
      const seen: string[] = [];
      const closeAt = ({ type }: { type: string }) => void (type === 'settled' && client.close());
      if (!bySubscriber) client.activity$.subscribe(closeAt);
      client
        .queue('e')
        .run({})
        .subscribe({
          next: (event) => {
            seen.push(event.type);
            if (bySubscriber) closeAt(event);
          },
          error: (error: Error) => seen.push(error.message),
          complete: () => seen.push('complete'),
        });
      await client.close();
      expect(seen.slice(-2)).toStrictEqual(['settled', 'complete']);
    }
  });

  it('is no error for a subscriber that joins a job at `settled`, after the client is closed', async () => {
    const { client } = clientOver(finished);
    const job = client.queue('e').run({});
    const seen: string[] = [];
    client.activity$.subscribe(({ type }) => {
      if (type !== 'settled') return;
      void client.close();
      job.subscribe({
        next: (event) => seen.push(event.type),
        error: (error: Error) => seen.push(error.message),
        complete: () => seen.push('complete'),
      });
    });
    await job.outcome();
    expect(seen.slice(-2)).toStrictEqual(['settled', 'complete']);
  });

  it('sends no further request of a call that is no job, except a cancellation', async () => {
    const scheduler = new VirtualTimeScheduler(undefined, Infinity);
    const chunks = { status: 'IN_PROGRESS', stream: [] };
    const service = scriptedClient({ scheduler }, (path) =>
      path.includes('/stream/') ? chunks : { id: 'j', status: 'CANCELLED' },
    );
    const endpoint = service.client.queue('e');
    const ends: unknown[] = [];
    const observer = { error: (error: unknown) => ends.push(error) };
    endpoint.watchHealth().subscribe(observer);
    endpoint.stream('j').subscribe(observer);
    await service.client.close();
    const before = service.paths.length;
    scheduler.flush();
    endpoint.status('j').subscribe(observer);
    service.client.routes('https://lb.example.test').get('a').subscribe(observer);
    expect(ends).toStrictEqual(Array.from({ length: 4 }, () => expect.objectContaining(closed) as unknown));
    expect(service.paths).toHaveLength(before);
    expect(await firstValueFrom(endpoint.cancel('j'))).toMatchObject({ status: 'CANCELLED' });
  });

  it('sends no request that waits at the gate when it is closed, and gives its slot to a cancellation', async () => {
    const scheduler = new VirtualTimeScheduler(undefined, Infinity);
    const gate = { admit: () => timer(100, scheduler).pipe(ignoreElements()), observe: () => undefined };
    const service = scriptedClient({ scheduler, gate, maxConcurrency: 1 }, () => ({
      id: 'j',
      status: 'CANCELLED',
    }));
    const endpoint = service.client.queue('e');
    const ends: unknown[] = [];
    const observer = { error: (error: unknown) => ends.push(error) };
    endpoint.status('j').subscribe(observer);
    endpoint.stream('j').subscribe(observer);
    service.client.routes('https://lb.example.test').get('a').subscribe(observer);
    const cancelled = firstValueFrom(endpoint.cancel('j'));
    await service.client.close();
    scheduler.flush();
    expect(ends).toStrictEqual(Array.from({ length: 3 }, () => expect.objectContaining(closed) as unknown));
    expect(await cancelled).toMatchObject({ status: 'CANCELLED' });
    expect(service.paths.map((path) => path.split('/').at(-2))).toStrictEqual(['cancel']);
  });

  it('closes the connections that the client made, at the end of an `await using` block', async () => {
    await using server = await serveQueue({ polls: 0 });
    const disconnected = server.connectionClosed();
    {
      await using client = createClient({ baseUrl: server.url, apiKey: 'key-0123456789' });
      await client.queue('e').run({}).outcome();
    }
    await disconnected;
  });

  it('leaves a transport alone that it was given', async () => {
    let closes = 0;
    const { client } = clientOver();
    const transport = Object.assign(() => [], { close: () => (closes += 1) });
    const other = createClient({ transport: transport as never });
    await Promise.all([client.close(), other.close()]);
    expect(closes).toBe(0);
  });
});
