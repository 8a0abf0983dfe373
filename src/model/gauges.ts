/** How things stand, as numbers that go up and down. */
export type Gauges = {
  /** Entries that are not settled, by job and state; those of processes that are gone count as in doubt. */
  readonly entries: readonly {
    readonly job: string;
    readonly state: string;
    readonly entries: number;
    /** Of the one that was made first. */
    readonly oldestSeconds: number;
  }[];
  /** When a run of each job last came to its end. */
  readonly lastSuccess: readonly { readonly job: string; readonly at: Date }[];
  /** Slots of the last day, and all that are not settled. */
  readonly slots: readonly { readonly job: string; readonly state: string; readonly slots: number }[];
};
