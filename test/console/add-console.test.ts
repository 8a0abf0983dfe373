import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import { addConsole } from '../../src/console/add-console.ts';
import { listen, openServer } from '../../src/monitoring/observe/start-observer.ts';
import { openConsoleShop } from './console-shop.ts';

/** Starts the console, with a function that is called when its pages have been loaded. */
async function startConsole(
  onLoaded: () => void,
): Promise<{ readonly url: string; readonly errors: unknown[] }> {
  const { shop } = await openConsoleShop();
  const errors: unknown[] = [];
  const server = openServer();
  addConsole(server, {
    readDb: shop.db,
    db: shop.db,
    config: loadConfig(join(shop.folder, 'pipeline.yaml'), { ...process.env, ...shop.env }),
    host: '127.0.0.1',
    localActor: 'tester',
    onError: (error) => void errors.push(error),
    onLoaded,
  });
  const { url, close } = await listen(server, { host: '127.0.0.1', port: 0, command: 'console' });
  onTestFinished(close);
  return { url, errors };
}

describe('the pages of the console', () => {
  it('are loaded once, by the first of many requests', async () => {
    let loaded = 0;
    const { url } = await startConsole(() => {
      loaded += 1;
    });
    expect(loaded).toBe(0);
    const paths = ['/', '/runs', '/assets/console.css', '/orders', '/no/such/page'];
    const answers = await Promise.all(paths.map((path) => fetch(`${url}${path}`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404]);
    const posted = await fetch(`${url}/no/such/action`, {
      method: 'POST',
      body: new URLSearchParams({ a: 'b' }),
    });
    expect(posted.status).toBe(404);
    expect(await posted.text()).toMatch(/There is no such page/);
    expect(loaded).toBe(1);
  });

  it('are loaded again by the next request if that failed, and the failure is reported', async () => {
    let attempts = 0;
    const { url, errors } = await startConsole(() => {
      attempts += 1;
      if (attempts === 1) throw new Error('a file cannot be read');
    });
    const failed = await fetch(url);
    expect(failed.status).toBe(500);
    expect(await failed.text()).toBe('The console cannot be loaded. The log of the process says why.\n');
    expect(errors).toEqual([new Error('a file cannot be read')]);
    expect((await fetch(url)).status).toBe(200);
  });
});
