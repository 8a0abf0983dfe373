/**
 * How a real service does what its specification leaves open. Its members have the names of section `service`
 * (docs/service.md, src/service/description/schema.ts), so that a person finds each of them under one name. A value
 * where "our name" is a key is always a member of the contract; the value is the service's name or path for it.
 */
export type ServiceDescription = {
  readonly duplicate_orders: 'unknown' | 'ignored';
  readonly authentication: {
    readonly header: string;
    /** Written before the key, for example `Bearer `. */
    readonly prefix: string;
    readonly refused: readonly Sign[];
  };
  readonly answers: {
    readonly refused: readonly Sign[];
    readonly doubt: readonly number[];
    readonly not_found: readonly number[];
    readonly no_credits: readonly number[];
    readonly rate_limited: readonly Sign[];
    readonly reasons: readonly string[];
    readonly envelope: string | null;
    readonly yes: Readonly<Record<string, readonly Scalar[]>>;
    readonly no_if_filled: readonly string[];
    readonly no_if_failed: readonly string[];
    readonly done: readonly Scalar[];
    readonly doubt_if_said: readonly string[];
  };
  readonly lists: {
    readonly keys: readonly string[];
    readonly more: readonly string[];
    readonly totals: readonly string[];
    readonly counts: readonly string[];
    readonly page: readonly string[];
    readonly pages: readonly string[];
    readonly offset: readonly string[];
    readonly page_size: readonly string[];
  };
  readonly ids: 'as_specified' | 'text' | 'number';
  readonly limits: {
    readonly answer_bytes: number;
    readonly emails_per_call: number;
    readonly influencers_per_call: number;
    readonly pages: number;
  };
  readonly operations: Readonly<Record<string, OperationDescription>>;
  readonly events: EventDescription;
};

export type Scalar = string | number | boolean | null;

/** An answer that means one thing: a status, and a text that its body contains. Null: whatever the body says. */
export type Sign = { readonly status: number; readonly text: string | null };

/** What is particular to one operation. */
export type OperationDescription = {
  readonly path: string | null;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | null;
  /** The service's path of each member of the request; null if it is not sent. */
  readonly request: Readonly<Record<string, string | null>>;
  /** The service's path of each member of the answer; null if the service does not send it. */
  readonly answer: Readonly<Record<string, string | null>>;
  /** The service's path of each member of an item of a list. */
  readonly items: Readonly<Record<string, string>>;
  readonly envelope: string | null;
  /** Path of the list. Null: it is found under one of `lists.keys`. */
  readonly list: string | null;
  readonly paging: Paging | null;
  /** What an answer must say to be a yes. Null: what the specification says. */
  readonly yes: StatedYes | null;
};

/** All that is given must be so. A stated yes is a yes even if the answer names nothing. */
export type StatedYes = {
  readonly statuses: readonly number[] | null;
  readonly path: string | null;
  readonly values: readonly Scalar[] | null;
};

/** How further pages of a list are asked for; `none`: each answer is the whole list. */
export type Paging =
  | { readonly by: 'none' }
  | {
      readonly by: 'page';
      readonly parameter: string;
      readonly first: number;
      readonly size: number | null;
      readonly size_parameter: string | null;
    }
  | {
      readonly by: 'offset';
      readonly parameter: string;
      readonly size: number | null;
      readonly size_parameter: string | null;
    }
  | { readonly by: 'cursor'; readonly parameter: string; readonly path: string }
  | { readonly by: 'link' };

/** How the service signs and writes its events. */
export type EventDescription = {
  readonly signature_header: string;
  readonly timestamp_header: string;
  /** The signed bytes, with `{body}` and `{timestamp}`. */
  readonly signed: string;
  /** The value of the header, with `{signature}` and perhaps `{timestamp}`. */
  readonly signature: string;
  readonly encoding: 'hex' | 'base64' | 'base64url';
  readonly secret: 'text' | 'base64' | 'hex';
  readonly timestamp: 'seconds' | 'milliseconds' | 'iso';
  /** Path of the member that names the kind. */
  readonly kind: string;
  /** The service's name of each kind that it names differently. */
  readonly kinds: Readonly<Record<string, string>>;
  readonly envelope: string | null;
  /** The service's path of each member that we read. */
  readonly members: Readonly<Record<string, string>>;
};
