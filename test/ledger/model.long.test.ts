import { describe, expect, it } from 'vitest';
import { type Bounds, explore, productionRules, type Rules } from './entry-model.ts';
import { applyEvent } from './states.ts';

const bounds: Bounds = { workers: 3, crashes: 3, approvals: 1, throttles: 1 };
const few: Bounds = { workers: 2, crashes: 1, approvals: 1, throttles: 1 };

/** Returns the production rules with one of them broken. */
function mutant(change: Partial<Rules>): Rules {
  return { ...productionRules, ...change };
}

const mutants: Record<string, Rules> = {
  'a 5xx or a lost answer is retried': mutant({
    apply: (entry, event) => {
      const next = applyEvent(entry, event);
      const lost = event.kind === 'answered' && event.answer === 'in_doubt' && next !== null;
      return lost ? { ...next, state: 'ready', doubtfulAttempt: null, notSent: entry.notSent + 1 } : next;
    },
  }),
  'an entry is ready again when its lease ends': mutant({
    apply: (entry, event) => {
      const next = applyEvent(entry, event);
      const over = event.kind === 'answered' && event.answer === 'lease_over' && next !== null;
      return over ? { ...next, state: 'ready', doubtfulAttempt: null, notSent: entry.notSent + 1 } : next;
    },
  }),
  'a result is not fenced by its attempt': mutant({
    apply: (entry, event) =>
      applyEvent(entry, event.kind === 'answered' ? { ...event, attempt: entry.attempt } : event),
  }),
  'a request is sent before its claim is committed': mutant({ claimBeforeWrite: false }),
  'a 4xx hides an earlier doubt': mutant({
    apply: (entry, event) => {
      const next = applyEvent(entry, event);
      const refused = event.kind === 'answered' && event.answer === 'rejected' && next !== null;
      return refused ? { ...next, state: 'rejected', doubtfulAttempt: null } : next;
    },
  }),
  'a re-send is not fenced by the state': mutant({
    apply: (entry, event) =>
      event.kind === 'decided'
        ? { ...entry, state: 'ready', resendsApproved: entry.resendsApproved + 1 }
        : applyEvent(entry, event),
  }),
  'an event about a doubt lets it be sent again': mutant({
    apply: (entry, event) =>
      event.kind === 'evidenced' && entry.state === 'in_doubt'
        ? { ...entry, state: 'ready', doubtfulAttempt: null, notSent: entry.notSent + 1 }
        : applyEvent(entry, event),
  }),
  'an event settles an entry whose request is still out': mutant({
    apply: (entry, event) =>
      event.kind === 'evidenced' && entry.state === 'sending'
        ? { ...entry, state: 'ready', notSent: entry.notSent + 1 }
        : applyEvent(entry, event),
  }),
  'a late answer revives a settled entry': mutant({
    apply: (entry, event) =>
      event.kind === 'answered' && event.attempt === entry.attempt && event.answer !== 'lease_over'
        ? applyEvent({ ...entry, state: 'sending' }, event)
        : applyEvent(entry, event),
  }),
};

describe('the model of one ledger entry', () => {
  it('keeps its guarantees in every state that three workers, three crashes and one approved re-send can reach', () => {
    const verdict = explore(productionRules, bounds);
    expect(verdict.violation).toBeNull();
    expect(verdict.states).toBeGreaterThan(10_000);
  });

  it('keeps them if one worker has the API key of another account', () => {
    expect(explore(productionRules, few, { wrongKey: true }).violation).toBeNull();
  });

  it('detects a claim that does not check the account of the key', () => {
    expect(explore(mutant({ checksAccount: false }), few, { wrongKey: true }).violation).toBe(
      'processed in another account',
    );
  });

  it.each(Object.entries(mutants))('detects the mutant in which %s', (_name, rules) => {
    expect(explore(rules, bounds).violation).not.toBeNull();
  });
});
