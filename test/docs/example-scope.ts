import { of } from 'rxjs';
import { createClient } from 'millrace';
import { startEmulator } from 'millrace/emulator';
import * as z from 'zod';

/** What the examples of the documentation take for granted. A name that an example makes itself is not taken from here. */
export const emulator = await startEmulator({
  files: 'samples/pictures',
  workers: 8,
  functions: { queue: { upscale: (input) => input, describe: () => ({ text: 'sepia' }) } },
});
export const { apiKey, baseUrl } = emulator;
export const client = createClient({ apiKey, baseUrl });
export const endpoint = client.queue('echo');
export const edit = client.imageEdit('image-edit');
export const upscale = client.queue('upscale', { input: z.object({ url: z.string() }) });
export const describe = client.queue('describe', { output: z.object({ text: z.string() }) });

const picture = emulator.fileUrl('lake.jpg');
export const url = typeof picture === 'string' ? picture : '';
export const images = [url];
export const prompts$ = of('sepia');
export const row = { images, prompt: 'grayscale' };
export const rows = [row, { images, prompt: 'blur' }];
export const edits = [row];
export const photos = [{ url }];
export const show = (what: unknown): unknown => what;
export const save = (...all: unknown[]): unknown => all;
export const fallback = (code: string): string => code;
