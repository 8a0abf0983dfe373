import { EXIT } from '../../core/exit-code.ts';
import { type Certificate, hasKept, isUnknown, OUT_OF_REACH } from '../../core/privacy/forget.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { type Block, column, facts, item, number, say, section, table } from '../../render/block.ts';
import { formatCount, plural } from '../../render/text.ts';
import { defineCommand } from '../command.ts';
import { openCommand } from '../open/open-command.ts';

/** `influencer-sync forget`: deletes all data of one customer, and no export submits that customer again. */
export const forgetCommand = defineCommand({
  name: 'forget',
  changes: true,
  summary: 'delete the data of a customer, and print a certificate',
  description: 'forget a customer: delete their data, print a certificate, and never submit them again',
  takes: [
    [
      '[address]',
      'e-mail address. Use - to read it from standard input, or omit it to be asked, so that your shell history does not contain it',
    ],
    ['--reason <text>', 'why, for example the number of the request, but not the address; kept in the audit'],
  ],
  examples: [
    ['forget', 'asks for the address, so that your shell history does not contain it'],
    ['forget - --json < address.txt > certificate.json', 'by the address in a file'],
    ['forget - --dry-run < address.txt', 'what is stored, and what would be removed'],
  ],
  notes:
    'Exit codes: 0 forgotten, 3 forgotten, but something must be removed by hand,\n8 nothing was stored (the tombstone is written), 5 a run reads or sends customers',
  /** Deletes a customer's data by e-mail address and prints a certificate. */
  async action({ output }, { address: given, dryRun: isDryRun = false, reason = null, ...others }) {
    const { askAddress } = await import('../terminal/ask-person.ts');
    const { auditIn } = await import('../terminal/read-operator.ts');
    const { forgetPerson } = await import('../../privacy/forget-person.ts');
    const { config, change } = await openCommand(output, others);
    const typed = given === undefined || given === '-' ? await askAddress('forget -') : given;
    const certificate = await change((db) =>
      forgetPerson(db, {
        config,
        typed,
        isDryRun,
        audit: (trx, record) => auditIn(trx)({ ...record, reason }),
      }),
    );
    output.emit({ event: 'certificate', ...certificate, outOfReach: OUT_OF_REACH });
    output.show(describeCertificate(certificate));
    return hasKept(certificate) ? EXIT.rowsRejected : isUnknown(certificate) ? EXIT.nothingKnown : EXIT.ok;
  },
});

/** Describes what was removed about a customer, without the e-mail address. */
function describeCertificate(certificate: Certificate): readonly Block[] {
  const { tombstone, keyFingerprint, at, isDryRun, wasForgotten, found, searched } = certificate;
  const kept = [...new Set(found.flatMap(({ why }) => why ?? []))];
  return [
    ...section(titleOf(certificate), {
      parts: [
        facts([
          ['tombstone', `${tombstone} (key ${keyFingerprint})`],
          ['at', formatInstant(at)],
          ['searched', `${plural(searched.tables, 'table')}, ${plural(searched.columns, 'column')}`],
        ]),
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
    ...section('This command cannot reach', { parts: OUT_OF_REACH.map((place) => item(`- ${place}`)) }),
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
