import type { PipelineConfig } from '../../config/schema.ts';
import type { ExitCode } from '../../core/exit-code.ts';
import type { Database } from '../../db/connect.ts';
import { describeFilter, previewAcknowledgement, previewSettlement } from '../../decisions/settle-many.ts';
import type { Output } from '../terminal/output.ts';
import { auditIn, readOperator } from '../terminal/read-operator.ts';
import { requireReason, usageError } from '../usage-error.ts';
import { decideMany } from './decide-many.ts';
import { chosenDecision, type ReviewOptions } from './review-doubt.ts';

export type ReviewManyOptions = ReviewOptions & {
  readonly all?: boolean;
  readonly job?: string;
  readonly why?: string;
  readonly forDeal?: string;
  /** In milliseconds. */
  readonly olderThan?: number;
};

/**
 * Settles all matching entries in doubt, or acknowledges all double credits, as a person decides: after a
 * preview, with a reason and the person's login name.
 *
 * @throws KnownError (exit 2) if the decision or the reason is missing, or if a confirmation is needed and
 *   there is no terminal.
 */
export async function reviewMany({
  db,
  config,
  output,
  options,
  entryId,
}: {
  readonly db: Database;
  readonly config: PipelineConfig;
  readonly output: Output;
  readonly options: ReviewManyOptions;
  readonly entryId: string | undefined;
}): Promise<ExitCode> {
  if (entryId !== undefined)
    throw usageError('The command has both the number of an entry and --all.', 'Leave one of them out.');
  const decision = chosenDecision(options);
  const reason = requireReason(options.reason);
  const { job = null, why = null, forDeal = null, olderThan, deal = null, collab = null } = options;
  const common = { actor: readOperator(), via: 'command', reason } as const;
  const many = { output, reason, yes: options.yes === true, leaseMs: config.api.leaseSeconds * 1000 };
  if (decision === 'acknowledge') {
    if (why !== null || forDeal !== null || olderThan !== undefined)
      throw usageError(
        'For double credits, only --job can select entries.',
        'Leave out --why, --for-deal and --older-than.',
      );
    return decideMany(db, {
      ...many,
      none: 'No order is credited more than once.',
      preview: (trx) =>
        previewAcknowledgement(trx, {
          ...{ ...common, audit: auditIn(trx), entries: { job } },
          chosen: `All double credits${job === null ? '' : ` of job ${job}`}`,
        }),
    });
  }
  if (decision !== 'accepted' && deal !== null)
    throw usageError(
      '--deal can only be used with --accepted.',
      'To select the entries of one deal, use --for-deal.',
    );
  const filter = {
    job,
    reason: why,
    dealId: forDeal,
    sinceBefore: olderThan === undefined ? null : new Date(Date.now() - olderThan),
  };
  return decideMany(db, {
    ...many,
    none: 'No order in doubt matches.',
    preview: (trx) =>
      previewSettlement(trx, {
        ...{ ...common, audit: auditIn(trx), decision, dealId: deal, collabId: collab, entries: filter },
        chosen: describeFilter(filter),
      }),
  });
}
