import { readListing } from '../../../api/account.ts';
import { ApiError } from '../../../api/api-error.ts';
import { call } from '../../../api/call.ts';
import type { AttributeOrdersSettings } from '../../../model/config.ts';
import type { Finding } from '../../../model/finding.ts';
import { findOtherPosters } from '../../../report/find-other-posters.ts';
import type { Check, Patient } from '../check.ts';

const ORDER_EVENT = 'new_influencer_order';

const WHY =
  'The service cannot be asked for an order, and what two channels credit is credited twice: nobody but you can know whether its shop integration, or another tool, records orders of your codes too.';

/** Whether something else may credit the same orders: what events say, whether they are received at all, and what is declared. */
export const channels: Check = {
  name: 'channel',
  async look(patient) {
    const findings: Finding[] = [];
    for (const job of Object.values(patient.config.jobs))
      if (job.kind === 'attribute-orders') findings.push(await lookAtJob(patient, job));
    return findings;
  },
};

async function lookAtJob(patient: Patient, job: AttributeOrdersSettings): Promise<Finding> {
  const about = `channel of ${job.name}`;
  const { orders, latestOrderId } = await othersOf(patient, job);
  if (orders > 0) {
    return {
      status: 'problem',
      about,
      what: `Events name ${orders === 1 ? 'an order' : `${orders.toLocaleString('en')} orders`} of its exports that was not posted from here, the latest of them ${latestOrderId}.`,
      why: WHY,
      mend: 'Turn the other channel off for this brand, or do not run this job. What it has credited before:  npx influencer-sync ledger seed FILE',
    };
  }
  if (job.soleChannel)
    return {
      status: 'ok',
      about,
      what: 'Declared to be the only one (sole_channel), and no event contradicts.',
    };
  const heard = await hearsOrders(patient);
  return {
    status: 'warning',
    about,
    what: heard
      ? 'No event names an order that was not posted from here; but it is not declared that nothing else posts them.'
      : 'Events of orders are not received, so nobody would notice if something else posts the same orders.',
    why: WHY,
    mend: `Look in the service whether orders of this brand come in by another way. If not, declare it:  jobs.${job.name}.sole_channel: true${heard ? '' : '\nTo have it watched: npx influencer-sync webhooks register URL'}`,
  };
}

async function othersOf({ db, hasTables, config }: Patient, job: AttributeOrdersSettings) {
  if (db === null || !hasTables) return { orders: 0, latestOrderId: null };
  const platforms = job.sources.flatMap((name) => {
    const source = config.sources[name];
    return source === undefined ? [] : [{ source: name, platform: source.orderPlatform }];
  });
  return findOtherPosters(db, platforms);
}

/** Whether the service sends events of orders to somebody, and we have a secret to receive them with. */
async function hearsOrders({ client, config }: Patient): Promise<boolean> {
  if (client === null || config.webhooks.secrets.length === 0) return false;
  try {
    const { webhooks } = await call(client, 'get_webhooks');
    return readListing(webhooks).some(({ webhook_type: kind }) => kind === ORDER_EVENT);
  } catch (error) {
    // The check of the service says what is wrong with it.
    if (error instanceof ApiError) return false;
    throw error;
  }
}
