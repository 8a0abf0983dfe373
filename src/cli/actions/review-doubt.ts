import { createInterface } from 'node:readline/promises';
import type { Database } from '../../db/connect.ts';
import { effects } from '../../effects/index.ts';
import { reapLost } from '../../ledger/reap.ts';
import {
  acceptDoubt,
  acknowledgeDoubleCredit,
  approveResend,
  type Resolution,
  type Resolved,
  writeOffDoubt,
} from '../../ledger/resolve.ts';
import { EXIT, type ExitCode } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import type { Doubt } from '../../model/ledger.ts';
import { formatMoney } from '../../model/money.ts';
import { renderWarning } from '../../present/error.ts';
import { dealsOfHandle, listDoubts } from '../../report/list-doubts.ts';
import { explainStale, refreshReporting } from '../../report/refresh-reporting.ts';
import type { Output } from '../terminal/output.ts';
import { readOperator } from '../terminal/read-operator.ts';
import { requireReason, usageError } from '../usage-error.ts';

export type ReviewOptions = {
  readonly accepted?: boolean;
  readonly writeOff?: boolean;
  readonly resend?: boolean;
  readonly acknowledge?: boolean;
  readonly reason?: string;
  readonly deal?: string;
  readonly collab?: string;
  readonly yes?: boolean;
};

export type ReviewInput = {
  readonly db: Database;
  readonly output: Output;
  readonly entryId: string;
  readonly options: ReviewOptions;
};

/**
 * Settles one doubt as a person says, with their reason and login name.
 *
 * @throws KnownError (exit 2) when it is not said what to do and why, or when the entry is not in doubt.
 */
export async function reviewDoubt({ db, output, entryId, options }: ReviewInput): Promise<ExitCode> {
  if (!options.accepted && !options.writeOff && !options.resend && !options.acknowledge) {
    throw usageError(
      'The command does not say what to do with the entry.',
      'Add --accepted, --write-off, --resend or (for a double credit) --acknowledge, and --reason.',
    );
  }
  const reason = requireReason(options.reason);

  if (options.acknowledge) {
    const resolved = await acknowledgeDoubleCredit(db, { entryId, reason, decidedBy: readOperator() });
    if (!resolved.done) throw notDouble(entryId);
    output.emit({ event: 'decided', entry_id: entryId, state: resolved.state });
    output.print(`The double credit of entry ${entryId} is acknowledged.`);
    return EXIT.ok;
  }

  // An entry of a process that is gone is in doubt, whether or not a run has come by since.
  await reapLost(db);
  const [doubt] = await listDoubts(db, { entryId, limit: 1 });
  if (options.resend && !options.yes && !(await confirmResend(output, { entryId, doubt }))) {
    output.print('Nothing was changed.');
    return EXIT.ok;
  }
  const resolution = { entryId, reason, decidedBy: readOperator() };
  const resolved = await decide(db, { options, resolution, doubt });
  if (!resolved.done) throw notInDoubt(entryId, resolved.state);
  // Decided is decided, also where the reports cannot take note of it.
  if (doubt !== undefined)
    await refreshReporting(db, { job: doubt.job }).catch((error: unknown) =>
      output.warn(explainStale(error)),
    );
  output.emit({ event: 'decided', entry_id: entryId, state: resolved.state });
  output.print(`Entry ${entryId} is ${WORDS[resolved.state ?? ''] ?? resolved.state} now.`);
  return EXIT.ok;
}

const WORDS: Readonly<Record<string, string>> = {
  accepted: 'accepted',
  written_off: 'written off',
  ready: 'ready: the next run sends it again',
};

type Decision = {
  readonly options: ReviewOptions;
  readonly resolution: Resolution;
  readonly doubt: Doubt | undefined;
};

async function decide(db: Database, { options, resolution, doubt }: Decision): Promise<Resolved> {
  if (options.writeOff) return writeOffDoubt(db, resolution);
  if (options.resend) return approveResend(db, resolution);
  const dealId =
    options.deal ?? doubt?.dealId ?? doubt?.evidence.find((one) => one.dealId !== null)?.dealId ?? null;
  const collabId = options.collab ?? doubt?.collabId ?? null;
  if (doubt !== undefined && effects[doubt.effect].namesDeal && dealId === null && collabId === null) {
    throw await dealUnknown(db, { entryId: resolution.entryId, doubt });
  }
  return acceptDoubt(db, { ...resolution, dealId, collabId });
}

/** Nothing says which deal the service credited; the mirror may know the one, or those, of the influencer. */
async function dealUnknown(
  db: Database,
  { entryId, doubt: { influencerHandle: handle } }: { readonly entryId: string; readonly doubt: Doubt },
): Promise<KnownError> {
  const deals = handle === null ? [] : await dealsOfHandle(db, handle);
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

/** An influencer has one deal with a brand, as a rule. */
const DEALS_SHOWN = 5;

/** Sending twice is the one thing that this program exists to prevent, so a person must mean it. */
async function confirmResend(
  output: Output,
  { entryId, doubt }: { entryId: string; doubt: Doubt | undefined },
): Promise<boolean> {
  const amount =
    doubt?.amount === null || doubt === undefined ? '' : ` of ${formatMoney(doubt.amount, doubt.currency)}`;
  const text = `Entry ${entryId}${amount} will be sent again. If the service has already processed it, the influencer is credited twice, and you cannot undo that.`;
  output.warn(renderWarning(text, output.terminal));
  if (!process.stdin.isTTY)
    throw usageError('This is not a terminal, so you cannot confirm.', 'To confirm, add --yes.');
  const question = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await question.question('Type "resend" to continue: ').finally(() => question.close());
  return answer.trim().toLowerCase() === 'resend';
}

function notDouble(entryId: string): KnownError {
  return new KnownError({
    code: 'entry_not_credited_twice',
    message: `The service has not accepted entry ${entryId} more than once, or you have already acknowledged it.`,
    help: 'npx influencer-sync review lists the orders that were credited more than once.',
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}

function notInDoubt(entryId: string, state: string | null): KnownError {
  return new KnownError({
    code: state === null ? 'entry_not_found' : 'entry_not_in_doubt',
    message:
      state === null
        ? `There is no entry ${entryId}.`
        : `Entry ${entryId} is ${state}, so this decision does not apply.`,
    help: 'npx influencer-sync review lists the entries in doubt. A running process settles its own.',
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}
