import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Host } from './owner.js';

/** Where this process runs. What the system does not tell is left out. */
export function thisHost(): Host {
  return {
    name: hostname(),
    bootId: firstLine('/proc/sys/kernel/random/boot_id'),
    machineId: firstLine('/etc/machine-id'),
    inContainer: isInContainer(),
  };
}

/** Docker and Podman leave a file, Kubernetes a variable, others a word in the first process's group; nearly all have layers as root. */
function isInContainer(): boolean {
  return (
    ['/.dockerenv', '/run/.containerenv'].some((path) => existsSync(path)) ||
    process.env['KUBERNETES_SERVICE_HOST'] !== undefined ||
    /docker|kubepods|containerd|lxc|libpod/.test(textOf('/proc/1/cgroup')) ||
    /^\S+ \/ overlay /m.test(textOf('/proc/self/mounts'))
  );
}

function firstLine(path: string): string | undefined {
  const line = textOf(path).split('\n', 1)[0]?.trim();
  return line === '' ? undefined : line;
}

/** Empty where there is none. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
