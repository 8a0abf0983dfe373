import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { countStates } from '../runs/workshop.ts';
import { waitFor } from '../support/wait-for.ts';
import { findChromium, openBrowser } from './browser.ts';
import { addDoubts } from './bulk-shop.ts';
import { startTestConsole } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

/** Presses Tab until the focused element matches. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let keys = 0; keys < 80; keys += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
  }
  throw new Error(`the tab key does not lead to ${selector}`);
}

/** Returns how many entries the page reports as done; an empty list if it reports none. */
async function dealtWith(page: Page): Promise<readonly string[]> {
  const texts = await page.getByText(/ are done\./).allTextContents();
  return texts.map((text) => text.split(' ')[0] ?? '');
}

// These tests need a browser; `.ci/run` installs one if it can.
describe.skipIf(findChromium() === null)('a doubt in a browser', () => {
  it('can be settled by keyboard alone', async () => {
    const { shop } = await openConsoleShop();
    const { url } = await startTestConsole(shop);
    const page = await (await openBrowser()).newPage();
    await page.goto(`${url}/doubts`);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Settle it' }).waitFor();
    await tabTo(page, 'input[name="decision"]');
    await page.keyboard.press('Space');
    await tabTo(page, 'input[name="reason"]');
    await page.keyboard.type('it is listed under the sales of ben.test');
    await tabTo(page, 'button.primary');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('is accepted now').waitFor();
    expect(await countStates(shop.db)).toEqual({ accepted: 2 });
  });

  it('can be settled without JavaScript', async () => {
    const { shop } = await openConsoleShop();
    const { url } = await startTestConsole(shop);
    const page = await (await openBrowser()).newPage({ javaScriptEnabled: false });
    await page.goto(`${url}/doubts`);
    await page.getByRole('link', { name: /^Settle / }).click();
    await page.getByRole('radio', { name: /^The service does not show it/ }).check();
    await page.getByLabel('Why').fill('not listed');
    await page.getByRole('button', { name: /^Settle entry/ }).click();
    await page.getByRole('alert').getByText('tick the box').waitFor();
    expect(await countStates(shop.db)).toEqual({ accepted: 1, in_doubt: 1 });
    await page.goBack();
    await page.getByRole('radio', { name: /^The service does not show it/ }).check();
    await page.getByRole('checkbox').check();
    await page.getByLabel('Why').fill('not listed');
    await page.getByRole('button', { name: /^Settle entry/ }).click();
    await page.getByRole('status').getByText('the next run sends it again').waitFor();
    expect(await countStates(shop.db)).toEqual({ accepted: 1, ready: 1 });
  });

  it('keeps what the operator entered in its form, and is refused if it was settled in the meantime', async () => {
    const { shop } = await openConsoleShop();
    const { url } = await startTestConsole(shop);
    const browser = await openBrowser();
    const [ann, ben] = await Promise.all([browser.newPage(), browser.newPage()]);
    for (const page of [ann, ben]) {
      await page.goto(`${url}/doubts`);
      await page.getByRole('link', { name: /^Settle / }).click();
      await page.getByRole('radio', { name: /^It cannot be determined/ }).check();
      await page.getByLabel('Why').fill('four euros');
      await page.getByRole('heading', { level: 1 }).click();
    }
    const changed = ben.evaluate(
      `new Promise((resolve) => new EventSource('/live').addEventListener('changed', resolve, { once: true })).then(() => 0)`,
    );
    await ann.getByRole('button', { name: /^Settle entry/ }).click();
    await ann.getByRole('status').getByText('is written off now').waitFor();
    await changed;
    expect(await ben.getByLabel('Why').inputValue()).toBe('four euros');
    await ben.getByRole('button', { name: /^Settle entry/ }).click();
    await ben.getByRole('alert').getByText('is written off now').waitFor();
    expect(await countStates(shop.db)).toEqual({ accepted: 1, written_off: 1 });
  });

  it('can be ticked with others, which are settled together without JavaScript', async () => {
    const { shop } = await openConsoleShop();
    await addDoubts(shop.db, 4);
    const { url } = await startTestConsole(shop);
    const page = await (await openBrowser()).newPage({ javaScriptEnabled: false });
    await page.goto(`${url}/doubts`);
    for (const box of (await page.getByRole('checkbox').all()).slice(0, 2)) await box.check();
    await page.getByRole('radio', { name: /^It cannot be determined/ }).check();
    await page.getByLabel('Why', { exact: true }).last().fill('too old');
    await page.getByRole('button', { name: 'Preview the ticked entries' }).click();
    await page.getByRole('button', { name: 'Write off 2 entries: 2.00 EUR' }).click();
    await page.getByRole('status').getByText('Write off 2 entries').waitFor();
    await waitFor(async () => (await countStates(shop.db)).written_off === 2);
    await waitFor(
      async () => (await page.reload()) !== null && (await page.getByText('finished').count()) > 0,
    );
    // Reloading the page that the form led to repeats nothing.
    expect(await countStates(shop.db)).toEqual({ accepted: 1, in_doubt: 3, written_off: 2 });
  });

  it('shows the progress of its bulk action until the end, without a reload of the page', async () => {
    const { shop } = await openConsoleShop();
    await addDoubts(shop.db, 1_000);
    const { url } = await startTestConsole(shop);
    const page = await (await openBrowser()).newPage();
    await page.goto(`${url}/doubts`);
    // What is chosen by keyboard stays in view, with its money.
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await page.getByText(/^2 chosen: [\d.]+ EUR$/).waitFor();
    await page.getByRole('button', { name: 'Choose all of this page' }).click();
    await page.getByText(/^50 chosen: [\d.]+ EUR$/).waitFor();
    await page.getByRole('radio', { name: /^It cannot be determined/ }).check();
    await page.getByLabel('Why', { exact: true }).last().fill('too old');
    await page.getByRole('button', { name: /^Preview the 1,001 entries/ }).click();
    await page.getByRole('button', { name: /^Write off 1,001 entries/ }).click();
    await page.getByRole('heading', { name: 'Progress' }).waitFor();
    await page.evaluate('window.isSamePage = true');
    const [atFirst] = await dealtWith(page);
    await waitFor(async () => (await dealtWith(page))[0] !== atFirst);
    await page.locator('.badge', { hasText: 'finished' }).waitFor({ timeout: 60_000 });
    expect(await page.evaluate('window.isSamePage')).toBe(true);
  });
});
