import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { onTestFinished } from 'vitest';

/**
 * Returns the path in CHROMIUM, otherwise the usual path on Debian and other systems; null if there is none.
 */
export function findChromium(): string | null {
  const places = [
    process.env.CHROMIUM ?? '',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ];
  return places.find((place) => place !== '' && existsSync(place)) ?? null;
}

/** Opens a real browser that is closed when the test has finished. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('there is no Chromium');
  const browser = await chromium.launch({
    executablePath,
    // Without a GPU, Chromium would paint by emulating one, which takes an eighth more of the CPU.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  onTestFinished(() => browser.close());
  return browser;
}
