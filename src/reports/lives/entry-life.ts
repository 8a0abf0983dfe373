import { formatMoney } from '../../core/money.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { wrap } from '../../core/text/wrap.ts';
import type { Terminal } from '../../render/terminal.ts';
import type { EntryLife, Explained } from './entry-lives.ts';

/** Renders a job's explanation of one subject: what files contain, what was decided, what was sent. */
export function renderExplained({ title, sections, entries }: Explained, terminal: Terminal): string {
  return [
    terminal.style('bold', `${title}. Times are in UTC.`),
    ...sections.flatMap(({ heading, lines, otherwise }) => [
      '',
      terminal.style('bold', heading),
      ...(lines.length === 0 ? [`  ${otherwise}`] : []),
      ...lines.flatMap(({ at, text, detail }) => [
        datedLine(at === null ? ' '.repeat(19) : formatInstant(at), text, terminal),
        ...(detail === null ? [] : [detailLine(detail, terminal)]),
      ]),
    ]),
    '',
    terminal.style('bold', 'Posted'),
    ...(entries.length === 0
      ? ['  none: nothing was sent for it, and nothing will be unless it changes']
      : entries.flatMap((one) => [`  ${one.subject}`, ...renderEntryLife(one, terminal)])),
  ].join('\n');
}

const STATE_COLORS: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  accepted: 'green',
  in_doubt: 'red',
  rejected: 'yellow',
  held: 'yellow',
};

/** Renders the state of a ledger entry and its history. */
export function renderEntryLife(of: EntryLife, terminal: Terminal): readonly string[] {
  const color = STATE_COLORS[of.state];
  const state = of.state.replaceAll('_', ' ');
  const shown = color === undefined ? state : terminal.style(color, state);
  const amount = of.amount === null ? '' : formatMoney(of.amount, of.currency);
  const credited = [
    of.dealId === null ? '' : `deal ${of.dealId}`,
    of.collabId === null ? '' : `collaboration ${of.collabId}`,
  ];
  const facts = joinFacts([amount, ...credited, of.stateReason ?? '']);
  return [
    `  entry ${of.entryId} is ${shown} since ${formatInstant(of.stateChangedAt)}`,
    ...(facts === '' ? [] : [wrap(facts, { width: terminal.columns, indent: '    ' })]),
    ...of.events.flatMap(({ at, kind, text, detail }) => [
      datedLine(formatInstant(at), `${kind.padEnd(8)} ${text.replaceAll('_', ' ')}`, terminal),
      ...(detail === null ? [] : [detailLine(detail, terminal)]),
    ]),
    ...(of.state === 'in_doubt' ? [`  Settle it: npx influencer-sync review ${of.entryId} --help`] : []),
  ];
}

const INDENT = ' '.repeat(23);

/** A line that begins with a time. */
export function datedLine(time: string, text: string, terminal: Terminal): string {
  return wrap(text, { width: terminal.columns, firstIndent: `  ${time}  `, indent: INDENT });
}

/** A detail of the line above. */
export function detailLine(text: string, terminal: Terminal): string {
  return terminal.style('dim', wrap(text, { width: terminal.columns, indent: INDENT }));
}

/** Joins the facts of one line, leaving out empty ones. */
export function joinFacts(facts: readonly string[]): string {
  return facts.filter((fact) => fact !== '').join(', ');
}
