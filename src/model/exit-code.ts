/** What the process tells its caller. Partial is not success, nor is empty. */
export const EXIT = {
  ok: 0,
  crash: 1,
  /** The configuration, the command line, or what both rely on: files, folders, the credentials of a store. */
  configuration: 2,
  rowsRejected: 3,
  /** The service refused the key, or the key is of another account. */
  authentication: 4,
  alreadyRunning: 5,
  doubts: 6,
  /** The database lacks claims that were made: it was restored, failed over or replaced. */
  ledgerWentBack: 7,
  /** Of `forget`: nothing was known of the customer; the tombstone was written. */
  nothingKnown: 8,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
