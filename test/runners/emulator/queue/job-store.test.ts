import { describe, expect, it } from 'vitest';
import type { Job } from '../../../../runners/emulator/queue/service-job.js';
import { createJobStore } from '../../../../runners/emulator/queue/job-store.js';

function job(id: string, more: Partial<Job> = {}): Job {
  return {
    id,
    endpoint: 'echo',
    operation: 'run',
    input: {},
    bytes: 100,
    limits: {},
    faults: [],
    status: 'IN_QUEUE',
    submittedAt: 0,
    executions: 0,
    costMicroDollars: 0,
    chunks: [],
    watchers: new Set(),
    ...more,
  };
}

function storeAt(limits: { maxJobs?: number; maxBytes?: number } = {}) {
  const time = { now: 0 };
  const forgotten: string[] = [];
  const store = createJobStore({
    now: () => time.now,
    maxJobs: limits.maxJobs ?? 1_000,
    maxBytes: limits.maxBytes ?? 1_000_000,
    onForgotten: ({ id }) => forgotten.push(id),
  });
  const end = (ended: Job) => {
    ended.status = 'COMPLETED';
    ended.endedAt = time.now;
    store.ended(ended);
  };
  return { store, time, forgotten, end };
}

describe('createJobStore', () => {
  it('holds no more ended jobs over a hundred thousand of them, and forgets the oldest first', () => {
    const { store, time, end } = storeAt({ maxJobs: 500 });
    let forgottenInOrder = true;
    let most = 0;
    for (let n = 0; n < 100_000; n += 1) {
      time.now += 1;
      const each = job(String(n), { operation: n % 2 ? 'run' : 'runsync', submittedAt: time.now });
      store.add(each);
      end(each);
      if (n % 10_000 === 9_999) {
        const left = [...store.all()].map(({ id }) => Number(id));
        most = Math.max(most, left.length);
        forgottenInOrder &&= left.every((id) => id > n - 500);
      }
    }
    expect([most, forgottenInOrder]).toEqual([500, true]);
  });

  it('holds no more bytes than allowed, yet always the newest result', () => {
    const { store, forgotten, end } = storeAt({ maxBytes: 1_000 });
    for (const id of ['a', 'b', 'c']) {
      const each = job(id, { bytes: 100, output: 'x'.repeat(300) });
      store.add(each);
      end(each);
    }
    expect(forgotten).toEqual(['a']);
    const huge = job('huge', { bytes: 10_000 });
    store.add(huge);
    end(huge);
    expect(forgotten).toEqual(['a', 'b', 'c']);
    expect(store.find('echo', 'huge')).toBe(huge);
  });

  it('never forgets a job that has not ended, whatever else comes', () => {
    const { store, end, forgotten } = storeAt({ maxJobs: 1 });
    const waiting = job('waiting');
    store.add(waiting);
    for (const id of ['a', 'b', 'c']) {
      const each = job(id);
      store.add(each);
      end(each);
    }
    expect(store.find('echo', 'waiting')).toBe(waiting);
    expect(forgotten).toEqual(['a', 'b']);
  });

  it('counts the retention of a retried job from its last end', () => {
    const { store, time, end, forgotten } = storeAt();
    const retried = job('retried');
    store.add(retried);
    end(retried);
    time.now = 29 * 60_000;
    Object.assign(retried, { status: 'IN_QUEUE', endedAt: undefined });
    time.now = 40 * 60_000;
    expect(store.find('echo', 'retried')).toBe(retried);
    end(retried);
    time.now = 70 * 60_000;
    expect(store.find('echo', 'retried')).toBe(retried);
    time.now += 1;
    expect(store.find('echo', 'retried')).toBeUndefined();
    expect(forgotten).toEqual(['retried']);
  });

  it('forgets results in the order of their retention without being asked for them', () => {
    const { store, time, end, forgotten } = storeAt();
    const [long, short] = [job('long'), job('short', { operation: 'runsync' })];
    for (const each of [long, short]) {
      store.add(each);
      end(each);
    }
    time.now = 60_001;
    expect(store.find('echo', 'none')).toBeUndefined();
    expect(forgotten).toEqual(['short']);
    time.now = 30 * 60_000 + 1;
    store.find('echo', 'none');
    expect(forgotten).toEqual(['short', 'long']);
    expect([...store.all()]).toEqual([]);
  });
});
