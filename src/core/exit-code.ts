/** Exit codes of the process. A partial or empty result has a code other than success. */
export const EXIT = {
  ok: 0,
  crash: 1,
  /**
   * A problem with the configuration, the command line, or something that they rely on: files, folders, the
   * credentials of a store.
   */
  configuration: 2,
  rowsRejected: 3,
  /** The service refused the key, or the key belongs to another account. */
  authentication: 4,
  alreadyRunning: 5,
  doubts: 6,
  /** The database lacks claims that were made: it was restored, failed over or replaced. */
  ledgerWentBack: 7,
  /** Only for `forget`: nothing was known about the customer. The tombstone was written. */
  nothingKnown: 8,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
