import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { foldCode } from '../../core/text/fold.ts';
import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../command.ts';
import type { Output } from '../terminal/output.ts';
import { requireReason } from '../usage-error.ts';

type AcknowledgeLeakOptions = ConfigOptions & { readonly reason: string };

export const leaksCommand: CommandDefinition = {
  name: 'leaks',
  define(command, act) {
    addConfigOptions(
      command.description(
        'list codes that may have leaked: people use them who do not come from the creator',
      ),
    ).action(act(showLeaks));
    addExamples(command, [
      ['leaks', 'codes with unusual orders in the last four weeks, and the figures'],
      [
        "leaks acknowledge MIA10 --reason 'on air in a podcast'",
        'it is not a leak, or you have dealt with it',
      ],
    ]);
    command.addHelpText(
      'after',
      '\nNothing is withheld. Exits with 3 while a flagged code is not acknowledged.',
    );
    addConfigOptions(
      command
        .command('acknowledge')
        .description('acknowledge a flagged code: it is not reported again for 30 days'),
    )
      .argument('<code>', 'the code, as `leaks` lists it')
      .requiredOption('--reason <text>', 'why; kept in the audit')
      .action(act(performAcknowledging));
  },
};

/**
 * Lists codes that may have leaked.
 * @returns 3 if one of them is not acknowledged.
 */
async function showLeaks(output: Output, options: ConfigOptions): Promise<ExitCode> {
  const { openConfig, reading, withDatabase } = await import('../open/open-config.ts');
  const { findLeaks } = await import('../../money/find-leaks.ts');
  const { describeLeaks } = await import('../../reports/money/leaks.ts');
  const leaks = await withDatabase(
    await openConfig(options),
    (db) => findLeaks(db, { now: new Date() }),
    reading(output),
  );
  for (const leak of leaks) output.emit({ event: 'leaked_code', ...leak });
  output.show(describeLeaks(leaks));
  return leaks.some(({ acknowledged }) => acknowledged === null) ? EXIT.rowsRejected : EXIT.ok;
}

/**
 * Records that a person acknowledged a code.
 * @throws KnownError `code_not_flagged` (exit 2).
 */
async function performAcknowledging(
  output: Output,
  written: string,
  options: AcknowledgeLeakOptions,
): Promise<ExitCode> {
  const { openConfig, withDatabase } = await import('../open/open-config.ts');
  const { auditIn } = await import('../terminal/read-operator.ts');
  const { inTransaction } = await import('../../db/in-transaction.ts');
  const { acknowledgeLeak } = await import('../../decisions/acknowledge-leak.ts');
  const code = foldCode(written);
  const reason = requireReason(options.reason, {
    message: 'You must give a reason to acknowledge a code.',
    kept: 'in the audit',
  });
  const auditId = await withDatabase(await openConfig(options), (db) =>
    inTransaction(db, (trx) => acknowledgeLeak(trx, { code, reason, now: new Date(), audit: auditIn(trx) })),
  );
  if (auditId === null)
    throw new KnownError({
      code: 'code_not_flagged',
      message: 'This code is not flagged.',
      help: 'npx influencer-sync leaks lists the flagged codes.',
      safe: 'Nothing was changed.',
      exitCode: EXIT.configuration,
    });
  output.emit({ event: 'leak_acknowledged', code, reason });
  output.print(`Acknowledged: ${code}. It stays in the list, but is not reported again for 30 days.`);
  return EXIT.ok;
}
