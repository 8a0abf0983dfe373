/** The outcome of one HTTP exchange with the service. Returned, never thrown. */
export type Exchange =
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** Headers by lower-case name. */
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      /** The whole body, in the words of the contract. */
      readonly text: string;
      /** What the answer says by the description of this service. Omitted: what it says by the specification. */
      readonly verdict?: Verdict;
      /** The list in the answer of an operation that lists records. Omitted: there is none. */
      readonly list?: ListPage;
    }
  | {
      readonly kind: 'failure';
      /** False only if it is proven that no byte of the request was written. */
      readonly written: boolean;
      /** What went wrong, for people. Contains no address, no key and no body. */
      readonly reason: string;
    };

/** What an answer says about its request, by the description of the service. */
export type Verdict = {
  /**
   * `yes`: a 2xx, and nothing in it says no. `no`: a 2xx whose body says no. `refused`, `key_refused`: the request
   * was not processed. `rate_limited`: neither, and it may be sent later. `unclear`: it says nothing about the
   * request. `other`: the description does not name it.
   */
  readonly kind: 'yes' | 'no' | 'refused' | 'key_refused' | 'rate_limited' | 'unclear' | 'other';
  /** True if the description states a text or a value for this, and the answer has it. */
  readonly isStated: boolean;
  /** True if the body is the service's own word: a JSON object with a reason. A gateway's page is not. */
  readonly isOwnWord: boolean;
  /** What the service says, safe to show. Null for a yes, and if there is no text. */
  readonly reason: string | null;
  /** True if the status means that what was asked for does not exist. */
  readonly isNotFound: boolean;
  /** What of a 2xx answer is not known to mean yes. Omitted: nothing. */
  readonly doubts?: readonly AnswerDoubt[];
};

export type AnswerDoubt = {
  /** What is not known, to follow the status: `whose message says "queued"`. */
  readonly why: string;
  /** The word that it is about, in lower case. Null if it is about none. */
  readonly word: string | null;
};

export type ListPage = {
  readonly items: readonly unknown[];
  /** Null if the list is whole, as far as this page shows. */
  readonly next: NextPage | null;
  /** What of the answer is not known to mean yes, to follow "an answer". Omitted: nothing. */
  readonly doubt?: string;
};

export type NextPage = {
  /** Why the list may go on, after "the list is not complete:". */
  readonly why: string;
  /** Query parameters to add. Null if the answer does not show how to ask for the next page. */
  readonly query: Readonly<Record<string, string>> | null;
  /** The number of all items, if only that says so: a list with as many is whole. */
  readonly total: number | null;
  /** True if only the number of items suggests it. */
  readonly isGuess: boolean;
  /** A list with more pages is not read to its end. */
  readonly pagesAtMost: number;
};
