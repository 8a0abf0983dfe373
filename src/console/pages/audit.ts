import { column } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { type AuditEntry, listAudit } from '../../reports/list-audit.ts';
import { definePage, type Visit } from '../console-page.ts';
import { byId, byText, readFilter } from '../markup/filter.ts';
import { anchor, noted, pagedTable } from '../markup/parts.ts';
import { pageOf } from '../read-query.ts';

const PATH = '/audit';

/** All changes by people, in the console and with commands. */
export const auditPage = definePage(PATH, async (visit) => {
  const { filter, form } = readFilter(visit, {
    actor: byText('Who'),
    subject: byText('Subject'),
    bulk: byId('Part of bulk action'),
  });
  const { bulk: bulkId, ...of } = filter;
  const rows = await listAudit(visit.db, { ...of, bulkId, ...pageOf(visit) });
  return {
    title: 'Audit',
    content: html`<p>Every change that a person made, in the console or with a command. A bulk action is one line; its number leads to its entries.</p>
${form()}
${pagedTable({ rows, visit, about: 'Changes', none: 'No change was made yet.', key: 'auditId' }, [
  column('When', ({ occurredAt }) => visit.instant(occurredAt)),
  column('Who', ({ actor, via }) => noted(actor, via)),
  column('What', ({ summary }) => summary),
  column('Why', ({ reason }) => reason),
  column('Subject', (entry) => subjectOf(entry, visit)),
  column('Change', changeOf),
])}`,
  };
});

function subjectOf({ subjectKind, subject, bulkId }: AuditEntry, visit: Visit) {
  const text = `${subjectKind} ${subject ?? ''}`.trim();
  if (subject === null) return text;
  const href = subjectKind === 'bulk' ? visit.link(`/bulk/${subject}`) : visit.link(PATH, { subject });
  const whole =
    bulkId === null ? null : anchor(visit.link(`/bulk/${bulkId}`), `part of bulk action ${bulkId}`);
  return html`${anchor(href, text)} ${whole}`;
}

function changeOf({ before, after, filter }: AuditEntry) {
  const shown = [
    ['before', before],
    ['after', after],
    ['filter', filter],
  ].filter(([, value]) => value !== null);
  return shown.map(([name, value]) => html`<div><small>${String(name)}</small> ${describe(value)}</div>`);
}

/** What changed, by name: `as: pain.001, payments: 1, 2`. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return value.map(describe).join(', ') || 'none';
  if (value === null || typeof value !== 'object') return String(value ?? 'none');
  return Object.entries(value)
    .map(([name, of]) => `${name.replaceAll('_', ' ')}: ${describe(of)}`)
    .join('; ');
}
