import type { ResolveImage } from '../manifest-settings.js';

/** A look at a file takes as long as fifty rows; many rows name the same few. */
const imagesKept = 10_000;

/** Asks once for each path, and remembers the answers, the bad ones too, of the last few thousand. */
export function rememberImages(resolve: ResolveImage): ResolveImage {
  const answers = new Map<string, ReturnType<ResolveImage>>();
  return (path) => {
    const known = answers.get(path);
    if (known !== undefined) return known;
    const answer = resolve(path);
    if (answers.size >= imagesKept) answers.clear();
    answers.set(path, answer);
    return answer;
  };
}
