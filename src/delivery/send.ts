import type { Client } from '../api/client.ts';
import { effects } from '../effects/index.ts';
import type { ClaimedEntry, Effect, Outcome } from '../model/ledger.ts';
import { classify, findNo, readObject, type Said } from './classify.ts';

/** Posts a claimed entry once, and resolves to its outcome. */
export type Send = (entry: ClaimedEntry) => Promise<Outcome>;

/** Creates the sender of claimed entries. Code that passes an entry without a claim does not compile. */
export function createSender(client: Pick<Client, 'exchange'>): Send {
  return async ({ effect, body }) => {
    const exchange = await client.exchange(effects[effect].operation, { body });
    return classify(exchange, {
      isRepeatable: false,
      read: (text) => readAnswer(effect, text, body),
      now: new Date(),
    });
  };
}

/**
 * Reads the body of a 2xx answer for an effect. It confirms the effect only if nothing in it says no, and if it names
 * no other deal or collaboration than the request. @param sent the body of the request.
 */
export function readAnswer(effect: Effect, text: string, sent: string): Said {
  const answer = readObject(text);
  if (answer === null) return { kind: 'nothing', why: 'without a JSON object' };
  const no = findNo(answer, text);
  if (no !== null) return { kind: 'nothing', why: `that says no: ${no}` };
  const acceptance = effects[effect].readAcceptance(answer);
  if (acceptance === null) return { kind: 'nothing', why: 'that does not name what was credited' };
  const request = readObject(sent) ?? {};
  if (isOther(request.deal_id, acceptance.dealId) || isOther(request.collab_id, acceptance.collabId))
    return { kind: 'nothing', why: 'that names another deal or collaboration than the request' };
  return { kind: 'taken', ...acceptance };
}

/** True if both ids are known and differ. The service takes the address of a deal for its id. */
function isOther(sent: unknown, named: string | null): boolean {
  return typeof sent === 'string' && named !== null && lastPart(sent) !== lastPart(named);
}

function lastPart(id: string): string {
  const path = /^https?:/i.test(id) ? (URL.parse(id)?.pathname ?? '') : '';
  return path.split('/').findLast((part) => part !== '') ?? id;
}
