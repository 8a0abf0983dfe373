import type { Html } from '../../../core/text/html.ts';
import { html } from '../../../render/html/html.ts';
import type { AssignedCode, OwnedCode } from '../../../reports/codes/list-codes.ts';
import type { Visit } from '../../console-page.ts';
import { creatorAnchor, dealAnchor } from '../../markup/parts.ts';

/** Who a code belongs to, with links. */
export function ownerOf(visit: Visit) {
  return ({ influencerHandle, dealId, collabId, brandId }: OwnedCode | AssignedCode): Html =>
    html`${creatorAnchor(visit, influencerHandle)} ${dealId === null ? null : html`deal ${dealAnchor(visit, dealId)}`} ${collabId === null ? null : `collaboration ${collabId}`} ${brandId === null ? null : html`<small>brand ${brandId}</small>`}`;
}
