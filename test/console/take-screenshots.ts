/**
 * Takes the screenshots in docs/console/, and docs/demo.svg: `npm run screenshots`. Runs the demo, opens the console on its
 * result, and visits each page with this machine's Chromium. The demo's embedded database has no workers, so
 * their page shows another shop: `npm run screenshots -- workers` takes only that picture.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { chromium, type Page } from 'playwright-core';
import { drawDemo } from '../documents/draw-demo.ts';
import { findChromium } from './browser.ts';
import { startSpreadShop } from './start-spread-shop.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const CONFIG = 'influencer-sync-demo/pipeline.yaml';
const VIEWPORT = { width: 1280, height: 900 };

/** The path of the page in each screenshot, by the screenshot's name. Each is shown by the README or a page of docs. */
const PICTURES: Readonly<Record<string, string>> = {
  home: '/',
  order: '/orders/web-shop/5601000213914',
  creator: '/creators/mira.glow.test',
  money: '/money',
  fix: '/fix',
  run: '/runs/2',
};

const executablePath = findChromium();
if (executablePath === null) throw new Error('There is no Chromium on this machine; CHROMIUM may name one.');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  mkdirSync(`${ROOT}docs/console`, { recursive: true });
  const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
  if (process.argv[2] !== 'workers') await takeDemo(page);
  const shop = await startSpreadShop();
  await take(page, 'workers', `${shop.url}/workers`).finally(shop.stop);
} finally {
  await browser.close();
}

async function take(page: Page, name: string, url: string): Promise<void> {
  const response = await page.goto(url);
  if (response?.status() !== 200) throw new Error(`${url} answered ${response?.status()}`);
  await page.screenshot({ path: `${ROOT}docs/console/${name}.png` });
}

/** Runs the demo and takes the pictures of its pages. */
async function takeDemo(page: Page): Promise<void> {
  const demo = spawnSync(process.execPath, ['src/start.js', 'demo'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (demo.status !== 0) throw new Error('The demo failed.');
  writeFileSync(`${ROOT}docs/demo.svg`, drawDemo(demo.stdout));
  const server = spawn(
    process.execPath,
    ['src/start.js', 'console', '--port', '0', '--json', '--config', CONFIG],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const { promise: listening, resolve } = Promise.withResolvers<string>();
  createInterface({ input: server.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as { readonly event: string; readonly url?: string };
    if (event.event === 'listening' && event.url !== undefined) resolve(event.url);
  });
  const url = (await listening).replace(/\/$/, '');
  try {
    for (const [name, path] of Object.entries(PICTURES)) await take(page, name, `${url}${path}`);
  } finally {
    server.kill('SIGINT');
  }
}
