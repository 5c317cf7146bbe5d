/** A place that the service can fetch pictures of this machine from. */
export interface PictureHost {
  /**
   * Sees to it that the picture lies there, once for its content. Resolves to its name, which is no secret and stands in
   * the files: `s3://bucket/prefix/<sha256>.png`.
   *
   * @param path as the manifest has it
   * @throws {UploadError}
   */
  put(path: string): Promise<string>;
  /** An address at which anybody can fetch what `put` named, for so many milliseconds. Made anew by each call. */
  addressOf(name: string, lifetimeMs: number): Promise<string>;
  /** Once nothing is asked of it any more. */
  close(): Promise<void>;
}
