import { type EffectKind, namesItsDeal } from './effect.ts';

/** Clicks that are added to the total of a deal. */
export const click: EffectKind = {
  effect: 'click',
  operation: 'new_influencer_click',
  referenceMember: null,
  readAcceptance: namesItsDeal,
};
