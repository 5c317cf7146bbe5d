import { readdirSync, readFileSync } from 'node:fs';

interface ProcessCpu {
  readonly parent: number;
  readonly ownMs: number;
  /** Of children that have ended. */
  readonly childrenMs: number;
}

/** CPU of a process so far, by the kernel's clock of 10 ms. */
export function cpuMs(pid: number): number {
  return read(pid)?.ownMs ?? Number.NaN;
}

/** The same of a process and all of its children, also of those that have ended. */
export function cpuMsOfTree(pid: number): number {
  const root = read(pid);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => read(Number(name)))
    .filter((one) => one?.parent === pid);
  const ofChildren = children.reduce((sum, one) => sum + (one?.ownMs ?? 0), 0);
  return root === undefined ? Number.NaN : root.ownMs + root.childrenMs + ofChildren;
}

export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024);
}

/** `undefined`: it has ended. */
function read(pid: number): ProcessCpu | undefined {
  let stat;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  const ms = (from: number) => ((fields[from] ?? 0) + (fields[from + 1] ?? 0)) * 10;
  return { parent, ownMs: ms(11), childrenMs: ms(13) };
}
