import type { OpenCallbackPort } from '../../runners/batch/context/callback-port.js';
import type { NodeAnswer, NodeCall } from '../../src/webhooks/answer-calls.js';
import type { Life } from './life.js';
import type { VirtualClock } from './virtual-clock.js';

/** How the service calls back, each with its chance a job. */
export interface CallWeather {
  readonly never: number;
  /** Up to a minute later. */
  readonly late: number;
  readonly twice: number;
  /** An address that was not given to anybody is called besides. */
  readonly forged: number;
  /** The call names a job that is known as another row's. */
  readonly wrong: number;
  /** Before the answer to the POST. */
  readonly first: number;
}

export const fairCalls: CallWeather = { never: 0, late: 0, twice: 0, forged: 0, wrong: 0, first: 0.2 };

export function randomCalls(random: () => number): CallWeather {
  const often = (): number => (random() < 0.4 ? random() ** 2 : 0);
  return {
    never: random() < 0.1 ? 1 : often() / 2,
    late: often(),
    twice: often(),
    forged: often(),
    wrong: often(),
    first: often(),
  };
}

type Handle = (request: NodeCall, response: NodeAnswer) => void;

interface Port {
  readonly life: Life;
  /** Resolves once the process can take something in. */
  readonly awake: () => Promise<void>;
  handle: Handle | undefined;
}

/** One public address for all processes that listen: a call goes to any of them. */
export class CallbackLine {
  private readonly ports = new Set<Port>();

  constructor(
    private readonly clock: VirtualClock,
    private readonly random: () => number,
  ) {}

  openFor(life: Life, awake: () => Promise<void> = () => Promise.resolve()): OpenCallbackPort {
    return () => {
      const port: Port = { life, awake, handle: undefined };
      this.ports.add(port);
      void life.died.then(() => this.ports.delete(port));
      return Promise.resolve({
        url: 'http://127.0.0.1:8787',
        pass: (handle: Handle) => (port.handle = handle),
        close: () => Promise.resolve(void this.ports.delete(port)),
      });
    };
  }

  /** Calls `done` with the status of the answer; `undefined`: nobody answered within 10 s. */
  call(address: string, body: string, done: (status: number | undefined) => void): void {
    let isDone = false;
    const end = (status?: number): void => {
      if (isDone) return;
      isDone = true;
      done(status);
    };
    this.clock.in(10_000, () => end());
    const open = [...this.ports].filter(({ life, handle }) => !life.isDead && handle !== undefined);
    const port = open[Math.floor(this.random() * open.length)];
    if (port === undefined) return;
    void port.awake().then(() => {
      if (!port.life.step()) return;
      let status = 0;
      const answer: NodeAnswer = {
        writeHead: (given) => (status = given),
        end: () => {
          if (!port.life.isDead) end(status);
        },
      };
      port.handle?.(callOf(address, body), answer);
    });
  }
}

function callOf(address: string, body: string): NodeCall {
  const bytes = Buffer.from(body);
  return {
    method: 'POST',
    url: new URL(address).pathname,
    headers: { 'content-length': String(bytes.length) },
    async *[Symbol.asyncIterator]() {
      yield await Promise.resolve(bytes);
    },
  };
}
