import type { DecimalText } from '../order.ts';
import type { ProblemKind, Severity } from './notice.ts';

/** A channel for notices. Each kind is a file in `src/monitoring/notify/channels/`. */
export type ChannelSettings = { readonly name: string } & (
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string }
  | { readonly kind: 'slack'; readonly url: string }
  | { readonly kind: 'teams'; readonly url: string }
  | {
      readonly kind: 'email';
      readonly host: string;
      readonly port: number;
      /**
       * `starttls`: required. `tls`: from the first byte. `none`: only within one machine or a trusted
       * network.
       */
      readonly encryption: 'starttls' | 'tls' | 'none';
      /** Empty: no authentication. */
      readonly user: string;
      readonly password: string;
      readonly from: string;
      readonly to: readonly string[];
    }
  | { readonly kind: 'pagerduty'; readonly url: string; readonly routingKey: string }
);

/**
 * A dead-man's switch. It is called when runs of its jobs begin and end, and raises an alarm when the calls
 * stop.
 */
export type PingSettings = {
  readonly name: string;
  /** May contain `{job}`. */
  readonly url: string;
  /** Null: every job. */
  readonly jobs: readonly string[] | null;
};

/** Routes problems to channels. A criterion that is null matches every problem. */
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
  /** Interval after which a persistent problem is reported again. Null: never. */
  readonly remindAfterMs: number | null;
  /** Threshold by currency above which the revenue of codes without an owner is a problem. */
  readonly unownedCodesAbove: Readonly<Record<string, DecimalText>>;
  /** Warnings wait until the quiet hours are over. Null: there are none. */
  readonly quietHours: {
    /** `HH:MM` in local time of the zone. */
    readonly from: string;
    readonly to: string;
    readonly timeZone: string;
  } | null;
  /** A daily summary. Null: none. */
  readonly digest: {
    readonly at: string;
    readonly timeZone: string;
    readonly channels: readonly string[];
  } | null;
};
