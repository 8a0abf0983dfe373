import type { Html } from '../../../core/text/html.ts';
import { html } from '../../../render/html/html.ts';
import { plural } from '../../../render/text.ts';
import type { FileFilter } from '../../../reports/files/list-files.ts';
import type { Visit } from '../../console-page.ts';

/** Id of the form below the list; the checkboxes in the rows belong to it. */
const FORM = 'decide-many';

/** A checkbox that selects a file for the form below the list. */
export function fileBox(sourceFileId: string, name: string): Html {
  return html`<input type="checkbox" name="file" value="${sourceFileId}" form="${FORM}" aria-label="Choose ${name}">`;
}

/**
 * A form that previews one decision about the ticked files, or about all that match the filter. The filter is
 * submitted as shown.
 */
export function decideManyForm(
  visit: Visit,
  {
    filter,
    counts,
  }: {
    readonly filter: FileFilter;
    readonly counts: readonly { readonly state: string; readonly files: number }[];
  },
): Html | null {
  const found = counts.reduce(
    (sum, { state, files }) => (filter.state == null || state === filter.state ? sum + files : sum),
    0,
  );
  if (!visit.mayChange || found === 0) return null;
  const hidden: Readonly<Record<string, string>> = {
    filter_source: filter.source ?? '',
    filter_state: filter.state ?? '',
    filter_layout: filter.layout ?? '',
    filter_name: filter.name ?? '',
  };
  return html`<form class="settle" id="${FORM}" method="post" action="${visit.link('/bulk/preview-files')}" aria-label="Decide about many files">
<h2>Decide about many</h2>
<p>You see a preview first: which files, and which of them are left out. Nothing changes before you confirm it.</p>
${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<fieldset><legend>What should happen?</legend>
<p><label><input type="radio" name="decision" value="release" required> Release held files: nobody needs their rows. A run still reads a new version under a name.</label></p>
<p><label><input type="radio" name="decision" value="reread" required> Read them again with the next run, if they still exist in the same version. Posted orders stay posted.</label></p>
</fieldset>
<p><label for="many-reason">Why</label><br><textarea id="many-reason" name="reason" rows="2" cols="60" maxlength="500" required></textarea><br><small>Kept with each file, with your name.</small></p>
<p><button type="submit" name="scope" value="selected">Preview the ticked files</button>
<button type="submit" name="scope" value="all">Preview all ${plural(found, 'file')} that match</button></p>
</form>
`;
}
