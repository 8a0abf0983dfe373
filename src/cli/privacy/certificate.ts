import { type Certificate, type FoundRows, isUnknown, OUT_OF_REACH } from '../../core/privacy/forget.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { wrap } from '../../core/text/wrap.ts';
import { renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
import { formatCount, plural } from '../../render/text.ts';

/** Renders the certificate of what was removed about a customer, without the e-mail address. */
export function renderCertificate(certificate: Certificate, terminal: Terminal): string {
  const { tombstone, keyFingerprint, at, isDryRun, wasForgotten, found, searched } = certificate;
  const width = terminal.columns;
  const facts = [
    ['tombstone', `${tombstone} (key ${keyFingerprint})`],
    ['at', formatInstant(at)],
    ['searched', `${plural(searched.tables, 'table')}, ${plural(searched.columns, 'column')}`],
  ] as const;
  const kept = [...new Set(found.flatMap(({ why }) => why ?? []))];
  return [
    terminal.style('bold', titleOf(certificate)),
    ...facts.map(([name, text]) =>
      wrap(text, { width, firstIndent: `  ${name.padEnd(11)}`, indent: ' '.repeat(13) }),
    ),
    ...(wasForgotten ? ['  This customer was forgotten before.'] : []),
    ...(found.length === 0 ? [] : ['', renderFound(found, isDryRun, terminal)]),
    ...kept.map((why) => wrap(`- ${why}`, { width, firstIndent: '  ', indent: '    ' })),
    '',
    isDryRun
      ? 'Nothing was changed: this was a dry run.'
      : 'No export submits this customer again, for any brand. Nothing else about them is kept.',
    'This command cannot reach:',
    ...OUT_OF_REACH.map((place) => wrap(`- ${place}`, { width, firstIndent: '  ', indent: '    ' })),
  ].join('\n');
}

function titleOf(certificate: Certificate): string {
  const { isDryRun } = certificate;
  if (isUnknown(certificate))
    return isDryRun
      ? 'Nothing is stored about this customer'
      : 'Nothing was stored about this customer; the tombstone is written';
  return isDryRun ? 'What is stored about this customer' : 'Forgotten';
}

function renderFound(found: readonly FoundRows[], isDryRun: boolean, terminal: Terminal): string {
  const rows = found.map(({ place, rows: count, action }) => [
    place,
    formatCount(count),
    isDryRun && action !== 'kept' ? `would be ${action}` : action,
  ]);
  const columns = [
    { title: 'found in' },
    { title: 'rows', align: 'right' },
    { title: 'what happens' },
  ] as const;
  return renderTable(columns, rows, { terminal, indent: '  ' });
}
