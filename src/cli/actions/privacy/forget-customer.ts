import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { type Certificate, hasKept, isUnknown, OUT_OF_REACH } from '../../../core/privacy/forget.ts';
import { forgetPerson } from '../../../privacy/forget-person.ts';
import type { ForgetOptions } from '../../commands/privacy/forget.ts';
import { openConfig, withDatabase } from '../../open/open-config.ts';
import { askAddress } from '../../terminal/ask-address.ts';
import type { Output } from '../../terminal/output.ts';
import { auditIn } from '../../terminal/read-operator.ts';
import { renderCertificate } from './certificate.ts';

/**
 * Deletes a customer's data by e-mail address and prints a certificate.
 * @throws KnownError `bad_address`, `customer_key_missing`, … (exit 2); `already_running` (exit 5) while a
 *   run reads customers.
 */
export async function forgetByAddress(
  output: Output,
  given: string | undefined,
  options: ForgetOptions,
): Promise<ExitCode> {
  const config = await openConfig(options);
  const typed = given === undefined || given === '-' ? await askAddress('forget -') : given;
  const { dryRun: isDryRun = false, reason = null } = options;
  const certificate = await withDatabase(config, (db) =>
    forgetPerson(db, {
      ...{ config, typed, isDryRun },
      audit: (trx, record) => auditIn(trx)({ ...record, reason }),
    }),
  );
  output.emit({ event: 'certificate', ...certificate, outOfReach: OUT_OF_REACH });
  output.print(renderCertificate(certificate, output.terminal));
  return exitCodeOf(certificate);
}

function exitCodeOf(certificate: Certificate): ExitCode {
  if (hasKept(certificate)) return EXIT.rowsRejected;
  return isUnknown(certificate) ? EXIT.nothingKnown : EXIT.ok;
}
