/** The outcome of one HTTP exchange with the service. Returned, never thrown. */
export type Exchange =
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** Headers by lower-case name. */
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      /** The whole body. */
      readonly text: string;
    }
  | {
      readonly kind: 'failure';
      /** False only if it is proven that no byte of the request was written. */
      readonly written: boolean;
      /** What went wrong, for people. Contains no address, no key and no body. */
      readonly reason: string;
    };
