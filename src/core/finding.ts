/** The result of one check of a deployment. Contains no secret, no row value and no address. */
export type Finding = {
  /**
   * `warning`: it works, but may stop working or hides a risk. `problem`: a job would fail, or money is at
   * risk.
   */
  readonly status: 'ok' | 'warning' | 'problem';
  /** What was checked, for example `source shop-orders`. By default, the name of the check. */
  readonly about?: string;
  /** What was found, in one sentence. */
  readonly what: string;
  /** Why it matters. Omitted for `ok`. */
  readonly why?: string;
  /** Set if a run cannot start before the one at work has ended. */
  readonly isBusy?: true;
  /** How to fix it. Omitted for `ok`. */
  readonly fix?: string;
};

export function ok(what: string): Finding {
  return { status: 'ok', what };
}

export function warning(what: string, why: string, fix: string): Finding {
  return { status: 'warning', what, why, fix };
}

export function problem(what: string, why: string, fix: string): Finding {
  return { status: 'problem', what, why, fix };
}
