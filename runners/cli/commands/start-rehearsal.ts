import { missingSharp } from '../../emulator/edit/load-sharp.js';
import { startEmulator } from '../../emulator/start-emulator.js';
import { emulatorSettings } from '../options/emulator-settings.js';
import type { RunOptions } from '../options/run-options.js';
import type { Target } from './target.js';

/** The emulator in this process, which also serves the pictures beside the manifest. */
export async function startRehearsal(options: RunOptions, folder: string, cwd: string): Promise<Target> {
  const { functions, workers, latency, faults, rateLimit, seed } = options;
  const settings = await emulatorSettings({ functions, workers, latency, faults, rateLimit, seed }, cwd);
  const editsNeed = missingSharp();
  const emulator = await startEmulator({ ...settings, files: folder });
  return {
    baseUrl: emulator.baseUrl,
    lbBaseUrl: emulator.lbBaseUrl,
    apiKey: emulator.apiKey,
    local: true,
    ...(editsNeed !== undefined && { editsNeed }),
    resolveImage: (path) => emulator.fileUrl(path),
    close: () => emulator.close(),
  };
}
