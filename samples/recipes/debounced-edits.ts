import { debounceTime, distinctUntilChanged, filter, firstValueFrom, map, Subject } from 'rxjs';
import { createClient, switchJobs, toOutput } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// A prompt field beside a picture: an edit is bought when nobody has typed for a moment, and only for another prompt.
const emulator = await startEmulator({ files: 'samples/pictures' });
const client = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl });
const edit = client.imageEdit('image-edit');
const lake = emulator.fileUrl('lake.jpg');
if (typeof lake !== 'string') throw new Error(lake.problem);

const typed = new Subject<string>();
const pictures = typed.pipe(
  map((prompt) => prompt.trim()),
  filter((prompt) => prompt !== ''),
  debounceTime(30),
  distinctUntilChanged(),
  switchJobs((prompt) => edit.run({ images: [lake], prompt })),
);
const picture = firstValueFrom(pictures.pipe(toOutput()));

for (const prompt of ['', 's', 'se', 'sepia', 'sepia ', 'sepia']) typed.next(prompt);

const { image_url, cost } = await picture;
console.log(`${image_url?.startsWith(emulator.baseUrl) ? 'a picture' : 'no picture'} for $${cost}`);
console.log(`${emulator.bill().length} edit bought`);
await emulator.close();
