/** What one look at a deployment came to. No secret, no row value, no address. */
export type Finding = {
  /** `warning`: it works, but may not stay so or hides a risk. `problem`: a job would fail, or money is at risk. */
  readonly status: 'ok' | 'warning' | 'problem';
  /** What was looked at, for example `source shop-orders`. */
  readonly about: string;
  /** What was found, in one sentence. */
  readonly what: string;
  /** Why it matters. Not for `ok`. */
  readonly why?: string;
  /** How to fix it. Not for `ok`. */
  readonly fix?: string;
};
