import type { Html } from '../../../core/text/html.ts';
import { html } from '../../../render/html/html.ts';
import type { Visit } from '../../console-page.ts';

const SECTIONS = [
  ['/money', 'Returns'],
  ['/money/customers', 'Customers won'],
  ['/money/leaks', 'Leaked codes'],
  ['/money/conflicts', 'Conflicts'],
  ['/money/reconciliation', 'Reconciliation'],
] as const;

/** Renders the links between the pages about money. */
export function moneySections(visit: Visit): Html {
  return html`<nav class="pager" aria-label="About money">${SECTIONS.map(([path, label]) =>
    visit.path === path
      ? html`<a href="${visit.link(path)}" aria-current="page">${label}</a>`
      : html`<a href="${visit.link(path)}">${label}</a>`,
  )}</nav>
`;
}
