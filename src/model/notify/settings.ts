import type { DecimalText } from '../order.ts';
import type { ProblemKind, Severity } from './notice.ts';

/** Where notices go. Each kind is a file in `src/notify/channels/`. */
export type ChannelSettings = { readonly name: string } & (
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string }
  | { readonly kind: 'slack'; readonly url: string }
  | { readonly kind: 'teams'; readonly url: string }
  | {
      readonly kind: 'email';
      readonly host: string;
      readonly port: number;
      /** `starttls`: required; `tls`: from the first byte; `none`: only within one machine or a trusted network. */
      readonly encryption: 'starttls' | 'tls' | 'none';
      /** Empty: without signing in. */
      readonly user: string;
      readonly password: string;
      readonly from: string;
      readonly to: readonly string[];
    }
  | { readonly kind: 'pagerduty'; readonly url: string; readonly routingKey: string }
);

/** A dead-man's switch: told when runs of its jobs begin and end. It raises an alarm when it is told nothing. */
export type PingSettings = {
  readonly name: string;
  /** May contain `{job}`. */
  readonly url: string;
  /** Null: every job. */
  readonly jobs: readonly string[] | null;
};

/** Which problems go to which channels; a criterion that is null fits every problem. */
export type Route = {
  readonly severities: readonly Severity[] | null;
  readonly jobs: readonly string[] | null;
  readonly problems: readonly ProblemKind[] | null;
  readonly channels: readonly string[];
};

export type NotifySettings = {
  readonly channels: readonly ChannelSettings[];
  readonly pings: readonly PingSettings[];
  /** Empty: every problem goes to every channel. */
  readonly routes: readonly Route[];
  /** A problem that stays is told of again after so long; null: never. */
  readonly remindAfterMs: number | null;
  /** From what amount on codes that nobody owns are a problem, by currency. */
  readonly unownedCodesAbove: Readonly<Record<string, DecimalText>>;
  /** Warnings wait until it is over; null: none. */
  readonly quietHours: {
    /** `HH:MM` by the clock of the zone. */
    readonly from: string;
    readonly to: string;
    readonly timeZone: string;
  } | null;
  /** A summary once a day; null: none. */
  readonly digest: {
    readonly at: string;
    readonly timeZone: string;
    readonly channels: readonly string[];
  } | null;
};
