/** The package has no types; this is the part that is used. */
declare module 'fs-native-extensions' {
  const extensions: {
    /** Returns false if another holder has the lock; throws other errors. Length 0: the whole file. */
    tryLock(fd: number, offset?: number, length?: number, options?: { shared?: boolean }): boolean;
  };
  export = extensions;
}
