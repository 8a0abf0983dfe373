import type { DecimalText } from './order.ts';

/** An order that was credited elsewhere before: one row of the file that says so. */
export type SeedRow = {
  /** 1-based, the header included. */
  readonly line: number;
  readonly orderPlatform: string;
  readonly orderId: string;
  /** What was credited, in `currency`, where the file says. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly reason: string | null;
};

/** A row that cannot be used: then nothing of the file is. */
export type SeedProblem = {
  readonly line: number;
  readonly column: string | null;
  readonly reason: string;
  readonly help: string;
};

/** What a seed came to. */
export type Seeded = {
  readonly seedId: string;
  readonly orders: number;
  /** Entries that waited to be posted and no longer do. */
  readonly heldBack: number;
  /** Orders that may have been processed from here: nothing about them was changed. By state, with a few of their ids. */
  readonly untouched: readonly {
    readonly state: string;
    readonly orders: number;
    readonly examples: readonly string[];
  }[];
};
