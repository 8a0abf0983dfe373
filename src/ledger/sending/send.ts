import type { Verdict } from '../../core/http/exchange.ts';
import { isObject, parseObject } from '../../core/json/exact-json.ts';
import type { ClaimedEntry, Effect, Outcome } from '../../core/ledger.ts';
import type { Client } from '../../service/client.ts';
import { judge } from '../../service/description/verdict.ts';
import { type Acceptance, namesItsDeal } from '../effects/effect.ts';
import { effects } from '../effects/index.ts';
import { classify, type Said } from './classify.ts';

/** Posts a claimed entry once, and resolves to its outcome. */
export type Send = (entry: ClaimedEntry) => Promise<Outcome>;

/** Creates the sender of claimed entries. Code that passes an entry without a claim does not compile. */
export function createSender(client: Pick<Client, 'exchange'>): Send {
  return async ({ effect, body }) => {
    const exchange = await client.exchange(effects[effect].operation, { body });
    return classify(exchange, {
      isRepeatable: false,
      read: (text, verdict) => readAnswer(effect, text, body, verdict),
      now: new Date(),
    });
  };
}

/**
 * Reads the body of a 2xx answer for an effect. It confirms the effect only if nothing in it says no, if it names what
 * was credited or has what the description of the service states as a yes, and if it names no other deal or
 * collaboration than the request.
 *
 * @param sent the body of the request.
 */
export function readAnswer(
  effect: Effect,
  text: string,
  sent: string,
  verdict: Verdict = judge({ status: 200, text }),
): Said {
  const answer = parseObject(text);
  if (verdict.kind === 'no') return { kind: 'nothing', why: `that says no: ${verdict.reason}` };
  if (answer === null && !verdict.isStated) return { kind: 'nothing', why: 'without a JSON object' };
  const request = parseObject(sent) ?? {};
  const acceptance =
    effects[effect].readAcceptance(answer ?? {}) ?? (verdict.isStated ? statedYes(request) : null);
  if (acceptance === null) return { kind: 'nothing', why: 'that does not name what was credited' };
  if (effects[effect].namesDeal && !verdict.isStated) {
    if (verdict.doubt !== undefined) return { kind: 'nothing', why: verdict.doubt };
    if (!namesWhatWasSent(request, acceptance))
      return { kind: 'nothing', why: 'that does not name the deal or collaboration of the request' };
  }
  const hasOther = Object.values(answer ?? {}).some((part) => isObject(part) && namesOther(part, acceptance));
  if (hasOther || namesOther(request, acceptance))
    return { kind: 'nothing', why: 'that names another deal or collaboration than the request' };
  return { kind: 'taken', ...acceptance };
}

/** A yes that names nothing is about the deal of the request, if that named one. */
function statedYes(request: Readonly<Record<string, unknown>>): Acceptance {
  const { dealId, collabId } = namesItsDeal(request) ?? { dealId: null, collabId: null };
  return { dealId, collabId, message: 'The service said yes, as service.operations states it.' };
}

/** True if the deal that was sent is named; without one, the collaboration that was sent. */
function namesWhatWasSent(
  { deal_id: deal, collab_id: collab }: Readonly<Record<string, unknown>>,
  { dealId, collabId }: Acceptance,
): boolean {
  if (typeof deal === 'string') return dealId !== null;
  return typeof collab !== 'string' || collabId !== null;
}

/** True if the request, or a part of the answer, is about another deal or collaboration. */
function namesOther(one: Readonly<Record<string, unknown>>, { dealId, collabId }: Acceptance): boolean {
  return isOther(one.deal_id, dealId) || isOther(one.collab_id, collabId);
}

/** True if both ids are known and differ. The service takes the address of a deal for its id. */
function isOther(sent: unknown, named: string | null): boolean {
  return typeof sent === 'string' && named !== null && lastPart(sent) !== lastPart(named);
}

function lastPart(id: string): string {
  const path = /^https?:/i.test(id) ? (URL.parse(id)?.pathname ?? '') : '';
  return path.split('/').findLast((part) => part !== '') ?? id;
}
