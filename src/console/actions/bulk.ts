import { z } from 'zod';
import { type Bulk, DOUBT_DECISIONS, FILE_DECISIONS } from '../../core/bulk.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import {
  abortSettlement,
  type BulkChange,
  confirmSettlement,
  describeFilter,
  previewAcknowledgement,
  previewFiles,
  previewSettlement,
} from '../../decisions/settle-many.ts';
import { plural } from '../../render/text.ts';
import { findBulk } from '../../reports/bulk/read-bulk.ts';
import { type Change, type ConsoleAction, defineAction, Refused } from '../console-page.ts';
import { idField, text } from '../form-fields.ts';

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const scope = z.enum(['selected', 'all'], { error: 'Choose what is ticked, or all that match.' });
/** What was ticked on the page: one, several or none. */
const ticked = (what: string) => {
  const id = idField(what);
  return z.union([id.transform((one) => [one]), z.array(id)]).default([]);
};

const sayTicked = (ids: readonly string[], one: string, several: string) =>
  `${plural(ids.length, one, several)}, each ticked`;

/** Leads to a preview. @throws Refused if nothing matches any more. */
function lead({ leadTo }: Change, bulkId: string | null, gone: string): void {
  if (bulkId === null) throw new Refused(gone);
  leadTo(`/bulk/${bulkId}`);
}

const previewForm = z
  .object({
    scope,
    decision: z.enum(DOUBT_DECISIONS, { error: 'Choose what to do with the entries.' }),
    deal: text.default(''),
    collab: text.default(''),
    entry: ticked('entry'),
    filter_job: text.default(''),
    filter_reason: z.union([text, z.array(text)]).default(''),
    filter_deal: text.default(''),
    /** An instant, calculated from the age when the page was shown. */
    filter_since: z
      .union([z.literal(''), z.string().regex(INSTANT)], 'The form does not name a time.')
      .default(''),
  })
  .refine(({ scope, entry }) => scope === 'all' || entry.length > 0, { error: 'Tick at least one entry.' })
  .refine(({ decision, deal, collab }) => decision === 'accepted' || deal + collab === '', {
    error: 'Only credited entries can have a deal or a collaboration. Leave both empty.',
  });

/** @throws Refused if this person may not decide as the bulk action does. */
async function findPermitted({ trx, requireRight }: Change, bulkId: string): Promise<Bulk | null> {
  const bulk = await findBulk(trx, bulkId);
  if (bulk !== null) requireRight(`decide ${bulk.decision}`);
  return bulk;
}

function requireDone(bulkId: string, change: BulkChange): void {
  switch (change.kind) {
    case 'changed':
      return;
    case 'unknown':
      throw new Refused(`There is no bulk action ${bulkId}.`);
    case 'does_not_apply':
      throw new Refused(explainState(change.bulk));
  }
}

function explainState({ bulkId, state, entries, confirmedBy, abortedBy, expiresAt }: Bulk): string {
  switch (state) {
    case 'preview':
      return entries === 0
        ? `Bulk action ${bulkId} has nothing that can be settled.`
        : `Bulk action ${bulkId} is a preview: it is not running.`;
    case 'expired':
      return `The preview ${bulkId} expired at ${formatInstant(expiresAt)} UTC. Make a new preview to see the present state.`;
    case 'running':
      return `Bulk action ${bulkId} is already running: ${confirmedBy ?? 'somebody'} confirmed it.`;
    case 'finished':
      return `Bulk action ${bulkId} has already finished.`;
    case 'aborted':
      return `${abortedBy ?? 'Somebody'} has aborted bulk action ${bulkId}.`;
  }
}

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

export const bulkActions: readonly ConsoleAction[] = [
  /** Freezes a selection of entries and previews a decision about them. */
  defineAction({
    path: '/bulk/preview',
    form: previewForm,
    async perform(change, form) {
      const { scope, entry: entryIds, decision, deal, collab } = form;
      const filter = {
        job: form.filter_job || null,
        reason: form.filter_reason === '' ? null : form.filter_reason,
        dealId: form.filter_deal || null,
        sinceBefore: form.filter_since === '' ? null : new Date(form.filter_since),
      };
      const bulkId = await previewSettlement(change.trx, {
        decision,
        dealId: deal || null,
        collabId: collab || null,
        entries: scope === 'all' ? filter : { entryIds },
        chosen: scope === 'all' ? describeFilter(filter) : sayTicked(entryIds, 'entry', 'entries'),
        via: 'console',
        ...change.by,
      });
      lead(change, bulkId, 'No entry in doubt matches any more. Somebody has settled them.');
    },
  }),
  /** Freezes a selection of double credits and previews their acknowledgement. */
  defineAction({
    path: '/bulk/preview-credits',
    form: z
      .object({ scope, entry: ticked('entry'), filter_job: text.default('') })
      .refine(({ scope, entry }) => scope === 'all' || entry.length > 0, {
        error: 'Tick at least one entry.',
      }),
    async perform(change, { scope, entry: entryIds, filter_job: job }) {
      const bulkId = await previewAcknowledgement(change.trx, {
        entries: scope === 'all' ? { job: job || null } : { entryIds },
        chosen:
          scope === 'all'
            ? `All double credits${job === '' ? '' : ` of job ${job}`}`
            : sayTicked(entryIds, 'entry', 'entries'),
        via: 'console',
        ...change.by,
      });
      lead(change, bulkId, 'No order is credited more than once any more.');
    },
  }),
  /** Confirms a preview, so that it is carried out. */
  defineAction({
    path: '/bulk/confirm',
    form: z.object({
      bulk: idField('bulk action'),
      /** Ticked to confirm the consequences of sending again. */
      understood: z.literal('yes').optional(),
    }),
    async perform(change, { bulk: bulkId, understood }) {
      const bulk = await findPermitted(change, bulkId);
      if (bulk?.decision === 'resend' && understood !== 'yes')
        throw new Refused(
          'To send the entries again, tick the box to confirm that the service may carry them out twice.',
        );
      requireDone(bulkId, await confirmSettlement(change.trx, { bulkId, ...change.by }));
    },
  }),
  defineAction({
    path: '/bulk/abort',
    form: z.object({ bulk: idField('bulk action') }),
    async perform(change, { bulk: bulkId }) {
      await findPermitted(change, bulkId);
      requireDone(bulkId, await abortSettlement(change.trx, { bulkId, ...change.by }));
    },
  }),
  /** Freezes a selection of files and previews a decision about them. */
  defineAction({
    path: '/bulk/preview-files',
    form: z
      .object({
        scope,
        decision: z.enum(FILE_DECISIONS, { error: 'Choose what to do with the files.' }),
        file: ticked('file'),
        filter_source: text.default(''),
        filter_state: text.default(''),
        filter_layout: text.default(''),
        filter_name: text.default(''),
      })
      .refine(({ scope, file }) => scope === 'all' || file.length > 0, { error: 'Tick at least one file.' }),
    async perform(change, form) {
      const { scope, file: fileIds, decision } = form;
      const filter = {
        source: form.filter_source || null,
        // Only held files can be released.
        state: form.filter_state || (decision === 'release' ? 'held' : null),
        layout: form.filter_layout || null,
        name: form.filter_name || null,
      };
      const bulkId = await previewFiles(change.trx, {
        decision,
        files: scope === 'all' ? filter : { fileIds },
        chosen: scope === 'all' ? describeFiles(filter) : sayTicked(fileIds, 'file', 'files'),
        via: 'console',
        ...change.by,
      });
      lead(change, bulkId, 'No file matches any more.');
    },
  }),
];
