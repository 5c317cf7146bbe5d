import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll } from 'vitest';

// Runs note there what they have bought, and lock their paths. That is neither for the person who runs the tests nor for other tests,
// whose services may have had the same port, and whose rows may look the same.
const folder = mkdtempSync(join(tmpdir(), 'millrace-test-state-'));
process.env['XDG_STATE_HOME'] = folder;

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
