import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { KnownError } from '../../../core/known-error.ts';
import { foldCode } from '../../../core/text/fold.ts';
import { inTransaction } from '../../../db/in-transaction.ts';
import { acknowledgeLeak } from '../../../decisions/acknowledge-leak.ts';
import { findLeaks } from '../../../money/find-leaks.ts';
import { renderBlocks } from '../../../render/render-blocks.ts';
import { describeLeaks } from '../../../reports/money/leaks.ts';
import type { ConfigOptions } from '../../commands/command.ts';
import type { AcknowledgeLeakOptions } from '../../commands/money/leaks.ts';
import { openConfig, withDatabase } from '../../open/open-config.ts';
import type { Output } from '../../terminal/output.ts';
import { auditIn } from '../../terminal/read-operator.ts';
import { requireReason } from '../../usage-error.ts';

/**
 * Lists codes that may have leaked.
 * @returns 3 if one of them is not acknowledged.
 */
export async function showLeaks(output: Output, options: ConfigOptions): Promise<ExitCode> {
  const leaks = await withDatabase(await openConfig(options), (db) => findLeaks(db, { now: new Date() }));
  for (const leak of leaks) output.emit({ event: 'leaked_code', ...leak });
  output.print(renderBlocks(describeLeaks(leaks), output.terminal));
  return leaks.some(({ acknowledged }) => acknowledged === null) ? EXIT.rowsRejected : EXIT.ok;
}

/**
 * Records that a person acknowledged a code.
 * @throws KnownError `code_not_flagged` (exit 2).
 */
export async function performAcknowledging(
  output: Output,
  written: string,
  options: AcknowledgeLeakOptions,
): Promise<ExitCode> {
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
