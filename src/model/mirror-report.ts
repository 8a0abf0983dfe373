import type { InstantText } from './order.ts';
import type { ReportFrame } from './report.ts';

/**
 * What a run of `mirror-account` came to. `sumsAddUp`: deals that were asked for = new + changed + unchanged + gone + failed, and the ways
 * by which deals are known add up to all of them.
 */
export type MirrorReport = ReportFrame<'mirror-account', MirrorCounts, MirrorDetails>;

/** What became of the records of one kind in a publication. */
export type RecordCounts = {
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly gone: number;
};

/** What a publication changed. */
export type Published = {
  readonly brands: RecordCounts;
  readonly dealflows: RecordCounts;
  readonly deals: RecordCounts & {
    /** Could not be read, or not found for the first time. */
    readonly failed: number;
    /** All of them. */
    readonly asked: number;
  };
  readonly collaborations: RecordCounts;
};

export type MirrorCounts = Published & {
  /** False when the run stopped before its end: what it has read is published by the next one. */
  readonly published: boolean;
  /** Requests of this run, repeats included. */
  readonly requests: number;
  /** Deals met for the first time in this run. */
  readonly deals_met: number;
  /** Deals that are known after this run: the sum of the five below. */
  readonly deals_known: number;
  readonly deals_fresh: number;
  readonly deals_stale: number;
  readonly deals_unread: number;
  readonly deals_failing: number;
  readonly deals_gone: number;
  /** What did not fit, in this run. */
  readonly drift: number;
  /** Records and answers of this run that could not be taken for what they should be. */
  readonly unreadable: number;
};

/** How complete the mirror is for one way by which deals are met; `all` for every deal. */
export type Coverage = {
  readonly way: string;
  readonly known: number;
  readonly alsoKnown: number;
  readonly fresh: number;
  readonly stale: number;
  readonly unread: number;
  readonly failing: number;
  readonly deleted: number;
  /** When the one read longest ago was read; null when none was. */
  readonly oldestReadAt: InstantText | null;
};

/** Something that the service sends otherwise than before. */
export type Drift = {
  readonly recordKind: string;
  readonly field: string;
  readonly kind: 'type_changed' | 'vanished' | 'missing' | 'unreadable';
  readonly expected: string | null;
  readonly found: string | null;
  readonly records: number;
  readonly sampleId: string | null;
};

/** So many records or answers that could not be read, for the same reason. */
export type Unread = { readonly recordKind: string; readonly reason: string; readonly records: number };

/** What a run would ask for. */
export type MirrorPlan = {
  readonly budget: number;
  readonly autocompleteBudget: number;
  /** Deals that are due, by the way they were met. */
  readonly dueByWay: Readonly<Record<string, number>>;
  readonly handles: number;
  readonly prefixes: number;
};

export type MirrorDetails = {
  readonly plan: MirrorPlan | null;
  /** Of the newest publication, `all` first; empty before the first. */
  readonly coverage: readonly Coverage[];
  /** The first few of this run. */
  readonly drift: readonly Drift[];
  /** Of this run. */
  readonly unreadable: readonly Unread[];
  /** Why deals could not be read when they were last asked for. */
  readonly failing: readonly Unread[];
  /** What was read only in part, or not at all, in sentences. */
  readonly problems: readonly string[];
  /** Deals that are due and wait for the next run, because of the budget. */
  readonly waiting: number;
  /** Answers that are read and not published, because the run stopped. */
  readonly staged: number;
};
