import { fileName } from '../core/text/file-name.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import {
  type AcknowledgedFinding,
  acknowledgeFindings,
  addExpectedDate,
  listStillHeld,
} from '../intake/checks/decide-checks.ts';
import { requestReread } from '../intake/files/release-files.ts';
import type { Decided, DecidedWhy } from '../ops/record-audit.ts';

export type Acknowledged = {
  readonly findings: readonly AcknowledgedFinding[];
  /** Number of held files that the next run reads, because every finding that held them is acknowledged. */
  readonly released: number;
  /** Findings that still hold the other files. */
  readonly stillHeldBy: readonly string[];
};

/**
 * Records that a person considers files correct although checks found them unusual. The next run reads a file
 * once no finding holds it any more. Commands and the console both call this function.
 */
export async function acknowledgeChecks(
  trx: DatabaseTransaction,
  options: DecidedWhy & { readonly findingIds: readonly string[] },
): Promise<Acknowledged> {
  const { findingIds, reason, decidedBy, audit } = options;
  const findings = await acknowledgeFindings(trx, { findingIds, reason, acknowledgedBy: decidedBy });
  for (const { findingId, check, source, uri, message } of findings)
    await audit({
      action: 'acknowledge_check',
      subjectKind: 'check',
      subject: findingId,
      summary: `${fileName(uri)} (source ${source}) is right. ${check}: ${message}`,
      reason,
      before: { acknowledged: false },
      after: { acknowledged: true },
    });
  const held = [
    ...new Set(findings.flatMap(({ verdict, sourceFileId }) => (verdict === 'held' ? [sourceFileId] : []))),
  ];
  const still = await listStillHeld(trx, held);
  const free = held.filter((id) => !still.some(({ sourceFileId }) => sourceFileId === id));
  const released = await requestReread(trx, { sourceFileIds: free, requestedBy: decidedBy });
  return { findings, released, stillHeldBy: still.map(({ findingId }) => findingId) };
}

/** Records that a person expects unusual amounts of orders on a date. */
export async function expectDate(
  trx: DatabaseTransaction,
  options: Decided & { readonly day: string; readonly name: string; readonly source: string | null },
): Promise<void> {
  const { day, name, source, decidedBy, audit } = options;
  const former = await addExpectedDate(trx, { day, name, source, createdBy: decidedBy });
  await audit({
    action: 'expect_date',
    subjectKind: 'check',
    subject: day,
    summary: `Unusual amounts of orders are expected on ${day}: ${name}${source === null ? '' : ` (source ${source})`}.`,
    before: former === null ? null : { name: former },
    after: { name },
  });
}
