import type { Layout, ReadFor } from '../../../core/layout.ts';
import { toPrintableLine } from '../../../core/text/printable.ts';
import { renderTable } from '../../../render/table.ts';
import type { Terminal } from '../../../render/terminal.ts';
import { plural } from '../../../render/text.ts';
import type { ColumnUse } from '../recognise/describe-columns.ts';
import type { CustomersExamined } from '../recognise/examine-customers.ts';
import type { OrdersExamined } from '../recognise/examine-orders.ts';
import { customersLines, ordersLines } from './sources.ts';

/** One layout in a list. */
export type ListedLayout = {
  readonly name: string;
  readonly title: string;
  readonly subject: ReadFor;
  /** Whether it belongs to the deployment, not to the project. */
  readonly isOwn: boolean;
  readonly required: readonly string[];
  /** Settings that a source must have. */
  readonly given: readonly string[];
  readonly lacks: readonly string[];
};

/** Renders all layouts with the settings that a source must have. */
export function renderLayouts(layouts: readonly ListedLayout[], terminal: Terminal): string {
  return renderTable(
    [{ title: 'Layout' }, { title: 'Reads' }, { title: 'The source gives' }, { title: 'Export' }],
    layouts.map(({ name, title, subject, isOwn, given }) => [
      isOwn ? `${name} (own)` : name,
      subject,
      given.join(', '),
      title,
    ]),
    { terminal },
  );
}

/** Renders how one layout reads one file. */
export function renderLayoutTest(
  {
    layout,
    subject,
    columns,
    examined,
    rows,
    job,
  }: {
    readonly layout: Layout;
    readonly subject: ReadFor;
    readonly columns: ColumnUse;
    readonly examined: OrdersExamined | CustomersExamined | null;
    readonly rows: number;
    /** The configured job whose settings decide about the orders; null for the default settings. */
    readonly job: string | null;
  },
  terminal: Terminal,
): string {
  const table = renderTable(
    [{ title: 'Field' }, { title: 'Column' }],
    columns.fields.map(({ field, columns: names }) => [field, names.join(', else ')]),
    { terminal, indent: '  ' },
  );
  const unused = columns.unused.map((name) => `"${toPrintableLine(name)}"`).join(', ');
  return [
    `${terminal.style('bold', layout.name)}: ${layout.title}, read for ${subject}.`,
    '',
    table,
    '',
    `  ${columns.unused.length === 0 ? 'Every column is read.' : `${plural(columns.unused.length, 'column')} not read: ${unused}`}`,
    ...columns.mayBeMissing.map(
      ({ column, reason }) =>
        `  "${toPrintableLine(column)}" is missing, which the layout allows: ${toPrintableLine(reason)}`,
    ),
    '',
    ...(examined === null
      ? [`  ${plural(rows, 'row')} seen.`]
      : examined.kind === 'orders'
        ? [
            job === null
              ? '  As a job with the default settings decides:'
              : `  As the job ${toPrintableLine(job)} of the configuration decides:`,
            ...ordersLines(examined, terminal),
          ]
        : customersLines(examined)),
  ].join('\n');
}
