import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface BenchService {
  readonly baseUrl: string;
  /** Counts since the last call. */
  counts(): Promise<ServiceCounts>;
  close(): void;
}

export interface ServiceCounts {
  readonly answered: number;
  readonly refused: number;
  readonly runs: number;
  readonly polls: number;
  /** In ms since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** When the job that ended last did, when that was told, and when it was asked for (or submitted) before. */
  readonly endedAt: number;
  readonly reportedAt: number;
  readonly askedAt: number;
  /** CPU of the service since its start. */
  readonly cpuMs: number;
}

/** Starts the service that answers at once in a process of its own. */
export async function startService(
  settings: { longestMs?: number; perSecond?: number; noise?: number } = {},
): Promise<BenchService> {
  const { longestMs = 0, perSecond = Infinity, noise = 0 } = settings;
  const script = 'test/bench/service/serve-instantly.ts';
  const child = spawn(
    process.execPath,
    ['.config/run-ts.mjs', script, String(longestMs), String(perSecond), String(noise)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  for await (const line of createInterface(child.stdout)) {
    const { baseUrl } = JSON.parse(line) as { baseUrl: string };
    return {
      baseUrl,
      counts: async () => (await (await fetch(`${baseUrl}/counts`)).json()) as ServiceCounts,
      close: () => child.stdin.end(),
    };
  }
  throw new Error('the service did not start');
}
