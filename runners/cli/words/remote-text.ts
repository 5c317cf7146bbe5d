import type { RemoteStatus } from '../../distributed/remote-status.js';
import { formatCount, formatDuration } from './amounts.js';
import { plainText } from './plain-text.js';

/** A worker that has said nothing for so long is named as silent. */
const silentMs = 15_000;

/** Where a run stands in its database, and a line for each worker. `now` in ms since the epoch. */
export function remoteText(remote: RemoteStatus, now: number): string[] {
  const database = plainText(remote.database, 200);
  if ('problem' in remote) return fact('database', `${database}: ${plainText(remote.problem, 500)}`);
  const { state, workers } = remote;
  const { open, inFlight, saving, stop } = state;
  const parts = [
    `${formatCount(open)} wait`,
    `${formatCount(inFlight)} in flight`,
    ...(saving > 0 ? [`${formatCount(saving)} being saved`] : []),
    ...(stop === undefined ? [] : ['stopped']),
  ];
  return [
    ...fact('database', `${database}: ${parts.join(', ')}`),
    ...(workers.length === 0
      ? fact('workers', 'none')
      : workers.flatMap((worker) => workerText(worker, now))),
  ];
}

type Worker = Extract<RemoteStatus, { workers: unknown }>['workers'][number];

function workerText({ host, pid, startedAt, seenMsAgo, does }: Worker, now: number): string[] {
  const { submits, polls, downloads } = does;
  const work = [
    submits > 0 && `submits ${formatCount(submits)}`,
    polls > 0 && `polls ${formatCount(polls)}`,
    downloads > 0 && `saves ${formatCount(downloads)}`,
  ].filter((part) => part !== false);
  const what = seenMsAgo > silentMs ? `silent for ${formatDuration(seenMsAgo)}` : work.join(', ') || 'waits';
  return fact(
    'worker',
    `${plainText(host, 60)}, process ${pid}, for ${formatDuration(now - startedAt)}: ${what}`,
  );
}

function fact(label: string, text: string): string[] {
  return [`  ${label.padEnd(12)} ${text}`];
}
