import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Outcome } from '../../src/core/ledger.ts';
import type { ClaimedAttempt } from '../../src/ledger/continuity/journal-lines.ts';
import { hasClaims, lookUpClaims, readNewestClaim } from '../../src/ledger/continuity/known-claims.ts';
import { storeLostClaims } from '../../src/ledger/continuity/lost-claims.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { decideEntry } from '../../src/ledger/resolve.ts';
import { setup } from '../support/setup.ts';
import { insertEntry, mustClaim, startWorker } from './entries.ts';

const ACCEPTED: Outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null };
const DOUBT: Outcome = { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' };
const REFUSED: Outcome = { kind: 'rejected', httpStatus: 404, message: 'no such deal', stopsGate: false };
const NOT_WRITTEN: Outcome = { kind: 'not_written', reason: 'connection refused' };

it('a claim is known by its entry, attempt and id, or as a lost one; it is unsettled while its entry waits for its answer', async () => {
  const { db } = await setup();
  const worker = await startWorker(db);
  expect([await hasClaims(db), await readNewestClaim(db)]).toEqual([false, null]);
  const asked: [string, ClaimedAttempt][] = [];
  const claim = async (title: string, outcome: Outcome | null = null) => {
    const entry = await mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId: title }));
    asked.push([title, entry]);
    const { entryId, attempt } = entry;
    if (outcome !== null) await recordAnswers(db, [{ entryId, attempt, outcome, backoffMs: 0 }], 'direct');
    return entry;
  };
  const resolution = { reason: 'not in the dashboard', decidedBy: 'ada' };
  const sending = await claim('sending');
  await claim('in doubt', DOUBT);
  await decideEntry(db, {
    decision: 'resend',
    entryId: (await claim('approved', DOUBT)).entryId,
    ...resolution,
  });
  await claim('not sent', NOT_WRITTEN);
  await claim('accepted', ACCEPTED);
  await claim('rejected', REFUSED);
  await decideEntry(db, {
    decision: 'write_off',
    entryId: (await claim('written off', DOUBT)).entryId,
    ...resolution,
  });
  const again = await claim('the first of two', NOT_WRITTEN);
  asked.push(['the second of two', await mustClaim(worker, again.entryId)]);
  asked.push(['of another claim', { ...sending, claim: { ...sending.claim, claimId: randomUUID() } }]);
  asked.push(['of another attempt', { ...sending, attempt: 2 }]);
  asked.push(['of another entry', { ...sending, entryId: '99' }]);
  const lost = { ...sending, claim: { ...sending.claim, claimId: randomUUID(), claimNo: '99' } };
  await storeLostClaims(db, [
    { claim: lost.claim, disposition: 'disregarded', outcome: null, claimedAt: null },
  ]);
  asked.push(['lost', lost]);
  asked.push(['lost, with another number', { ...lost, claim: { ...lost.claim, claimNo: '98' } }]);
  asked.push(['lost, with another id', { ...lost, claim: { ...lost.claim, claimId: randomUUID() } }]);
  const claims = asked.map(([, one]) => one);
  const known = await lookUpClaims(db, claims);
  expect(asked.map(([title], place) => [title, known[place]?.isKnown, known[place]?.isUnsettled])).toEqual([
    ['sending', true, true],
    ['in doubt', true, true],
    ['approved', true, true],
    ['not sent', true, false],
    ['accepted', true, false],
    ['rejected', true, false],
    ['written off', true, false],
    ['the first of two', true, false],
    ['the second of two', true, true],
    ['of another claim', false, false],
    ['of another attempt', false, false],
    ['of another entry', false, false],
    ['lost', true, false],
    ['lost, with another number', false, false],
    ['lost, with another id', false, false],
  ]);
  expect(await lookUpClaims(db, claims.toReversed())).toEqual(known.toReversed());
  expect(await lookUpClaims(null, claims), 'there is no database yet').toEqual([]);
  expect(await hasClaims(db)).toBe(true);
  expect(await readNewestClaim(db)).toEqual({ claimNo: '9', claimedAt: expect.any(Date), claims: 9 });
});
