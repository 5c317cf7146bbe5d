/** Nobody answers below `.invalid`: what stands for a picture of this machine can never be fetched by mistake. */
const origin = 'https://local-picture.invalid/';

/** What stands in a checked row for the picture at a path, until it is uploaded. */
export function localPicture(path: string): string {
  return `${origin}${encodeURIComponent(path)}`;
}

/** The path that an image stands for; `undefined`: it is an address of its own. */
export function localPicturePath(image: string): string | undefined {
  return image.startsWith(origin) ? decodeURIComponent(image.slice(origin.length)) : undefined;
}
