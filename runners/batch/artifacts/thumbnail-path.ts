/**
 * Where the thumbnail of a saved picture lies, relative to the output folder. The picture's hash is part of the name, so
 * that a picture that was bought again never shows the thumbnail of the earlier one.
 */
export function thumbnailPath(image: { readonly path: string; readonly sha256: string }): string {
  const name = image.path.slice(image.path.lastIndexOf('/') + 1);
  const mark = /^[0-9a-f]{8}/i.exec(image.sha256)?.[0] ?? '0';
  return `thumbnails/${name}.${mark}.webp`;
}
