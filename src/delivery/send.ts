import type { Client } from '../api/client.ts';
import { effects } from '../effects/index.ts';
import type { ClaimedEntry, Effect, Outcome } from '../model/ledger.ts';
import { classify, readObject, type Said } from './classify.ts';

/** Posts a claimed entry once, and resolves to its outcome. */
export type Send = (entry: ClaimedEntry) => Promise<Outcome>;

/** Creates the sender of claimed entries. Code that passes an entry without a claim does not compile. */
export function createSender(client: Pick<Client, 'exchange'>): Send {
  return async ({ effect, body }) => {
    const exchange = await client.exchange(effects[effect].operation, { body });
    return classify(exchange, {
      isRepeatable: false,
      read: (text) => readAnswer(effect, text),
      now: new Date(),
    });
  };
}

/** Reads the body of a 2xx answer for an effect. */
export function readAnswer(effect: Effect, text: string): Said {
  const answer = readObject(text);
  if (answer === null) return { kind: 'nothing', why: 'without a JSON object' };
  const acceptance = effects[effect].readAcceptance(answer);
  if (acceptance === null) return { kind: 'nothing', why: 'that does not name what was credited' };
  return { kind: 'taken', ...acceptance };
}
