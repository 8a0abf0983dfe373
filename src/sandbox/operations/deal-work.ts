import { type Account, type Deal, keepCollaboration, keepDeal } from '../account.ts';
import { findCollaboration, readDealId } from '../find-collaboration.ts';
import { type Answer, answer, type Handlers, refuse } from './operation.ts';

/** Operations on a deal page: notes, tasks, stages, capture of posts. */
export const dealWork: Handlers = {
  create_note: ({ account, body, clock }) =>
    withDeal(account, body.deal_id, (deal) => {
      deal.notes.push({
        note_description: body.note_description,
        created_at: new Date(clock.now()).toISOString(),
      });
      keepDeal(account, deal);
      return answer({ message: 'The note was created.' });
    }),

  create_task: ({ account, body, clock }) =>
    withDeal(account, body.deal_id, (deal) => {
      const { tasktype, task_title, task_description, deadline, assigned_to } = body;
      const created_at = new Date(clock.now()).toISOString();
      deal.tasks.push({ tasktype, task_title, task_description, deadline, assigned_to, created_at });
      keepDeal(account, deal);
      return answer({ message: 'The task was created.' });
    }),

  update_dealstage: ({ account, body }) =>
    withDeal(account, body.deal_id, (deal) => {
      const { new_stage: stage, dashboard_id: dealflowId } = body;
      if (dealflowId !== undefined) {
        const refusal = moveToDealflow(account, deal, dealflowId);
        if (refusal !== null) return refusal;
      }
      if (stage !== undefined) deal.funnelStep = stage;
      keepDeal(account, deal);
      const isCaptured = deal.collaborations.some(({ capturesPosts }) => capturesPosts);
      return answer({ message: 'The deal was moved.', ugc_tracking_activated: isCaptured });
    }),

  update_post_capture: ({ account, body, followUps }) => {
    const found = findCollaboration(account, body);
    if (found.kind === 'refused') return found.answer;
    const { collaboration } = found;
    const isSwitched = collaboration.capturesPosts !== body.enabled;
    collaboration.capturesPosts = body.enabled;
    keepCollaboration(account, collaboration);
    if (isSwitched) followUps.switchCapture(collaboration);
    return answer({
      message: `The capture of posts is ${body.enabled ? 'on' : 'off'}.`,
      deal_id: collaboration.deal.id,
      collab_id: collaboration.id,
      enabled: body.enabled,
    });
  },
};

/**
 * Moves the deal's collaborations with the dealflow's brand to that dealflow.
 * @returns the refusal, or null.
 */
function moveToDealflow(account: Account, deal: Deal, dealflowId: string): Answer | null {
  const dealflow = account.dealflows.get(dealflowId);
  if (dealflow === undefined) return refuse(404, 'Dealflow not found: there is no such dashboard_id.');
  const moved = deal.collaborations.filter(({ brandId }) => brandId === dealflow.brandId);
  if (moved.length === 0)
    return refuse(400, `dashboard_id: the deal has no collaboration with brand ${dealflow.brandId}.`);
  for (const collaboration of moved) {
    collaboration.dealflowId = dealflowId;
    keepCollaboration(account, collaboration);
  }
  return null;
}

function withDeal(account: Account, dealId: string, act: (deal: Deal) => Answer): Answer {
  const deal = account.deals.get(readDealId(dealId));
  return deal === undefined ? refuse(404, 'Deal not found: there is no such deal_id.') : act(deal);
}
