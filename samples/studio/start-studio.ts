import type { Server } from 'node:http';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createAdaptorServer } from '@hono/node-server';
import { startEmulator, type Emulator, type EmulatorOptions } from 'millrace/emulator';
import { bundlePage } from './server/bundle-page.js';
import { createApp } from './server/studio-app.js';
import { openShop } from './server/open-shop.js';
import { PictureShelf } from './server/served-pictures.js';
import { Tabs } from './server/tabs.js';

export interface StudioOptions {
  /** @defaultValue 0: a free port */
  readonly port?: number;
  /** What all pages together may spend, in USD. @defaultValue 2 */
  readonly capUsd?: number;
  /** The service behind. @defaultValue two workers that take some seconds a picture */
  readonly emulator?: EmulatorOptions;
  /** The page's sources. @defaultValue those of this project, wherever the command is called */
  readonly page?: string;
}

export interface Studio {
  readonly url: string;
  readonly emulator: Emulator;
  /** Cancels what is under way and hangs up. */
  close(): Promise<void>;
}

/** The service, the server between, and the page, all on this machine. */
export async function startStudio(options: StudioOptions = {}): Promise<Studio> {
  const { port = 0, capUsd = 2, page = pageSources() } = options;
  const files = await bundlePage(page);
  const emulator = await startEmulator(
    options.emulator ?? { workers: 2, latency: 'lognormal:4000:0.5', seed: Date.now() },
  );
  const shop = openShop({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl, capUsd, isRehearsal: true });
  const shelf = new PictureShelf();
  const tabs = new Tabs(shop, shelf);
  const app = createApp({ files, tabs, shelf, picturesFrom: emulator.baseUrl });
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  const url = await listen(server, port).catch(async (error: unknown) => {
    await emulator.close();
    throw error;
  });
  shelf.origin = url;
  return {
    url: `${url}/`,
    emulator,
    async close() {
      tabs.close();
      await shop.close();
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
      await emulator.close();
    },
  };
}

/** Seen from here, and from dist/samples/studio. */
function pageSources(): string {
  const places = ['./page', '../../../samples/studio/page'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return places.find((place) => existsSync(`${place}/index.html`)) ?? places.join();
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((done, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      const found = typeof address === 'object' && address !== null ? address.port : port;
      done(`http://127.0.0.1:${found}`);
    });
  });
}
