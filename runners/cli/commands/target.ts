import type { ResolveImage } from '../../batch/manifest/manifest-settings.js';

/** The service that a run talks to: the real one, or the emulator in this process. */
export interface Target {
  readonly baseUrl?: string;
  readonly lbBaseUrl?: string;
  readonly apiKey: string;
  readonly local: boolean;
  /** Turns a picture's path into a URL; without it paths are refused. */
  readonly resolveImage?: ResolveImage;
  /** What image edits need here and is not installed, with how to install it. */
  readonly editsNeed?: string;
  /** Ends the emulator. */
  close(): Promise<void>;
}
