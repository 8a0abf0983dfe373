import { expect, it } from 'vitest';
import { openDrill } from '../monitoring/notify/drill.ts';
import { startTestConsole, textOf } from './console-server.ts';

it('notices are listed like by the command, with their open problem and their delivery in each channel', async () => {
  const { shop } = await openDrill();
  const { get } = await startTestConsole(shop, { basePath: '' });
  expect(textOf((await get('/notices')).text)).toContain('No notice was sent yet.');
  await shop.run();
  expect((await shop.cli('notify', 'history')).stdout).toContain('opened: job_failed orders');
  const page = textOf((await get('/notices')).text);
  expect(page).toContain('Notices are sent through ops.');
  expect(page).toMatch(/Open problems .*Run 1 of orders failed.* Notices/);
  expect(page).toMatch(/UTC opened error job failed orders Run 1 of orders failed.* ops sent/);
  expect(textOf((await get('/notices?problem=doubts')).text)).toContain(
    'Nothing matches this filter. Show all',
  );
});
