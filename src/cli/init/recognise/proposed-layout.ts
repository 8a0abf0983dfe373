import type { ColumnRole, StatedRoles } from '../../../core/layout.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import type { Layout } from '../../../intake/layout/to-layout.ts';
import type { ColumnDecision, UnclearColumn } from './assign-columns.ts';
import { describeColumn, type MeasuredColumn } from './column-values.ts';

/** A layout for a header that no layout knows, as a file that a person must check. */
export type ProposedLayout = {
  readonly layout: Layout;
  /** Content of `layouts/<name>.yaml`, with comments. */
  readonly text: string;
  /** One for each column that has a name. */
  readonly columns: readonly ColumnDecision[];
  /** Columns that are read as a no unless a person says otherwise. */
  readonly assumed: readonly UnclearColumn[];
  /** Columns of customers that ask for consent and have nothing that is known to mean yes: consent is recorded. */
  readonly withoutYes?: readonly string[];
  /** By column that may say who has consented: its words, none known to mean yes. Empty if another says it. */
  readonly unknownYes?: ReadonlyMap<string, readonly string[]>;
  /** By column: words for states of which only a person knows whether they mean that an order was paid. */
  readonly unknownStates: ReadonlyMap<string, readonly string[]>;
};

/** Why no layout can be proposed for a header, and the columns about which a person may say more. */
export type NoLayout = {
  readonly code: 'unknown_header' | 'ambiguous_header' | 'not_orders' | 'item_rows' | 'unclear_columns';
  readonly why: string;
  readonly unclear: readonly UnclearColumn[];
  /** The text of a layout that adds up rows, for a person to check and to accept. */
  readonly example?: string;
  /** Whether some of these rows are below zero, as refunds are. */
  readonly hasRefunds?: boolean;
};

/** Says why no layout is proposed. */
export function refusal(
  code: NoLayout['code'],
  why: string,
  unclear: readonly UnclearColumn[] = [],
): NoLayout {
  return { code, why, unclear };
}

/** The columns with a stated role that has no effect for what the file lists, to be asked about again. */
export function rolesOutside(
  roles: readonly ColumnRole[],
  what: 'orders' | 'customers',
  { columns, stated }: { columns: readonly MeasuredColumn[]; stated: StatedRoles },
): readonly UnclearColumn[] {
  return columns.flatMap((column): UnclearColumn[] => {
    const role = stated.get(foldHeader(column.header));
    if (role === undefined || roles.includes(role)) return [];
    const why = `the role ${role} has no effect in a file of ${what}`;
    return [{ ...describeColumn(column), why, likely: 'unused', isOfCustomers: what === 'customers' }];
  });
}

/** Says which columns only a person can decide about, each with its reason and values. */
export function whatIsUnclear(unclear: readonly UnclearColumn[], what: 'orders' | 'customers'): NoLayout {
  const listed = unclear.map(
    ({ header, why, samples }) =>
      `${JSON.stringify(header)}: ${why}${samples.length === 0 ? '' : ` (${samples.join(', ')})`}`,
  );
  const count = unclear.length === 1 ? 'a column' : `${unclear.length} columns`;
  return refusal(
    'unclear_columns',
    `It has ${what}, but ${count} that may change what is ${what === 'orders' ? 'credited' : 'submitted'} cannot be understood. ${listed.join('. ')}.`,
    unclear,
  );
}
