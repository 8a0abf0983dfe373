import { type Certificate, isUnknown, OUT_OF_REACH } from '../../core/privacy/forget.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { type Block, column, item, number, say, section, table } from '../../render/block.ts';
import { formatCount, plural } from '../../render/text.ts';

/** Describes what was removed about a customer, without the e-mail address. */
export function describeCertificate(certificate: Certificate): readonly Block[] {
  const { tombstone, keyFingerprint, at, isDryRun, wasForgotten, found, searched } = certificate;
  const kept = [...new Set(found.flatMap(({ why }) => why ?? []))];
  return [
    ...section(titleOf(certificate), {
      parts: [
        {
          kind: 'facts',
          facts: [
            ['tombstone', `${tombstone} (key ${keyFingerprint})`],
            ['at', formatInstant(at)],
            ['searched', `${plural(searched.tables, 'table')}, ${plural(searched.columns, 'column')}`],
          ],
        },
        ...(wasForgotten ? [item('This customer was forgotten before.')] : []),
        table(found, [
          column('found in', ({ place }) => place),
          number('rows', ({ rows }) => formatCount(rows)),
          column('what happens', ({ action }) =>
            isDryRun && action !== 'kept' ? `would be ${action}` : action,
          ),
        ]),
        ...kept.map((why) => item(`- ${why}`)),
      ],
    }),
    say(
      isDryRun
        ? 'Nothing was changed: this was a dry run.'
        : 'No export submits this customer again, for any brand. Nothing else about them is kept.',
    ),
    ...section('This command cannot reach', {
      parts: OUT_OF_REACH.map((place) => item(`- ${place}`)),
    }),
  ];
}

function titleOf(certificate: Certificate): string {
  const { isDryRun } = certificate;
  if (isUnknown(certificate))
    return isDryRun
      ? 'Nothing is stored about this customer'
      : 'Nothing was stored about this customer; the tombstone is written';
  return isDryRun ? 'What is stored about this customer' : 'Forgotten';
}
