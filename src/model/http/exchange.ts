/** What one HTTP exchange with the service came to. Returned, never thrown. */
export type Exchange =
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** Lower-case names. */
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      /** The whole body. */
      readonly text: string;
    }
  | {
      readonly kind: 'failure';
      /** False only when it is proven that no byte of the request was written. */
      readonly written: boolean;
      /** What went wrong, for people; no address, no key, no body. */
      readonly reason: string;
    };
