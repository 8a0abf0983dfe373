/** A row of codes.csv that cannot be used as it stands; the other rows count. */
export type CodeProblem = {
  /** 1-based, the header included. */
  readonly line: number;
  readonly column: string | null;
  readonly value: string | null;
  readonly reason: string;
  readonly help: string;
};
