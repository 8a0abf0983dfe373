/** The result of one check of a deployment. Contains no secret, no row value and no address. */
export type Finding = {
  /**
   * `warning`: it works, but may stop working or hides a risk. `problem`: a job would fail, or money is at
   * risk.
   */
  readonly status: 'ok' | 'warning' | 'problem';
  /** What was checked, for example `source shop-orders`. */
  readonly about: string;
  /** What was found, in one sentence. */
  readonly what: string;
  /** Why it matters. Omitted for `ok`. */
  readonly why?: string;
  /** Set if a run cannot start before the one at work has ended. */
  readonly isBusy?: true;
  /** How to fix it. Omitted for `ok`. */
  readonly fix?: string;
};
