/** The package brings no types; this is the part that is used. */
declare module 'fs-native-extensions' {
  const extensions: {
    /** False where somebody else has the lock; throws what else fails. Length 0: the whole file. */
    tryLock(fd: number, offset?: number, length?: number, options?: { shared?: boolean }): boolean;
  };
  export = extensions;
}
