import type { StatedRoles } from '../../core/layout.ts';
import type { ConfigOptions } from '../open/open-config.ts';

/** `VALUE` for every source, or `SOURCE=VALUE` for one. */
export type SourceAnswers = ReadonlyMap<string, string>;

/** The settings that the files of a source cannot tell; null if a setting is not needed. */
export type SourceAnswer = {
  readonly timeZone: string | null;
  readonly currency: string | null;
  readonly platform: string | null;
  readonly dateOrder: 'MDY' | 'DMY' | null;
  readonly decimalMark: '.' | ',' | null;
  readonly consent: 'not_recorded' | null;
  /** `any`: the export does not say which orders were paid, and every order counts. */
  readonly status: 'any' | null;
  /** Whether renewals of subscriptions are credited. Null: it has none. */
  readonly renewals: 'credit' | 'exclude' | null;
  /** Null: the brand of all sources. */
  readonly brand: string | null;
  /** Why files may lack columns that can only lower money. */
  readonly missingColumns: string | null;
};

export const NOTHING: SourceAnswer = {
  timeZone: null,
  currency: null,
  platform: null,
  dateOrder: null,
  decimalMark: null,
  consent: null,
  status: null,
  renewals: null,
  brand: null,
  missingColumns: null,
};

/** The options of `init`. What the files of a source cannot tell has an option of the same name. */
export type InitOptions = ConfigOptions &
  Partial<Readonly<Record<keyof SourceAnswer, SourceAnswers>>> & {
    readonly out: string;
    /** What columns of unknown files are, by `foldHeader` of their names. */
    readonly column?: StatedRoles;
    /** Names of offered layouts that add up rows, which a person has checked. */
    readonly saveLayout?: readonly string[];
    /** Owners that a person has confirmed, by folded code. */
    readonly owner?: ReadonlyMap<string, string>;
    /** Words of states that mean that an order was paid. */
    readonly paid?: readonly string[];
    /** Words of customers that mean that they have consented. */
    readonly consentYes?: readonly string[];
    readonly encoding?: string;
    readonly yes?: boolean;
    readonly check?: boolean;
  };

/** Key of an answer for every source. */
export const EVERY_SOURCE = '';
