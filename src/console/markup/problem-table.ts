import type { Html } from '../../core/text/html.ts';
import { titleOf } from '../../monitoring/notify/problems/index.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import type { OpenProblem } from '../../reports/notices/list-notices.ts';
import type { Visit } from '../console-page.ts';
import { amountList, anchor, instant, table } from './parts.ts';

/** A table of the open problems that notices report. */
export function problemTable(problems: readonly OpenProblem[], visit: Visit): Html {
  return table(
    problems,
    [
      column('Problem', ({ kind, page }) => anchor(`${visit.config.console.basePath}${page}`, titleOf(kind))),
      column('What', ({ summary }) => summary),
      number('Amount', ({ amounts }) => amountList(amounts)),
      column('Since', ({ since }) => instant(since, visit)),
      column('Next', ({ command }) => html`<code>${command}</code>`),
    ],
    { about: 'Open problems', none: 'No problem is open.' },
  );
}
