import { expect, it } from 'vitest';
import { joinQuoted } from '../../../../runners/batch/sinks/line-text.js';

it('puts the lines of a quoted cell together', async () => {
  const lines = (async function* () {
    for (const line of ['a,1', '"b', 'c ""d""', '",2', '"e""f",3', '"', '",4'])
      yield await Promise.resolve(Buffer.from(line));
  })();
  const records: string[] = [];
  for await (const record of joinQuoted(lines)) records.push(record.toString());
  expect(records).toEqual(['a,1', '"b\nc ""d""\n",2', '"e""f",3', '"\n",4']);
});
