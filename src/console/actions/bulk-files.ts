import { z } from 'zod';
import { FILE_DECISIONS } from '../../core/bulk.ts';
import { previewFiles } from '../../decisions/settle-many.ts';
import { plural } from '../../render/text.ts';
import { defineAction, Refused } from '../console-page.ts';
import { idField, reason, text } from '../form-fields.ts';

const fileField = idField('file');

/** Freezes a selection of files and previews a decision about them. */
export const previewFilesAction = defineAction({
  path: '/bulk/preview-files',
  form: z
    .object({
      scope: z.enum(['selected', 'all'], { error: 'Choose the ticked files, or all that match.' }),
      decision: z.enum(FILE_DECISIONS, { error: 'Choose what to do with the files.' }),
      reason,
      file: z.union([fileField.transform((id) => [id]), z.array(fileField)]).default([]),
      filter_source: text.default(''),
      filter_state: text.default(''),
      filter_layout: text.default(''),
      filter_name: text.default(''),
    })
    .refine(({ scope, file }) => scope === 'all' || file.length > 0, { error: 'Tick at least one file.' }),
  async perform({ trx, actor, audit, leadTo }, form) {
    const { scope, file: fileIds, decision, reason: why } = form;
    const filter = {
      source: form.filter_source || null,
      // Only held files can be released.
      state: form.filter_state || (decision === 'release' ? 'held' : null),
      layout: form.filter_layout || null,
      name: form.filter_name || null,
    };
    const preview = await previewFiles(trx, {
      decision,
      files: scope === 'all' ? filter : { fileIds },
      chosen: scope === 'all' ? describeFiles(filter) : `${plural(fileIds.length, 'file')}, each ticked`,
      ...{ actor: actor.name, via: 'console', reason: why, audit },
    });
    if (preview === null) throw new Refused('No file matches any more.');
    leadTo(`/bulk/${preview.bulkId}`);
    return preview.auditId;
  },
});

function describeFiles(
  filter: Readonly<Record<'source' | 'state' | 'layout' | 'name', string | null>>,
): string {
  const { source, state, layout, name } = filter;
  const parts = [
    ...(source === null ? [] : [`of source ${source}`]),
    ...(layout === null ? [] : [`read with layout ${layout}`]),
    ...(name === null ? [] : [`whose address contains ${name}`]),
  ];
  const all = state === null ? 'All files' : `All files that are ${state}`;
  return [all, ...parts].join(', ');
}
