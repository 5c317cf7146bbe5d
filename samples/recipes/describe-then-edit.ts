import { from, lastValueFrom, toArray } from 'rxjs';
import { createClient, pullJobs, chainJob } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// A pipeline of two endpoints: a picture is described, and the description becomes the prompt of its edit.
// The types of an endpoint come from its id.
declare module 'millrace' {
  interface EndpointTypes {
    'describe-picture': { input: { url: string }; output: { text: string } };
  }
}

const describe = ({ url }: Record<string, unknown>) => {
  if (String(url).endsWith('fruit.jpg')) throw new Error('nothing to be seen');
  return { text: `sepia, caption "${String(url).split('/').at(-1)}"` };
};
const emulator = await startEmulator({
  files: 'samples/pictures',
  functions: { queue: { 'describe-picture': describe } },
});
const client = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl });
const describer = client.queue('describe-picture');
const editor = client.imageEdit('image-edit');

const urls = ['lake.jpg', 'fruit.jpg', 'desert.jpg'].map((name) => {
  const url = emulator.fileUrl(name);
  if (typeof url !== 'string') throw new Error(url.problem);
  return url;
});
const edited = pullJobs(
  urls,
  (url) =>
    describer.run({ url }).pipe(chainJob(({ text }) => editor.runSync({ images: [url], prompt: text }))),
  { concurrency: 2 },
);

// A description that fails is a value like any other: the other rows go on.
for (const { row, outcome } of await lastValueFrom(from(edited).pipe(toArray())))
  console.log(row.split('/').at(-1), outcome.status === 'completed' ? outcome.output.cost : outcome.code);
await emulator.close();
