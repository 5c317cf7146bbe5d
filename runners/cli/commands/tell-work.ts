import { asyncScheduler, interval } from 'rxjs';
import type { WorkerEvent } from '../../distributed/work/worker-options.js';
import type { CliIo } from '../io/cli-io.js';
import { formatCount } from '../words/amounts.js';
import { plainText } from '../words/plain-text.js';

const everyMs = 30_000;

/** Tells on stderr what a worker does: a line for what happens, and every 30 s how far it is. */
export function tellWork(
  io: CliIo,
  quiet: boolean,
  { shown, isPrivate }: { readonly shown: string; readonly isPrivate: boolean },
): { readonly tell: (event: WorkerEvent) => void; readonly close: () => void } {
  const say = (text: string) => void io.stderr.write(`${plainText(text, 2000)}\n`);
  const chat = (text: string) => {
    if (!quiet) say(text);
  };
  if (!isPrivate)
    say(`warning: the connection to ${shown} is not encrypted: PGSSLMODE=verify-full checks and encrypts it`);
  let progress = { submitted: 0, ended: 0 };
  let said = progress;
  const telling = interval(everyMs, io.scheduler ?? asyncScheduler).subscribe(() => {
    if (progress !== said) chat(progressText(progress));
    said = progress;
  });
  const tell = (event: WorkerEvent): void => {
    if (event.type === 'progress') progress = event;
    else if (event.type === 'started') chat(`working for ${shown}`);
    else if (event.type === 'run') chat(`working on run ${event.run}`);
    else if (event.type === 'back') chat('the database is back');
    else say(`warning: ${event.message}`);
  };
  return {
    tell,
    close: () => {
      telling.unsubscribe();
      chat(`left; ${progressText(progress)}`);
    },
  };
}

function progressText({ submitted, ended }: { submitted: number; ended: number }): string {
  return `${formatCount(submitted)} submitted, ${formatCount(ended)} ended`;
}
