/** What a file is for a person who opens it. */
export type ArtifactKind = 'picture' | 'video' | 'audio' | 'document' | 'archive' | 'model' | 'text';

/** Formats in words have no signature: the ending of the address says what they are. */
export const textFormats: readonly string[] = [
  ...['srt', 'vtt', 'txt', 'md', 'csv', 'json', 'jsonl'],
  ...['svg', 'obj', 'ply', 'stl'],
];

const formats: Readonly<Record<ArtifactKind, readonly string[]>> = {
  picture: ['png', 'jpeg', 'webp', 'gif', 'avif', 'heic', 'tiff', 'bmp'],
  video: ['mov', 'mp4', 'webm', 'mkv', 'avi'],
  audio: ['m4a', 'wav', 'flac', 'ogg', 'aac', 'mp3'],
  document: ['pdf'],
  archive: ['zip', 'gz', '7z', 'xz', 'zst', 'tar'],
  model: ['glb', 'safetensors'],
  text: textFormats,
};

/** What a saved file is, by the ending that its bytes have given it. */
export function kindOfPath(path: string): ArtifactKind | undefined {
  const ending = path.slice(path.lastIndexOf('.') + 1);
  const found = Object.entries(formats).find(([, endings]) => endings.includes(ending));
  return found?.[0] as ArtifactKind | undefined;
}
