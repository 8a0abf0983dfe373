import type { Effect } from '../../core/ledger.ts';
import { click } from './click.ts';
import { deal } from './deal.ts';
import type { EffectKind } from './effect.ts';
import { note, task } from './note.ts';
import { outreach } from './outreach.ts';
import { referral } from './referral.ts';

/**
 * Every effect that is recorded in the ledger. A new one needs a file in this folder, a line here, and its
 * name in the CHECK constraint of `ledger.entries`.
 */
export const effects: Readonly<Record<Effect, EffectKind>> = {
  referral,
  click,
  create_deal: deal,
  note,
  task,
  outreach,
};

/** What sending entries with these effects again causes, if the service has processed them: a clause. */
export function describeRepetition(repeated: readonly Effect[]): string {
  return `${repeated.map((effect) => effects[effect].ifRepeated).join(', or ')}, which cannot be undone`;
}
