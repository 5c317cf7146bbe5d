export interface ManifestFormat {
  readonly format: 'csv' | 'jsonl';
  readonly gzip: boolean;
}

/** What a file is by its name: `.csv`, `.jsonl` or `.ndjson`, each also with `.gz` behind it; else `undefined`. */
export function manifestFormat(path: string): ManifestFormat | undefined {
  const match = /\.(csv|jsonl|ndjson)(\.gz)?$/i.exec(path);
  if (match === null) return undefined;
  return { format: match[1]?.toLowerCase() === 'csv' ? 'csv' : 'jsonl', gzip: match[2] !== undefined };
}
