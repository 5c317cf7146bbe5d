import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface CommandCost {
  readonly code: number | null;
  readonly peakMb: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  /** In ms since the epoch. */
  readonly endedAt: number;
  readonly stderr: string;
  readonly stdout: string;
}

/** Says at its exit what the process took. VmHWM and not maxRSS, which a child inherits from who started it. */
const printAtExit = `data:text/javascript,${encodeURIComponent(`
import { readFileSync, writeSync } from 'node:fs';
process.on('exit', () => {
  const [, kb] = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const { user, system } = process.cpuUsage();
  writeSync(2, '\\n' + JSON.stringify({ benchKb: Number(kb), cpuMs: (user + system) / 1000 }) + '\\n');
});`)}`;

/** Runs node with arguments to its end, and measures it; without `isReported` only its time, and nothing is loaded for it. */
export async function measureCommand(
  args: readonly string[],
  env: Record<string, string> = {},
  isReported = true,
): Promise<CommandCost> {
  const begin = performance.now();
  const child = spawn(process.execPath, [...(isReported ? ['--import', printAtExit] : []), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => (printed[name] += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const wallMs = performance.now() - begin;
  const endedAt = Date.now();
  const line = printed.stderr.split('\n').find((text) => text.startsWith('{"benchKb"')) ?? '{}';
  const { benchKb = 0, cpuMs = 0 } = JSON.parse(line) as { benchKb?: number; cpuMs?: number };
  return { code, peakMb: benchKb / 1024, cpuMs, wallMs, endedAt, ...printed };
}

/** CPU of all children that have ended so far, in ms, by the kernel's clock of 10 ms. */
export function childrenCpuMs(): number {
  const [, rest = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const fields = rest.split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
