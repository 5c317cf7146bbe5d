import type { SchedulerLike } from 'rxjs';
import { readLiveLines } from '../../runners/batch/manifest/read-live-lines.js';
import { pick, type Random } from '../support/manifest-edits.js';
import { edit } from '../support/manifest-rows.js';

interface FedLine {
  readonly id?: string;
  readonly prompt: string;
}

/** The lines that a person feeds to a run with `--follow`: appended to, fed again, replaced, and torn. */
export class PersonsFeed {
  /** As the file has them now. */
  lines: FedLine[] = [];
  /** By each id: all that its lines have asked for. */
  readonly promptsOf = new Map<string, Set<string>>();
  private made = 0;

  constructor(private readonly random: Random) {}

  /** Appends lines and sometimes replaces some. Returns what was done. */
  edit(): string[] {
    const { random } = this;
    const done: string[] = [];
    if (this.lines.length > 1 && random() < 0.25) {
      const at = Math.floor(random() * this.lines.length);
      const { id, prompt } = this.lines[at] as FedLine;
      this.lines[at] = { ...(id !== undefined && { id }), prompt: `${prompt}!` };
      done.push(`replaced line ${at + 1} of the feed`);
    }
    for (let count = 1 + Math.floor(random() * 3); count > 0; count--) {
      this.made += 1;
      const hasId = random() < 0.75;
      this.lines.push({ ...(hasId && { id: `f${this.made}` }), prompt: `fed ${this.made}` });
    }
    return done;
  }

  get prompts(): string[] {
    for (const { id, prompt } of this.lines)
      if (id !== undefined) this.promptsOf.set(id, (this.promptsOf.get(id) ?? new Set()).add(prompt));
    return this.lines.map(({ prompt }) => prompt);
  }

  /** The lines that came whole, in the order in which they are fed, and the rows as they arrive. */
  feed(scheduler: SchedulerLike) {
    const { random } = this;
    const from = random() < 0.7 ? 0 : Math.floor(random() * this.lines.length);
    const isReplaced = random() < 0.2;
    const fed = [...this.lines.slice(from), ...(isReplaced ? this.lines : [])];
    const isTorn = random() < 0.3;
    const text = fed
      .map(({ id, prompt }) => JSON.stringify({ ...edit(id ?? '', { prompt }), id }))
      .join('\n');
    const bytes = Buffer.from(isTorn ? text.slice(0, -1 - Math.floor(random() * 40)) : `${text}\n`);
    const whole = isTorn ? fed.slice(0, -1) : fed;
    const most = pick([7, 60, 1_000], random);
    async function* chunks() {
      for (let at = 0; at < bytes.length; at += most) {
        if (random() < 0.3)
          await new Promise<void>((resolve) => scheduler.schedule(() => resolve(), random() * 2_000));
        yield bytes.subarray(at, at + most);
      }
    }
    return { whole, rows: readLiveLines(chunks()) };
  }
}
