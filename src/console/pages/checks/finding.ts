import { fileName } from '../../../core/text/file-name.ts';
import type { Html } from '../../../core/text/html.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount } from '../../../render/text.ts';
import { type KnownFinding, listFindingsBeside } from '../../../reports/checks/read-checks.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { actionForm, notOffered } from '../../markup/action-form.ts';
import { anchor, badge, factList, instant, missing } from '../../markup/parts.ts';

/** One finding of a check, and the form to acknowledge it. */
export const findingPage: ConsolePage = {
  path: '/checks/:finding',
  place: 'Fix',
  tab: null,
  async show(visit) {
    const { finding: id = '' } = visit.params;
    const ofFile = /^\d{1,18}$/.test(id) ? await listFindingsBeside(visit.db, id) : [];
    const finding = ofFile.find(({ findingId }) => findingId === BigInt(id).toString());
    if (finding === undefined)
      return missing(`Finding ${id}`, 'There is no finding with this number, or its file was read again.');
    const { source, readFor, uri, check, subject, verdict, seen, expected, message, lines } = finding;
    const { acknowledgedAt, acknowledgedBy, acknowledgeReason, sourceFileId, runId, foundAt } = finding;
    return {
      title: `Finding ${finding.findingId}: ${check}`,
      content: html`<p>${badge(acknowledgedAt === null ? verdict : 'acknowledged')} ${message} ${anchor(visit.link('/checks'), 'All checks')}</p>
${factList([
  ['Seen', seen],
  ['Expected', expected],
  ['About', subject],
  ['Lines that show it', lines.map(formatCount).join('; ')],
  ['File', anchor(visit.link(`/files/${sourceFileId}`), fileName(uri))],
  ['Source', `${source}, read for ${readFor}`],
  ['Run', anchor(visit.link(`/runs/${runId}`), runId)],
  ['Found', instant(foundAt, visit)],
  [
    'Acknowledged',
    acknowledgedAt === null ? null : html`${instant(acknowledgedAt, visit)} by ${acknowledgedBy}`,
  ],
  ['Why', acknowledgeReason],
])}
${acknowledgedAt === null ? acknowledgeForm(finding, { ofFile, visit }) : null}`,
    };
  },
};

function acknowledgeForm(
  finding: KnownFinding,
  { ofFile, visit }: { readonly ofFile: readonly KnownFinding[]; readonly visit: Visit },
): Html | null {
  if (!visit.may('POST /checks/acknowledge'))
    return html`<p>${notOffered(visit, 'POST /checks/acknowledge')}</p>`;
  const others = ofFile.filter(
    ({ findingId, acknowledgedAt }) => acknowledgedAt === null && findingId !== finding.findingId,
  );
  const isHeld = ofFile.some(({ verdict, acknowledgedAt }) => verdict === 'held' && acknowledgedAt === null);
  return html`<h2>The file is right</h2>
<p>${isHeld ? 'The file is held. Once every finding that holds it is acknowledged, the next run reads it.' : 'The file is not held. Acknowledge the finding so that it is not reported again.'} If the file is wrong, put a corrected one under its name.</p>
${actionForm(visit, '/checks/acknowledge', {
  hidden: { finding: finding.findingId },
  fields: others.map(
    ({ findingId, check, message }) =>
      html`<p><label><input type="checkbox" name="finding" value="${findingId}"> Also ${findingId}, ${check}: ${message}</label></p>
`,
  ),
  reasonLabel: 'Why the file is correct',
  button: 'Acknowledge',
})}`;
}
