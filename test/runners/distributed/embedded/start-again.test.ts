import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connectDatabase } from '../../../../runners/distributed/connect-database.js';
import { readPlace } from '../../../../runners/distributed/embedded/database-place.js';
import { serverPid } from '../../../../runners/distributed/embedded/cluster.js';
import { until } from '../../../support/until.js';

it('is started again by the process that uses it, where somebody has killed it', async () => {
  const out = await mkdtemp(join(tmpdir(), 'millrace-again-'));
  await chmod(out, 0o755);
  const database = await connectDatabase({ embeddedIn: out });
  const ask = () =>
    database.pool.query('select from millrace.runs').then(
      () => true,
      () => false,
    );
  const pidOf = async () => serverPid((await readPlace(out))?.folder ?? '');
  try {
    expect(await ask()).toBe(true);
    const first = (await pidOf()) ?? 0;
    process.kill(first, 'SIGKILL');
    await until(async () => (await pidOf()) !== first && (await ask()));
  } finally {
    await database.close();
    await rm(out, { recursive: true, force: true });
  }
});
