import type { OutStream } from './cli-io.js';

/** A terminal that does not know its width reports 0. */
export function columnsOf({ columns = 0 }: Pick<OutStream, 'columns'>): number {
  return columns > 0 ? columns : 80;
}

/**
 * Lines that a terminal would break in the middle of a word are broken between words, under their own indentation. A
 * command on a line of its own goes on behind a backslash, so that it can be copied as it stands. What draws on the terminal
 * (escape sequences) and JSON stay as they are.
 */
export function wrapLines(text: string, columns: number): string {
  if (/\u001b\[[\d;]*[A-HJKf]/.test(text)) return text;
  return text
    .split('\n')
    .map((line) => (widthOf(line) <= columns || /^[[{]/.test(line) ? line : wrapLine(line, columns)))
    .join('\n');
}

/** How many columns a line takes without its colours. */
export function widthOf(line: string): number {
  return line.replace(/\u001b\[[\d;]*m/g, '').length;
}

function wrapLine(line: string, columns: number): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const isCommand = line.trimStart().startsWith('millrace ');
  const [room, hanging] = isCommand ? [columns - 2, `${indent}  `] : [columns, indent];
  const lines: string[] = [];
  let now = '';
  for (const word of wordsOf(line.slice(indent.length))) {
    const start = lines.length === 0 ? indent : hanging;
    if (now === '') now = start + word;
    else if (widthOf(now) + 1 + widthOf(word) <= room) now += ` ${word}`;
    else {
      lines.push(now);
      now = hanging + word;
    }
  }
  return [...lines, now].join(isCommand ? ' \\\n' : '\n');
}

/** A quoted word of a command is one word; columns that stand apart by spaces stay apart. */
function wordsOf(text: string): string[] {
  return (
    text
      .match(/'[^']*'|\S+(?: {2,}(?=\S))?/g)
      ?.map((word) => word.replace(/ +$/, (spaces) => spaces.slice(1))) ?? []
  );
}

/** The stream, with lines wrapped where it is a terminal. All else of it stays: questions are asked through it as well. */
export function wrapped<T extends OutStream>(stream: T): T {
  if (stream.isTTY !== true) return stream;
  const write = (text: string): boolean => stream.write(wrapLines(text, columnsOf(stream)));
  return new Proxy(stream, {
    get(target, name) {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
