import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';

const packageName = '@sparticuz/chromium';

/**
 * A headless Chromium out of npm packages alone: the binary, a font, and the shared libraries that a bare container lacks.
 * It is unpacked once a machine, under the system's temporary folder; close it when the tests are done.
 */
export async function launchBrowser(): Promise<Browser> {
  const home = join(tmpdir(), `millrace-chromium-${packageVersion()}`);
  if (!existsSync(home)) await unpackTo(home);
  return chromium.launch({
    executablePath: join(home, 'chromium'),
    args: ['--no-sandbox', '--font-render-hinting=none', '--force-color-profile=srgb'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(home, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(home, 'fonts.conf'),
    },
  });
}

function packageVersion(): string {
  const entry = createRequire(import.meta.url).resolve(packageName);
  const root = entry.slice(0, entry.lastIndexOf(packageName) + packageName.length);
  return (createRequire(import.meta.url)(join(root, 'package.json')) as { version: string }).version;
}

/** Unpacks in a folder of its own and renames it, so that two test processes at once never see half a browser. */
async function unpackTo(home: string): Promise<void> {
  const own = await mkdtemp(join(tmpdir(), 'millrace-chromium-'));
  const program = `import(${JSON.stringify(packageName)}).then((m) => m.default.executablePath())`;
  await promisify(execFile)(process.execPath, ['-e', program], {
    cwd: new URL('../..', import.meta.url),
    // The package unpacks its libraries only where it believes to be on Amazon's Linux.
    env: { ...process.env, TMPDIR: own, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' },
  });
  const fonts = [join(home, 'fonts'), '/usr/share/fonts'].map((folder) => `<dir>${folder}</dir>`).join('');
  await writeFile(
    join(own, 'fonts.conf'),
    `<fontconfig>${fonts}<cachedir>${home}/fonts-cache</cachedir></fontconfig>`,
  );
  await rename(own, home).catch(() => rm(own, { recursive: true, force: true }));
}
