/** One step of a run that a person may have to wait for. */
export type ProgressStep = {
  /** Stable machine name: `read`, `attribute`, `post`. */
  readonly name: string;
  /** Label for people: `Reading orders.csv`. Contains no row values and no addresses. */
  readonly label: string;
  /** What is counted towards the total, in the plural: `orders`. `bytes` are shown as sizes. */
  readonly unit: string;
  /** The total amount of work. Null if it is unknown: then no bar and no ETA are shown. */
  readonly total: number | null;
};

/** Receives the progress of a flow. The command line displays it; a flow does not know how. */
export type Progress = {
  /** Begins a step and ends the one before it. */
  begin(step: ProgressStep): void;
  /**
   * Adds to the work that is done. Cheap enough to be called for each order.
   *
   * @param count amount of work, in the step's unit.
   * @param rows with unit `bytes`: the number of rows in them, which is also shown.
   */
  advance(count: number, rows?: number): void;
  /**
   * Shows a message on its own line while the run continues, for example about a held file. Contains no row
   * values and no addresses.
   */
  note(message: string): void;
  /** Ends the last step and restores the terminal. */
  end(): void;
};
