import type { Effect } from '../model/ledger.ts';
import { click } from './click.ts';
import { deal, note, task } from './deal.ts';
import type { EffectKind } from './effect.ts';
import { outreach } from './outreach.ts';
import { referral } from './referral.ts';

/** Every effect that goes through the ledger. A new one is a file beside this one, a line here, and its name in the CHECK of `ledger.entries`. */
export const effects: Readonly<Record<Effect, EffectKind>> = {
  referral,
  click,
  create_deal: deal,
  note,
  task,
  outreach,
};
