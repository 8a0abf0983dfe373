import { z } from 'zod';
import { brandId, identification, messageResponse, mustNameDeal, namesDeal, text } from './fields.ts';
import { defineOperation } from './operation.ts';

/**
 * A date as DD-MM-YYYY that exists: 29-02 only in leap years. It is a pattern so that the OpenAPI document
 * contains the rule too.
 */
const DAY =
  /^((0[1-9]|1[0-9]|2[0-8])-(0[1-9]|1[0-2])-[0-9]{4}|(29|30)-(0[13-9]|1[0-2])-[0-9]{4}|31-(0[13578]|1[02])-[0-9]{4}|29-02-([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00))$/;

/**
 * Section "Deal". The specification does not show the further fields of a deal record, so they are kept as
 * received.
 */
const dealRecord = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  influencer_handle: z.string().nullish(),
  brand_id: z.union([z.int(), z.string()]).nullish(),
  is_active: z.boolean().nullish(),
});

export const influencerPageOperations = {
  get_deal_details: defineOperation({
    group: 'influencer page',
    method: 'GET',
    path: '/v1/crm/get_deal_details',
    query: z
      .looseObject({
        influencer_handle: z.string().optional(),
        deal_id: z.string().optional().describe('Deal id or the address of a deal page.'),
        return_collabs: z
          .union([z.boolean(), z.enum(['true', 'false'])])
          .optional()
          .describe('Not in the specification: true adds the collaborations.'),
      })
      .refine(({ deal_id, influencer_handle }) => namesDeal({ deal_id, influencer_handle }), {
        path: ['deal_id'],
        message: 'at least one of influencer_handle and deal_id is required',
        params: { atLeastOneOf: ['influencer_handle', 'deal_id'] },
      }),
    response: z.looseObject({ deal_info: dealRecord.optional() }),
    repeatable: true,
    description:
      'Reads one deal by its id, its address or its influencer. Endpoints, Influencer page (CRM); Resources.',
  }),
  create_note: defineOperation({
    group: 'influencer page',
    method: 'POST',
    path: '/v1/crm/create_note',
    body: z.looseObject({ deal_id: text, note_description: text }),
    response: messageResponse,
    repeatable: false,
    description: 'Adds a note to a deal. Endpoints, Influencer page (CRM).',
  }),
  create_task: defineOperation({
    group: 'influencer page',
    method: 'POST',
    path: '/v1/crm/create_task',
    body: z.looseObject({
      deal_id: text,
      tasktype: z
        .enum(['todo_task', 'wait_task'])
        .describe('todo_task: standard; wait_task: waiting for a follow-up.'),
      task_title: text,
      task_description: text,
      deadline: z
        .string()
        .regex(DAY, 'must be a day of the calendar, as DD-MM-YYYY')
        .meta({ title: 'day as DD-MM-YYYY' }),
      assigned_to: text.nullable().describe('User id; null: no person.'),
    }),
    response: messageResponse,
    repeatable: false,
    description: 'Adds a task to a deal. Endpoints, Influencer page (CRM); Limits.',
  }),
  update_dealstage: defineOperation({
    group: 'influencer page',
    method: 'POST',
    path: '/v1/crm/update_dealstage',
    body: z
      .looseObject({
        deal_id: text,
        new_stage: z
          .int()
          .optional()
          .describe('Which fields are required: not shown. Stage numbering: not shown.'),
        dashboard_id: z.string().optional().describe('A dealflow id.'),
      })
      .refine((body) => body.new_stage !== undefined || body.dashboard_id !== undefined, {
        path: ['new_stage'],
        message: 'at least one of new_stage and dashboard_id is required',
        params: { atLeastOneOf: ['new_stage', 'dashboard_id'] },
      }),
    response: messageResponse.extend({ ugc_tracking_activated: z.boolean() }),
    repeatable: true,
    description:
      'Moves a deal to another stage or dealflow. Endpoints, Influencer page (CRM); States and transitions.',
  }),
  update_deal_info: defineOperation({
    group: 'influencer page',
    method: 'POST',
    path: '/v1/crm/update_deal_info',
    body: z.looseObject({
      deal_id: text.describe('Not in the specification, which shows only the member status_update_only.'),
      new_deal_info: z.looseObject({}).optional().describe('Not in the specification.'),
      status_update_only: z.boolean().optional().describe('True: only the active status changes.'),
      brand_id: brandId
        .optional()
        .describe('Brand of the collaboration to change, if the deal has several. Not in the specification.'),
      collab_id: z.string().optional().describe('Collaboration to change. Not in the specification.'),
    }),
    response: z.looseObject({}).describe('Not shown.'),
    repeatable: true,
    description:
      'Changes contact and profile information of a deal, or only its active status. Endpoints, Influencer page (CRM); States and transitions.',
  }),
  update_post_capture: defineOperation({
    group: 'influencer page',
    method: 'POST',
    path: '/v1/crm/update_post_capture',
    body: z
      .looseObject({
        ...identification,
        enabled: z.boolean().describe('True: posts are captured. Not in the specification.'),
      })
      .refine(namesDeal, mustNameDeal)
      .describe('Not shown; these members are an assumption of this project.'),
    response: z.looseObject({}).describe('Not shown.'),
    repeatable: true,
    description:
      'Turns the capture of posts on or off for a collaboration. Endpoints, Influencer page (CRM); States and transitions.',
  }),
};
