import { creditBars, dispositionLines } from '../../../jobs/attribute-orders/render.ts';
import type { OrdersReport } from '../../../jobs/attribute-orders/report.ts';
import { type Block, type CountLine, section } from '../../render/block.ts';
import type { Terminal } from '../../render/terminal.ts';
import { plural } from '../../render/text.ts';

/** The introduction, before the first job. */
export function introduceDemo(terminal: Terminal): string {
  return `${terminal.style('bold', 'influencer-sync demo')}: the exports of two shops and their tools, run against
a sandbox of the service. It takes some seconds; nothing leaves this machine.
`;
}

/** The result of the orders: what each influencer earned, what was not credited, and why. */
export function tellOrders({ counts, details }: OrdersReport): readonly Block[] {
  const lines = dispositionLines(counts, { details }).filter(([label]) => !CREDITED.includes(label));
  const unreadable: CountLine = [
    'unreadable rows',
    counts.rejected_rows,
    { note: 'with file, line and fix in the report', color: 'yellow' },
  ];
  return [
    ...section('Who earned what', {
      note: `${plural(counts.entries.accepted, 'order')} credited, amounts by currency`,
      parts: [creditBars(details)],
    }),
    {
      kind: 'counts',
      count: counts.orders,
      whole: 'What was not credited, and why',
      meaning: '',
      lines: [...lines, unreadable].map(([label, count, more]) => [label, count, { ...more, always: false }]),
    },
  ];
}

const CREDITED: readonly string[] = ['posted', 'already known'];

/** The end: a second run posted nothing, and which commands to try next. */
export function endDemo(
  {
    posted,
    reportPath,
    folder,
  }: { readonly posted: number; readonly reportPath: string; readonly folder: string },
  terminal: Terminal,
): string {
  return `
${terminal.style('bold', 'The same job again')}: 0 orders posted. The sandbox still has ${posted}, each once.

${terminal.style('bold', 'The whole report')}, for a browser:  ${reportPath}
${terminal.style('bold', 'With your own exports')}:            npx influencer-sync init FOLDER
${terminal.style('bold', 'Look around')}:                      cd ${folder}
  npx influencer-sync console --open
  npx influencer-sync explain order 5601000000101
  npx influencer-sync rejected
  npx influencer-sync statement --month 2026-05
  npx influencer-sync status
`;
}
