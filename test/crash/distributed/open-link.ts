import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What a second host reaches the first one over. */
export interface Link {
  readonly kind: 'namespaces' | 'proxy';
  /** The second host's processes are started by this. */
  readonly within: readonly string[];
  /** The address of a service, as both hosts have it. */
  service(url: string): Promise<string>;
  /** The address of the database, as each host has it. */
  database(url: string): Promise<{ near: string; far: string }>;
  /** Nothing gets through any more, and nobody is told. */
  cut(): void;
  /** What waits on both sides goes on. */
  mend(): void;
  close(): void;
}

/**
 * A second host: a network namespace, where those are to be had (root, Linux), whose only link carries all. Elsewhere a
 * proxy between its worker and the database that keeps what it hears to itself; the service is reached past it.
 */
export function openLink(kind?: Link['kind']): Link {
  if (kind === 'proxy') return proxyLink();
  try {
    return namespaceLink();
  } catch (error) {
    if (kind !== undefined) throw error;
    return proxyLink();
  }
}

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] });

/** Named by this process: others may have links of their own. */
function namespaceLink(): Link {
  const far = `millrace-${process.pid}`;
  const near = `mr${process.pid}`;
  const subnet = `10.77.${process.pid % 250}`;
  const passes: Pass[] = [];
  const close = () => {
    for (const pass of passes) pass.close();
    for (const args of [
      ['link', 'del', near],
      ['netns', 'del', far],
    ])
      try {
        ip(...args);
      } catch {
        // It is not there.
      }
  };
  try {
    ip('netns', 'add', far);
    ip('link', 'add', near, 'type', 'veth', 'peer', 'name', 'far0', 'netns', far);
    ip('addr', 'add', `${subnet}.1/24`, 'dev', near);
    ip('link', 'set', near, 'up');
    ip('-n', far, 'addr', 'add', `${subnet}.2/24`, 'dev', 'far0');
    ip('-n', far, 'link', 'set', 'far0', 'up');
  } catch (error) {
    close();
    throw error;
  }
  const reachable = async (url: string) => {
    const pass = await openPass(url, `${subnet}.1`);
    passes.push(pass);
    return pass.url;
  };
  return {
    kind: 'namespaces',
    within: ['ip', 'netns', 'exec', far],
    service: reachable,
    async database(url) {
      const both = await reachable(url);
      return { near: both, far: both };
    },
    cut: () => void ip('link', 'set', near, 'down'),
    mend: () => void ip('link', 'set', near, 'up'),
    close,
  };
}

function proxyLink(): Link {
  let pass: Pass | undefined;
  return {
    kind: 'proxy',
    within: [],
    service: (url) => Promise.resolve(url),
    async database(url) {
      pass = await openPass(url, '127.0.0.1');
      return { near: url, far: pass.url };
    },
    cut: () => pass?.hold(true),
    mend: () => pass?.hold(false),
    close: () => pass?.close(),
  };
}

/** What comes to another address is passed on to a loopback one. */
interface Pass {
  readonly url: string;
  /** Whatever comes is kept, also new connections. */
  hold(isHeld: boolean): void;
  close(): void;
}

async function openPass(url: string, address: string): Promise<Pass> {
  const { port, host } = new URL(url);
  const sockets = new Set<Socket>();
  let isHeld = false;
  const server = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    const pair = [near, far];
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => void to.write(bytes));
      from.on('end', () => to.end());
      from.on('error', () => pair.forEach((one) => one.destroy()));
      from.on('close', () => sockets.delete(from));
      if (isHeld) from.pause();
    }
  });
  await once(server.listen(0, address), 'listening');
  return {
    url: url.replace(host, `${address}:${(server.address() as AddressInfo).port}`),
    hold(held) {
      isHeld = held;
      for (const socket of sockets)
        if (held) socket.pause();
        else socket.resume();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
