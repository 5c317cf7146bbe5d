/** The verdicts as a table in Markdown, a column a contender. */
export function table(verdicts) {
  const rows = [
    ['', ...verdicts.map(({ name }) => name)],
    line('edits asked for', ({ rows }) => rows),
    line('bought, by the bill of the service', ({ bought, billUsd }) => `${bought} = ${usd(billUsd)}`),
    line('whole pictures in the folder', ({ pictures }) => pictures),
    line('paid twice', ({ paidTwice, paidTwiceUsd }) => `${paidTwice} = ${usd(paidTwiceUsd)}`),
    line('lost: paid, no whole picture, no word of it in a file', ({ lost }) => lost),
    line('in doubt (`unknown`), by name', ({ named }) => named),
    line('its own books: paid for what it has', ({ knownUsd }) => usd(knownUsd)),
    line('its own books: in doubt', ({ heldUsd }) => usd(heldUsd)),
    line('on the bill and not in its books', ({ billUsd, knownUsd, heldUsd }) =>
      usd(Math.max(0, billUsd - knownUsd - heldUsd)),
    ),
    line('in doubt and not on the bill: never got there', ({ billUsd, knownUsd, heldUsd }) =>
      usd(Math.max(0, knownUsd + heldUsd - billUsd)),
    ),
    line('exit code', ({ exitCode }) => exitCode),
  ];
  const widths = rows[0].map((_, column) => Math.max(3, ...rows.map((cells) => cells[column].length)));
  const rule = widths.map((width, column) => '-'.repeat(width - (column > 0)) + (column > 0 ? ':' : ''));
  const [head, ...body] = rows.map((cells) => cells.map((cell, column) => pad(cell, column)));
  return [head, rule, ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

  function pad(cell, column) {
    return column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]);
  }

  function line(label, cell) {
    return [label, ...verdicts.map((verdict) => String(cell(verdict)))];
  }
}

function usd(amount) {
  return `$${amount.toFixed(4)}`;
}
