import type { Exchange, Verdict } from '../../core/http/exchange.ts';
import { isObject, parseObject } from '../../core/json/exact-json.ts';
import type { ClaimedEntry, Effect, Outcome } from '../../core/ledger.ts';
import type { Client } from '../../service/client.ts';
import { operationOf } from '../../service/contract.ts';
import { findDoubt, judge } from '../../service/description/verdict.ts';
import { type Acceptance, namesItsDeal } from '../effects/effect.ts';
import { findOther, isOther } from '../effects/find-other.ts';
import { effects } from '../effects/index.ts';
import { classify, type Said } from './classify.ts';

/** Posts a claimed entry once, and resolves to its outcome. */
export type Send = (entry: ClaimedEntry) => Promise<Outcome>;

/** Creates the sender of claimed entries. Code that passes an entry without a claim does not compile. */
export function createSender(client: Pick<Client, 'exchange'>): Send {
  return async ({ effect, body }) => {
    const exchange = await client.exchange(effects[effect].operation, { body });
    const outcome = classify(exchange, {
      isRepeatable: false,
      read: (text, verdict) => readAnswer(effect, text, body, verdict),
      now: new Date(),
    });
    const isNo = outcome.kind === 'rejected' || outcome.kind === 'throttled';
    if (!isNo || exchange.kind === 'failure' || !contradictsItself(effect, exchange, body)) return outcome;
    const { status: httpStatus } = exchange;
    return { kind: 'in_doubt', httpStatus, reason: `HTTP ${httpStatus} with the body of an acceptance` };
  };
}

/** True if the status of an answer says no, and its body names the deal, as that of an acceptance does. */
function contradictsItself(
  effect: Effect,
  { text, verdict }: Extract<Exchange, { readonly kind: 'answer' }>,
  sent: string,
): boolean {
  if (verdict?.isStated === true || !effects[effect].namesDeal) return false;
  return readAnswer(effect, text, sent).kind === 'taken';
}

/**
 * Reads the body of a 2xx answer for an effect. It confirms the effect only if nothing in it says no or may mean it, if it
 * names what was credited or has what the description of the service states as a yes, and if it is about nothing else
 * than the request.
 *
 * @param sent the body of the request.
 */
export function readAnswer(
  effect: Effect,
  text: string,
  sent: string,
  verdict: Verdict = judge({ status: 200, text }),
): Said {
  const kind = effects[effect];
  const answer = parseObject(text);
  if (verdict.kind === 'no') return { kind: 'nothing', why: `that says no: ${verdict.reason}` };
  if (answer === null && !verdict.isStated) return { kind: 'nothing', why: 'without a JSON object' };
  const request = parseObject(sent) ?? {};
  const acceptance = kind.readAcceptance(answer ?? {}) ?? (verdict.isStated ? statedYes(request) : null);
  if (acceptance === null) return { kind: 'nothing', why: 'that does not name what was credited' };
  if (!verdict.isStated) {
    const why =
      findDoubt(verdict, operationOf(kind.operation)) ?? kind.findContradiction?.(answer ?? {}, request);
    if (why !== undefined) return { kind: 'nothing', why };
    const other = findOther(request, answer ?? {});
    if (other !== null) return { kind: 'nothing', why: `that names another ${other} than the request` };
    if (kind.namesDeal && !namesWhatWasSent(request, acceptance))
      return { kind: 'nothing', why: 'that does not name the deal or collaboration of the request' };
  }
  const parts = [request, answer ?? {}, ...Object.values(answer ?? {}).filter(isObject)];
  const { deal_info: deal } = answer ?? {};
  // A note is accepted by a message that names no deal.
  const dealId = acceptance.dealId ?? request.deal_id;
  const collabId = acceptance.collabId ?? request.collab_id;
  const isOfOther = isObject(deal) && isOther(deal.id, dealId);
  if (isOfOther || parts.some((part) => isOther(part.deal_id, dealId) || isOther(part.collab_id, collabId)))
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
