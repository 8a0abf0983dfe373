import type { StatedRoles } from '../../core/layout.ts';
import type { ConfigOptions } from '../open/open-config.ts';

/** `VALUE` for every source, or `SOURCE=VALUE` for one. */
export type SourceAnswers = ReadonlyMap<string, string>;

export type InitOptions = ConfigOptions & {
  readonly out: string;
  readonly brand?: SourceAnswers;
  readonly timeZone?: SourceAnswers;
  readonly currency?: SourceAnswers;
  readonly platform?: SourceAnswers;
  readonly dateOrder?: SourceAnswers;
  readonly decimalMark?: SourceAnswers;
  readonly consent?: SourceAnswers;
  readonly status?: SourceAnswers;
  readonly renewals?: SourceAnswers;
  readonly missingColumns?: SourceAnswers;
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
