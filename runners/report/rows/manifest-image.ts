/** Where the embedded emulator serves the pictures that lie beside the manifest. */
const served = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/files\/(.+)$/;

/** A picture that was uploaded, with the path that the manifest had. */
const uploaded = /^s3:\/\/[^#]+#(.+)$/;

/** An image as the manifest had it: a rehearsal sends paths as addresses of the emulator, which is gone afterwards. */
export function manifestImage(image: string, isLocal: boolean): string {
  const path = (isLocal ? served : uploaded).exec(image)?.[1];
  if (path === undefined) return image;
  try {
    return path.split('/').map(decodeURIComponent).join('/');
  } catch {
    return image;
  }
}
