/** One stretch of a run that a person may have to wait for. */
export type ProgressStep = {
  /** Stable machine name: `read`, `attribute`, `post`. */
  readonly name: string;
  /** What a person reads: `Reading orders.csv`. No row values, no addresses. */
  readonly label: string;
  /** What is counted towards the total, in the plural: `orders`. `bytes` are shown as sizes. */
  readonly unit: string;
  /** How much there is to do; null when that is unknown: then there is no bar and no ETA. */
  readonly total: number | null;
};

/** Where a flow tells how far it is. The command line draws it; a flow never knows how. */
export type Progress = {
  /** A step begins; the one before it has ended. */
  begin(step: ProgressStep): void;
  /**
   * So much more is done. Cheap enough to be called for each order.
   *
   * @param count in the step's unit.
   * @param rows with unit `bytes`: the rows in them, shown beside.
   */
  advance(count: number, rows?: number): void;
  /** Something worth a line of its own while the run goes on, for example a held file. No row values, no addresses. */
  note(message: string): void;
  /** The last step has ended: leaves the terminal clean. */
  end(): void;
};
