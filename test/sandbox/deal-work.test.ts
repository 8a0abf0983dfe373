import { expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from './start-test-sandbox.ts';

const TASK = {
  deal_id: 'ETUNQ6ZTW1',
  tasktype: 'todo_task',
  task_title: 'Send the sample',
  task_description: 'Ask for the size first',
  deadline: '29-02-2028',
  assigned_to: null,
};

function post(sandbox: TestSandbox, name: string, body: Record<string, unknown>) {
  return sandbox.request('POST', `/v1/crm/${name}`, { body });
}

async function readDeal(sandbox: TestSandbox, id = 'ETUNQ6ZTW1') {
  const path = `/v1/crm/get_deal_details?deal_id=${id}&return_collabs=true`;
  const { body } = await sandbox.request('GET', path);
  return body.deal_info as Record<string, unknown> & { collabs: Record<string, unknown>[] };
}

test('the sandbox stores notes and tasks with their deal', async () => {
  const sandbox = await startTestSandbox();
  await post(sandbox, 'create_note', { deal_id: 'ETUNQ6ZTW1', note_description: 'Likes cats' });
  await post(sandbox, 'create_note', {
    deal_id: 'https://app.example.com/deal/ETUNQ6ZTW1',
    note_description: 'Second',
  });
  await post(sandbox, 'create_task', TASK);
  await post(sandbox, 'create_task', { ...TASK, tasktype: 'wait_task', assigned_to: 'USER1' });
  const { body } = await sandbox.request('GET', '/_sandbox/deals/ETUNQ6ZTW1', { key: null });
  expect(body).toMatchObject({
    notes: [{ note_description: 'Likes cats' }, { note_description: 'Second' }],
    tasks: [
      { tasktype: 'todo_task', deadline: '29-02-2028', assigned_to: null },
      { tasktype: 'wait_task', assigned_to: 'USER1' },
    ],
  });
  expect((await sandbox.request('GET', '/_sandbox/deals/NONE', { key: null })).status).toBe(404);
});

test.each<[string, Record<string, unknown>, number, RegExp]>([
  ['a day that does not exist', { deadline: '29-02-2027' }, 400, /deadline/],
  ['a month that does not exist', { deadline: '01-13-2027' }, 400, /deadline/],
  ['the year first', { deadline: '2027-01-31' }, 400, /deadline/],
  ['an unknown type', { tasktype: 'task' }, 400, /tasktype/],
  ['no assignee at all', { assigned_to: undefined }, 400, /assigned_to/],
  ['no title', { task_title: undefined }, 400, /task_title/],
  ['an empty description', { task_description: '' }, 400, /task_description/],
  ['an unknown deal', { deal_id: 'NONE' }, 404, /Deal not found/],
])('the sandbox rejects a task with %s', async (_case, change, status, message) => {
  const sandbox = await startTestSandbox();
  const answer = await post(sandbox, 'create_task', { ...TASK, ...change });
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
});

test('the sandbox moves a deal to a stage and to a dealflow of its brand', async () => {
  const sandbox = await startTestSandbox();
  const moved = await post(sandbox, 'update_dealstage', {
    deal_id: 'BO27RFL9XE',
    new_stage: 4,
    dashboard_id: 'D_K2WQ7N',
  });
  expect(moved.body).toEqual({ message: expect.any(String), ugc_tracking_activated: false });
  expect(await readDeal(sandbox, 'BO27RFL9XE')).toMatchObject({
    funnel_step: 4,
    collabs: [{ dealflow_id: 'D_FSSI4P' }, { dealflow_id: 'D_K2WQ7N' }],
  });
});

test.each<[Record<string, unknown>, number]>([
  [{ deal_id: 'ETUNQ6ZTW1' }, 400],
  [{ deal_id: 'ETUNQ6ZTW1', new_stage: 1.5 }, 400],
  [{ deal_id: 'ETUNQ6ZTW1', dashboard_id: 'D_NONE' }, 404],
  [{ deal_id: 'ETUNQ6ZTW1', dashboard_id: 'D_K2WQ7N', new_stage: 9 }, 400],
  [{ deal_id: 'NONE', new_stage: 1 }, 404],
])('the sandbox rejects the move %j and moves nothing', async (body, status) => {
  const sandbox = await startTestSandbox();
  expect((await post(sandbox, 'update_dealstage', body)).status).toBe(status);
  expect(await readDeal(sandbox)).toMatchObject({ funnel_step: null, dealflow_id: 'D_FSSI4P' });
});

test('the sandbox updates contact data, terms and status, but not the identity of a deal', async () => {
  const sandbox = await startTestSandbox();
  await post(sandbox, 'update_deal_info', {
    deal_id: 'ETUNQ6ZTW1',
    new_deal_info: {
      first_name: 'Mira',
      brand_id: 5207,
      id: 'OTHER',
      deal_id: 'OTHER',
      influencer_handle: 'someone.else',
      code: 'MIRA25',
      code_perc: 25,
      is_active: false,
    },
  });
  expect(await readDeal(sandbox)).toMatchObject({
    id: 'ETUNQ6ZTW1',
    influencer_handle: 'mira.glow.test',
    brand_id: 4819,
    first_name: 'Mira',
    is_active: false,
    collabs: [{ code: 'MIRA25', code_perc: 25 }],
  });
  expect(await readDeal(sandbox)).not.toHaveProperty('deal_id');
});

test('the sandbox changes only the active status with status_update_only', async () => {
  const sandbox = await startTestSandbox();
  const before = await readDeal(sandbox);
  await post(sandbox, 'update_deal_info', {
    deal_id: 'ETUNQ6ZTW1',
    status_update_only: true,
    new_deal_info: { is_active: false, first_name: 'X', code: 'X', funnel_step: 9 },
  });
  expect(await readDeal(sandbox)).toEqual({ ...before, is_active: false });
});

test.each<[Record<string, unknown>, number, RegExp]>([
  [{ new_deal_info: { is_active: 'yes' } }, 400, /is_active/],
  [{ new_deal_info: { code_perc: 101 } }, 400, /code_perc/],
  [{ new_deal_info: 'x' }, 400, /new_deal_info/],
  [{ deal_id: 'NONE' }, 404, /Deal not found/],
  [{ deal_id: 'BO27RFL9XE', new_deal_info: { code: 'X' } }, 400, /Several collaborations/],
])('the sandbox rejects the update %j', async (body, status, message) => {
  const sandbox = await startTestSandbox();
  const answer = await post(sandbox, 'update_deal_info', { deal_id: 'ETUNQ6ZTW1', ...body });
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
});

test('the sandbox switches post capture on and off for the selected collaboration', async () => {
  const sandbox = await startTestSandbox();
  const set = (body: Record<string, unknown>) => post(sandbox, 'update_post_capture', body);
  expect((await set({ deal_id: 'BO27RFL9XE', enabled: true })).status).toBe(400);
  expect((await set({ deal_id: 'BO27RFL9XE' })).status).toBe(400);
  await set({ deal_id: 'BO27RFL9XE', brand_id: 5207, enabled: true });
  expect((await readDeal(sandbox, 'BO27RFL9XE')).collabs).toMatchObject([
    { post_capture_enabled: false },
    { post_capture_enabled: true },
  ]);
  const moved = await post(sandbox, 'update_dealstage', { deal_id: 'BO27RFL9XE', new_stage: 1 });
  expect(moved.body.ugc_tracking_activated).toBe(true);
  await set({ deal_id: 'BO27RFL9XE', brand_id: 5207, enabled: false });
  expect((await readDeal(sandbox, 'BO27RFL9XE')).collabs[1]).toMatchObject({ post_capture_enabled: false });
});

test('the sandbox creates code and link in the shop only if create_affiliate_details is set', async () => {
  const sandbox = await startTestSandbox();
  const deal = { platform: 'instagram', brand_id: 4819, dealflow_id: 'D_FSSI4P', code: 'C', code_perc: 100 };
  for (const create_affiliate_details of [true, false]) {
    await post(sandbox, 'create_deal', {
      ...deal,
      influencer_handle: `one.${create_affiliate_details}`,
      custom_url: 'https://shop.example/c',
      custom_url_target: 'home',
      create_affiliate_details,
    });
  }
  expect((await sandbox.request('GET', '/_sandbox/store', { key: null })).body).toMatchObject([
    { kind: 'discount_code', value: 'C', detail: 100, created_in: 'store' },
    { kind: 'custom_link', value: 'https://shop.example/c', detail: 'home', created_in: 'store' },
    { kind: 'discount_code', created_in: 'deal_page' },
    { kind: 'custom_link', created_in: 'deal_page' },
  ]);
});
