import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { foldCode } from '../../core/text/fold.ts';
import type { CommandDefinition, ConfigOptions } from '../command.ts';
import { openCommand } from '../open/open-command.ts';
import type { Output } from '../terminal/output.ts';
import { refusal, requireReason } from '../usage-error.ts';

type AcknowledgeLeakOptions = ConfigOptions & { readonly reason: string };

export const leaksCommand: CommandDefinition = {
  name: 'leaks',
  summary: 'list codes that may have leaked',
  description: 'list codes that may have leaked: people use them who do not come from the creator',
  examples: [
    ['leaks', 'codes with unusual orders in the last four weeks, and the figures'],
    ["leaks acknowledge MIA10 --reason 'on air in a podcast'", 'it is not a leak, or you have dealt with it'],
  ],
  notes: 'Nothing is withheld. Exits with 3 while a flagged code is not acknowledged.',
  action: showLeaks,
  commands: [
    {
      name: 'acknowledge',
      changes: true,
      description: 'acknowledge a flagged code: it is not reported again for 30 days',
      takes: (command) =>
        command
          .argument('<code>', 'the code, as `leaks` lists it')
          .requiredOption('--reason <text>', 'why; kept in the audit'),
      action: performAcknowledging,
    },
  ],
};

/**
 * Lists codes that may have leaked.
 * @returns 3 if one of them is not acknowledged.
 */
async function showLeaks(output: Output, options: ConfigOptions): Promise<ExitCode> {
  const { read } = await openCommand(output, options);
  const { findLeaks } = await import('../../money/find-leaks.ts');
  const { describeLeaks } = await import('../../reports/money/leaks.ts');
  const leaks = await read((db) => findLeaks(db, { now: new Date() }));
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
  const { acknowledgeLeak } = await import('../../decisions/acknowledge-leak.ts');
  const code = foldCode(written);
  const reason = requireReason(options.reason, 'in the audit');
  const { decide } = await openCommand(output, options);
  const auditId = await decide((trx, { audit }) =>
    acknowledgeLeak(trx, { code, reason, now: new Date(), audit }),
  );
  if (auditId === null)
    throw refusal({
      code: 'code_not_flagged',
      message: 'This code is not flagged.',
      help: 'npx influencer-sync leaks lists the flagged codes.',
    });
  output.emit({ event: 'leak_acknowledged', code, reason });
  output.print(`Acknowledged: ${code}. It stays in the list, but is not reported again for 30 days.`);
  return EXIT.ok;
}
