/** As much of a terminal as a display needs: text, line ends, cursor up, clearing, colours that are skipped. */
export interface Screen {
  feed(output: string): void;
  /** What stands on it, without the blanks at the ends. */
  lines(): string[];
  /** How often a text ran into the right edge. */
  readonly wraps: number;
  /** Control sequences that it does not know. */
  readonly strange: readonly string[];
}

const token = /\u001b\[([\d;?]*)([A-Za-z])|[\r\n]|[^\r\n\u001b]+|\u001b/gu;

/** An empty screen of so many columns; it is as high as what is written to it. */
export function openScreen(columns: number): Screen {
  const cells: string[][] = [[]];
  const strange: string[] = [];
  let [row, column, wraps] = [0, 0, 0];
  const clear: Record<string, () => void> = {
    K: () => void cells[row]!.splice(column),
    J: () => {
      cells[row]!.splice(column);
      cells.splice(row + 1);
    },
  };
  const nextRow = () => {
    row += 1;
    cells[row] ??= [];
  };
  const write = (text: string) => {
    for (const letter of text) {
      if (column === columns) {
        wraps += 1;
        column = 0;
        nextRow();
      }
      while (cells[row]!.length < column) cells[row]!.push(' ');
      cells[row]![column] = letter;
      column += 1;
    }
  };
  return {
    feed(output) {
      for (const [all, given = '', command] of output.matchAll(token)) {
        if (all === '\r') column = 0;
        else if (all === '\n') nextRow();
        else if (command === 'A') row = Math.max(0, row - Number(given || 1));
        else if (command !== undefined && clear[command] !== undefined) clear[command]();
        else if (command === 'm') continue;
        else if (all.startsWith('\u001b')) strange.push(all);
        else write(all);
      }
    },
    lines: () => cells.map((line) => line.join('').trimEnd()),
    get wraps() {
      return wraps;
    },
    strange,
  };
}
