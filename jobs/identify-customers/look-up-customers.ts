import { configurationError } from '../../src/core/known-error.ts';
import {
  dropLookups,
  type LookupResult,
  recordLookups,
  type WantedLookup,
  wantedLookups,
} from '../../src/intake/customers/lookups.ts';
import { countWaiting } from '../../src/intake/customers/waiting-batches.ts';
import { groupCommit } from '../../src/ledger/group-commit.ts';
import { readLookupAnswer } from '../../src/ledger/sending/classify.ts';
import type { OpenRequestGate } from '../../src/ledger/sending/open-request-gate.ts';
import { readProfile } from '../../src/ledger/sending/read-profile.ts';
import { reasonOf } from '../../src/ledger/sending/request-gate.ts';
import { type Sent, sendRepeatable, withoutAddresses } from '../../src/ledger/sending/send-repeatable.ts';
import type { Run } from '../../src/ops/run.ts';
import type { Client } from '../../src/service/client.ts';
import { judge } from '../../src/service/description/verdict.ts';
import type { IdentifyCustomersSettings } from './settings.ts';
import { sourcesOfUnknown } from './take-customers.ts';

/**
 * Asks `identify_influencers_real_time` about customers, each once, within the budget of the run, and stores
 * the answers. Drops the waiting look-ups that exceed the budget, because their addresses must not stay
 * stored. A later file brings these customers back.
 *
 * @throws KnownError `brand_unknown` (exit 2).
 */
export async function lookUpCustomers(
  run: Run<IdentifyCustomersSettings>,
  client: Client,
  { gate, forEach }: OpenRequestGate,
): Promise<void> {
  const { db, job, runId, progress } = run;
  const { brandId, recheckAfterDays, lookup } = job;
  let left = Math.min(lookup?.budget ?? 0, run.options.limit ?? Number.POSITIVE_INFINITY);
  const { lookups } = await countWaiting(db, brandId);
  const record = groupCommit((results: readonly LookupResult[]) => recordLookups(db, results));
  const asked = new Set<string>();

  async function lookUp({ hash, address }: WantedLookup): Promise<void> {
    if (left <= 0 || asked.has(hash)) return;
    left -= 1;
    asked.add(hash);
    const query = { brand_id: brandId, influencer_email: address };
    const sent = await sendRepeatable(
      { client, gate },
      {
        operation: 'identify_influencers_real_time',
        input: { query },
        read: (text, verdict, status) => readLookupAnswer(text, verdict, { status, asked: query }),
      },
    );
    if (sent === null) return;
    const answer = toAnswer(sent, address);
    // `sendRepeatable` has counted the others.
    if (answer === null && sent.outcome.kind === 'rejected') gate.leaveUnanswered(reasonOf(sent.outcome));
    if (answer === null) return;
    await record({ hash, brandId, runId, ...answer });
    progress.advance(1);
  }

  if (lookups > 0 && left > 0) {
    const total = Math.min(lookups, left);
    progress.begin({ name: 'look_up', label: 'Looking up customers', unit: 'customers', total });
    const unknownFrom = sourcesOfUnknown(run);
    await forEach(wantedLookups(db, { brandId, recheckAfterDays, unknownFrom }), lookUp);
  }
  // Look-ups that a run did not make because it stopped early, or that got no answer, wait for the next run.
  if (gate.unfinished() === null) await dropLookups(db, brandId);
}

type Answered = Pick<LookupResult, 'answer' | 'httpStatus'>;

/** @returns null if the service gave no clear answer of its own. The customer is then looked up again. */
function toAnswer({ outcome, exchange }: Sent, address: string): Answered | null {
  if (exchange.kind === 'failure') return null;
  const { status: httpStatus, text } = exchange;
  if (outcome.kind === 'accepted') {
    const profile = readProfile(text);
    return { httpStatus, answer: profile === null ? { kind: 'no_match' } : { kind: 'influencer', profile } };
  }
  const { isOwnWord, isStated, isNotFound } = exchange.verdict ?? judge(exchange);
  if (outcome.kind !== 'rejected' || outcome.stopsGate || !(isOwnWord || isStated)) return null;
  const message = withoutAddresses(outcome.message, [address]);
  if (!isNotFound) return { httpStatus, answer: { kind: 'refused', message } };
  if (/brand/i.test(message))
    throw configurationError({
      code: 'brand_unknown',
      message: `The service does not know the brand: ${message}`,
      help: 'Check brand_id of the job: npx influencer-sync api search_brands',
      safe: 'No customer was submitted.',
    });
  return { httpStatus, answer: { kind: 'no_match' } };
}
