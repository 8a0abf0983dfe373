import type { PipelineConfig } from '../../config/schema.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { type KnownError, refusal } from '../../core/known-error.ts';
import { formatMoney } from '../../core/money.ts';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { type Decision, describeSettled, type Settled, settleDoubt } from '../../decisions/settle-doubt.ts';
import { describeFilter, previewAcknowledgement, previewSettlement } from '../../decisions/settle-many.ts';
import { describeRepetition } from '../../ledger/effects/index.ts';
import { renderWarning } from '../../render/error.ts';
import { findEntry } from '../../reports/doubts/list-doubts.ts';
import { explainStale, refreshReporting } from '../../rollups/refresh-reporting.ts';
import { confirmByWord } from '../terminal/ask-person.ts';
import type { Output } from '../terminal/output.ts';
import { decidedHere } from '../terminal/read-operator.ts';
import { requireReason, usageError } from '../usage-error.ts';
import { decideMany } from './decide-many.ts';
import type { ReviewOptions } from './review-options.ts';

type Review = {
  readonly db: Database;
  readonly output: Output;
  readonly entryId: string;
  readonly options: ReviewOptions;
};

/**
 * Settles one entry in doubt as a person decides, with a reason and the person's login name.
 *
 * @throws KnownError (exit 2) if the decision or the reason is missing, or if the entry is not in doubt.
 */
export async function reviewDoubt({ db, output, entryId, options }: Review): Promise<ExitCode> {
  const decision = chosenDecision(options);
  const reason = requireReason(options.reason);
  if (
    decision === 'resend' &&
    !options.yes &&
    !options.dryRun &&
    !(await confirmResend(db, { output, entryId }))
  ) {
    output.print('Nothing was changed.');
    return EXIT.ok;
  }
  const settled = await inTransaction(db, (trx) =>
    settleDoubt(trx, {
      entryId,
      decision,
      reason,
      ...decidedHere(trx),
      dealId: options.deal,
      collabId: options.collab,
    }),
  );
  if (settled.kind !== 'settled') throw notSettled(entryId, settled);
  // The decision is committed, so a failed refresh of the reports causes only a warning.
  if (decision !== 'acknowledge')
    await refreshReporting(db, { job: settled.job }).catch((error: unknown) =>
      output.warn(explainStale(error)),
    );
  output.emit({ event: 'decided', entry_id: entryId, state: settled.state });
  output.print(describeSettled({ entryId, decision, state: settled.state }));
  return EXIT.ok;
}

function chosenDecision({ accepted, writeOff, resend, acknowledge }: ReviewOptions): Decision {
  if (accepted) return 'accepted';
  if (writeOff) return 'write_off';
  if (resend) return 'resend';
  if (acknowledge) return 'acknowledge';
  throw usageError(
    'The command does not say what to do.',
    'Add --accepted, --write-off, --resend or (for a double credit) --acknowledge, and --reason.',
  );
}

function notSettled(entryId: string, settled: Exclude<Settled, { readonly kind: 'settled' }>): KnownError {
  switch (settled.kind) {
    case 'deal_unknown':
      return dealUnknown(entryId, settled);
    case 'not_credited_twice':
      return refusal({
        code: 'entry_not_credited_twice',
        message: `The service has not accepted entry ${entryId} more than once, or you have already acknowledged it.`,
        help: 'npx influencer-sync review lists the orders that were credited more than once.',
      });
    case 'unknown_entry':
      return notInDoubt(entryId, null);
    case 'does_not_apply':
      return notInDoubt(entryId, settled.state);
  }
}

/**
 * The error if it is unknown which deal the service credited. It lists the influencer's deals in the mirror, if any.
 */
function dealUnknown(
  entryId: string,
  { handle, deals }: Extract<Settled, { readonly kind: 'deal_unknown' }>,
): KnownError {
  const shown = deals.slice(0, DEALS_SHOWN).map(({ dealId, brandId, isActive }) => {
    const facts = [brandId === null ? '' : `brand ${brandId}`, isActive === false ? 'not active' : ''];
    const about = facts.filter((fact) => fact !== '').join(', ');
    return `\n  --deal ${dealId}${about === '' ? '' : `   (${about})`}`;
  });
  const known =
    shown.length === 0
      ? `${handle === null ? '' : `The mirror knows no deal of ${handle}. `}Look up the order in the service, and add the deal or the collaboration that it shows:\n  --deal ID   or   --collab ID`
      : `Look up the order in the service, and add the deal that it shows. The mirror knows these deals of ${handle}:${shown.join('')}`;
  return usageError(
    `The credited deal is unknown: entry ${entryId} was sent for ${handle === null ? 'an influencer' : `the handle ${handle}`}.`,
    `${known}\n--accepted needs one of them, so that the sales count for the right deal.`,
  );
}

/** Maximum number of deals to list. An influencer usually has one deal with a brand. */
const DEALS_SHOWN = 5;

/**
 * Asks for confirmation. Preventing double credits is the purpose of this program, so sending again must be
 * deliberate.
 */
async function confirmResend(
  db: Database,
  { output, entryId }: { output: Output; entryId: string },
): Promise<boolean> {
  const entry = await findEntry(db, entryId);
  if (entry === null) throw notInDoubt(entryId, null);
  const amount = entry.amount === null ? '' : ` of ${formatMoney(entry.amount, entry.currency)}`;
  const text = `Entry ${entryId}${amount} will be sent again. If the service has already processed it, ${describeRepetition([entry.effect])}.`;
  output.warn(renderWarning(text, output.terminal));
  return confirmByWord('resend');
}

function notInDoubt(entryId: string, state: string | null): KnownError {
  return refusal({
    code: state === null ? 'entry_not_found' : 'entry_not_in_doubt',
    message:
      state === null
        ? `There is no entry ${entryId}.`
        : `Entry ${entryId} is ${state}, so this decision does not apply.`,
    help: 'npx influencer-sync review lists the entries in doubt. A running process settles its own.',
  });
}

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
}: Omit<Review, 'entryId'> & {
  readonly config: PipelineConfig;
  readonly entryId: string | undefined;
}): Promise<ExitCode> {
  if (entryId !== undefined)
    throw usageError('The command has both the number of an entry and --all.', 'Leave one of them out.');
  const decision = chosenDecision(options);
  const reason = requireReason(options.reason);
  const { job = null, why = null, forDeal = null, olderThan, deal = null, collab = null } = options;
  const { dryRun, yes = false } = options;
  const many = { output, reason, yes, dryRun, leaseMs: config.api.leaseSeconds * 1000 };
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
          ...decidedHere(trx),
          via: 'command',
          reason,
          entries: { job },
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
        ...decidedHere(trx),
        via: 'command',
        reason,
        decision,
        dealId: deal,
        collabId: collab,
        entries: filter,
        chosen: describeFilter(filter),
      }),
  });
}
