import { z } from 'zod';
import { type Bulk, DOUBT_DECISIONS } from '../../core/bulk.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import {
  abortSettlement,
  type BulkChange,
  confirmSettlement,
  describeFilter,
  previewAcknowledgement,
  previewSettlement,
} from '../../decisions/settle-many.ts';
import { plural } from '../../render/text.ts';
import { findBulk } from '../../reports/bulk/read-bulk.ts';
import { defineAction, Refused } from '../console-page.ts';
import { idField, reason, text } from '../form-fields.ts';

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const entryField = idField('entry');

const previewForm = z
  .object({
    scope: z.enum(['selected', 'all'], { error: 'Choose the ticked entries, or all that match.' }),
    decision: z.enum(DOUBT_DECISIONS, { error: 'Choose what to do with the entries.' }),
    reason,
    deal: text.default(''),
    collab: text.default(''),
    /** Entries ticked on the page: one, several or none. */
    entry: z.union([entryField.transform((id) => [id]), z.array(entryField)]).default([]),
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

/** Freezes a selection of entries and previews a decision about them. */
export const previewBulkAction = defineAction({
  path: '/bulk/preview',
  form: previewForm,
  async perform({ trx, actor, audit, leadTo }, form) {
    const { scope, entry: entryIds, decision, reason: why, deal, collab } = form;
    const filter = {
      job: form.filter_job || null,
      reason: form.filter_reason === '' ? null : form.filter_reason,
      dealId: form.filter_deal || null,
      sinceBefore: form.filter_since === '' ? null : new Date(form.filter_since),
    };
    const preview = await previewSettlement(trx, {
      decision,
      dealId: deal || null,
      collabId: collab || null,
      entries: scope === 'all' ? filter : { entryIds },
      chosen:
        scope === 'all'
          ? describeFilter(filter)
          : `${plural(entryIds.length, 'entry', 'entries')}, each ticked`,
      actor: actor.name,
      via: 'console',
      reason: why,
      audit,
    });
    if (preview === null) throw new Refused('No entry in doubt matches any more. Somebody has settled them.');
    leadTo(`/bulk/${preview.bulkId}`);
    return preview.auditId;
  },
});

/** Freezes a selection of double credits and previews their acknowledgement. */
export const previewCreditsAction = defineAction({
  path: '/bulk/preview-credits',
  form: z
    .object({
      scope: z.enum(['selected', 'all'], { error: 'Choose the ticked entries, or all that match.' }),
      reason,
      entry: z.union([entryField.transform((id) => [id]), z.array(entryField)]).default([]),
      filter_job: text.default(''),
    })
    .refine(({ scope, entry }) => scope === 'all' || entry.length > 0, { error: 'Tick at least one entry.' }),
  async perform({ trx, actor, audit, leadTo }, { scope, reason: why, entry: entryIds, filter_job: job }) {
    const preview = await previewAcknowledgement(trx, {
      entries: scope === 'all' ? { job: job || null } : { entryIds },
      chosen:
        scope === 'all'
          ? `All double credits${job === '' ? '' : ` of job ${job}`}`
          : `${plural(entryIds.length, 'entry', 'entries')}, each ticked`,
      ...{ actor: actor.name, via: 'console', reason: why, audit },
    });
    if (preview === null) throw new Refused('No order is credited more than once any more.');
    leadTo(`/bulk/${preview.bulkId}`);
    return preview.auditId;
  },
});

/** Confirms a preview, so that it is carried out. */
export const confirmBulkAction = defineAction({
  path: '/bulk/confirm',
  form: z.object({
    bulk: idField('bulk action'),
    reason,
    /** Ticked to confirm the consequences of sending again. */
    understood: z.literal('yes').optional(),
  }),
  async perform({ trx, actor, audit, requireRight }, { bulk: bulkId, reason: why, understood }) {
    const bulk = await findBulk(trx, bulkId);
    if (bulk !== null) requireRight(`decide ${bulk.decision}`);
    if (bulk?.decision === 'resend' && understood !== 'yes')
      throw new Refused(
        'To send the entries again, tick the box to confirm that influencers may be credited twice.',
      );
    return done(bulkId, await confirmSettlement(trx, { bulkId, actor: actor.name, reason: why, audit }));
  },
});

/** Aborts a running bulk action. */
export const abortBulkAction = defineAction({
  path: '/bulk/abort',
  form: z.object({ bulk: idField('bulk action'), reason }),
  async perform({ trx, actor, audit, requireRight }, { bulk: bulkId, reason: why }) {
    const bulk = await findBulk(trx, bulkId);
    if (bulk !== null) requireRight(`decide ${bulk.decision}`);
    return done(bulkId, await abortSettlement(trx, { bulkId, actor: actor.name, reason: why, audit }));
  },
});

function done(bulkId: string, change: BulkChange): string {
  switch (change.kind) {
    case 'changed':
      return change.auditId;
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
