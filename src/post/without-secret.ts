import type { Outcome } from '../model/ledger.ts';

/** A shorter text would be found in ordinary words. */
const MIN_SECRET_CHARS = 4;

/** Takes a secret out of a text that somebody else wrote. */
export function withoutSecret(text: string, secret: string): string {
  return secret.length < MIN_SECRET_CHARS ? text : text.replaceAll(secret, '[key]');
}

/** The same for what came of an attempt: a service may quote the key that it was given, and outcomes are stored and shown. */
export function outcomeWithoutSecret(outcome: Outcome, secret: string): Outcome {
  switch (outcome.kind) {
    case 'rejected':
      return { ...outcome, message: withoutSecret(outcome.message, secret) };
    case 'in_doubt':
    case 'not_written':
      return { ...outcome, reason: withoutSecret(outcome.reason, secret) };
    default:
      return outcome;
  }
}
