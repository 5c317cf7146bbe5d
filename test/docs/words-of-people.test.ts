import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

/** What people read stands in these: pages, terminal, and the files that tell how to use them. */
const places = ['runners/report', 'runners/cli', 'runners/batch', 'samples/studio', 'README.md'];

/** Texts that a newcomer had to read twice, each with what is said for it. */
const replaced: readonly (readonly [RegExp, string])[] = [
  [/\bnothing has ended yet: /i, 'Running: 0 of 60 done.'],
  [/\bare still to be done/i, '57 to go'],
  [/\brows? in flight, in process\b/i, 'Running: 23 rows in progress (PID 2933)'],
  [/\bthe last start was cut off\b/i, 'Stopped: the process ended without finishing.'],
  [/\bhad been sent by then\b/i, '5 rows were already sent.'],
  [/\banswered, to be saved\b/i, 'saving'],
  [/\bsent, no answer yet\b/i, 'sending'],
  [/\bnobody knows whether the service accepted\b/i, 'We lost the connection before the service answered.'],
  [/\bthe function itself failed\b/i, 'The job crashed.'],
  [/\bif the cause can pass\b/i, 'Try again'],
  [/\bare paid for and wait at the service\b/i, 'Paid, but the download failed.'],
  [/\bevery start checks them anew\b/i, 'Fix these rows in the manifest and run again.'],
  [/\bthe run takes it up, or\b/i, 'by what happened to the row'],
  [/\bis too long to be repeated\b/i, 'Too long to edit here. Change it in the manifest.'],
  [/\brepeating (?:it|them) costs?\b/i, 'Redo: $0.0875'],
  [/\ba repeat costs\b/i, 'Redo: $0.0875'],
  [/\bits pictures are paths\b/i, 'Saved edits.redo.csv.'],
  [/\bno row is like that\b/i, 'No matches.'],
  [/\bno row has ended yet\b/i, 'No results yet.'],
  [/\bhold to see the reference\b/i, 'Hold to see the original'],
  [/\bhalf within\b/i, 'Median'],
  [/\bhalf waited\b/i, 'Median 6.3 s, slowest 13 s'],
  [/\brows as they ended\b/i, 'Results over time'],
  [/\bwith no cap set\b/i, 'no limit set'],
  [/\bthe service told no times\b/i, 'the chart is left out'],
  [/\btoo few rows ended to draw\b/i, 'the chart is left out'],
  [/\bso nothing is known of status calls\b/i, 'the chart is left out'],
  [/\bthe watch has ended, or is being started\b/i, 'Disconnected. Reconnecting…'],
  [/\bis not where the run saved it\b/i, 'File not found: images/x.png'],
  [/\bbefore this one\b/i, 'Earlier versions'],
  [/\bwhat was not paid is sent again with\b/i, 'none charged. Retry: `…`'],
  [/\bonce the cause is gone, run again\b/i, 'not charged; retry: `…`'],
  [/\bon their way are waited for\b/i, 'Waiting for 6 paid replies. Ctrl-C again to stop now.'],
  [/\breserved for what may be on its way\b/i, '$0.5675 may still be charged'],
  [/\bdearer than expected\b/i, '$0.03 over estimate'],
  [/\bwas reckoned with\b/i, '$0.13 was expected'],
  [/\bdearer by\b/i, '30 % over the estimate'],
  [/\bthe gallery needs javascript\b/i, 'Turn on JavaScript to see the pictures.'],
  [/\bwhat should become of them\b/i, 'Describe the edit'],
  [/\bwhat you order stands here\b/i, 'Your edits appear here.'],
];

describe('one name for one thing', () => {
  const texts = new Map<string, string>();
  beforeAll(async () => {
    for (const place of places) for (const file of await filesIn(place)) texts.set(file, await textsIn(file));
  });

  it('finds what people read', () => {
    expect(texts.size).toBeGreaterThan(200);
    expect([...texts.values()].join('\n')).toMatch(/PID|may still be charged|Waiting for/);
  });

  it.each(replaced)('says nowhere any more: %s', (pattern) => {
    const found = [...texts].flatMap(([file, text]) => {
      const match = pattern.exec(text);
      return match === null ? [] : [`${file}: ${text.slice(match.index - 40, match.index + 80)}`];
    });
    expect(found).toEqual([]);
  });
});

async function filesIn(place: string): Promise<string[]> {
  if (place.endsWith('.md')) return [place];
  const names = await readdir(place, { recursive: true });
  return names.filter((name) => /\.(?:ts|eta|html)$/.test(name)).map((name) => join(place, name));
}

/** Without comments, and with broken lines joined: a template of several lines is one sentence. */
async function textsIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  const code = file.endsWith('.ts') ? text.replaceAll(/^\s*(?:\/\*\*?|\*|\/\/).*$/gm, '') : text;
  return code.replaceAll(/\s+/g, ' ');
}
