/**
 * Takes the screenshots in docs/console/: `npm run screenshots`. Runs the demo, opens the console on its
 * result, and visits each page with this machine's Chromium.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { findChromium } from './browser.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const CONFIG = 'config/demo/pipeline.yaml';
const VIEWPORT = { width: 1280, height: 900 };

/** The path of the page in each screenshot, by the screenshot's name. */
const PICTURES: Readonly<Record<string, string>> = {
  overview: '/',
  runs: '/runs',
  run: '/runs/2',
  orders: '/orders',
  order: '/orders/web-shop/5601000000101',
  doubts: '/doubts',
  rejected: '/rejected',
  files: '/files',
  checks: '/checks',
  codes: '/codes',
  customers: '/customers',
  deals: '/deals',
  deal: '/deals/ETUNQ6ZTW1',
  statement: '/statements/2026-05',
  money: '/money?by=creator',
  backfills: '/backfills',
  schedules: '/schedules',
  notices: '/notices',
  audit: '/audit',
};

const executablePath = findChromium();
if (executablePath === null) throw new Error('There is no Chromium on this machine; CHROMIUM may name one.');
if (spawnSync(process.execPath, ['src/start.js', 'demo'], { cwd: ROOT, stdio: 'inherit' }).status !== 0)
  throw new Error('The demo failed.');
const server = spawn(
  process.execPath,
  ['src/start.js', 'console', '--port', '0', '--json', '--config', CONFIG],
  {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const { promise: listening, resolve } = Promise.withResolvers<string>();
createInterface({ input: server.stdout }).on('line', (line) => {
  const event = JSON.parse(line) as { readonly event: string; readonly url?: string };
  if (event.event === 'listening' && event.url !== undefined) resolve(event.url);
});
const url = (await listening).replace(/\/$/, '');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  mkdirSync(`${ROOT}docs/console`, { recursive: true });
  const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
  for (const [name, path] of Object.entries(PICTURES)) {
    const response = await page.goto(`${url}${path}`);
    if (response?.status() !== 200) throw new Error(`${path} answered ${response?.status()}`);
    await page.screenshot({ path: `${ROOT}docs/console/${name}.png` });
  }
} finally {
  await browser.close();
  server.kill('SIGINT');
}
