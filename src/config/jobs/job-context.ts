/** What a job's settings need beyond their own lines of the file. */
export type JobContext = {
  readonly name: string;
  /** Makes a path absolute, from the folder of the file. */
  readonly resolvePath: (path: string) => string;
};
