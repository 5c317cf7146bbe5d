import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Host } from './owner.js';

/** Where this process runs. What the system does not tell is left out. */
export function thisHost(): Host {
  return {
    name: hostname(),
    bootId: firstLine('/proc/sys/kernel/random/boot_id'),
    machineId: firstLine('/etc/machine-id'),
    inContainer:
      ['/.dockerenv', '/run/.containerenv'].some((path) => existsSync(path)) ||
      namesContainer('/proc/1/cgroup'),
  };
}

function firstLine(path: string): string | undefined {
  try {
    const line = readFileSync(path, 'utf8').split('\n', 1)[0]?.trim();
    return line === '' ? undefined : line;
  } catch {
    return undefined;
  }
}

function namesContainer(path: string): boolean {
  try {
    return /docker|kubepods|containerd|lxc|libpod/.test(readFileSync(path, 'utf8'));
  } catch {
    return false;
  }
}
