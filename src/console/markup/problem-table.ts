import type { Html } from '../../core/text/html.ts';
import { titleOf } from '../../monitoring/notify/problems/index.ts';
import { html } from '../../render/html/html.ts';
import type { OpenProblem } from '../../reports/notices/list-notices.ts';
import type { Visit } from '../console-page.ts';
import { amountList, anchor, instant, table } from './parts.ts';

/** A table of the open problems that notices report. */
export function problemTable(problems: readonly OpenProblem[], visit: Visit): Html {
  return table(
    [
      {
        title: 'Problem',
        cell: ({ kind, page }) => anchor(`${visit.config.console.basePath}${page}`, titleOf(kind)),
      },
      { title: 'What', cell: ({ summary }) => summary },
      { title: 'Amount', align: 'right', cell: ({ amounts }) => amountList(amounts) },
      { title: 'Since', cell: ({ since }) => instant(since, visit) },
      { title: 'Next', cell: ({ command }) => html`<code>${command}</code>` },
    ],
    problems,
    { about: 'Open problems', none: 'No problem is open.' },
  );
}
