import axe from 'axe-core';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { doTasks } from '../../bench/console-tasks.ts';
import { pages } from '../../src/console/pages/index.ts';
import { toCsv } from '../runs/workshop.ts';
import { findFreePort } from '../support/free-port.ts';
import { waitFor } from '../support/wait-for.ts';
import { findChromium, openBrowser } from './browser.ts';
import { startTestConsole } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

const WIDTHS = [1280, 320];

/** Widths at which nothing may be cut: windows, a tablet, a phone, and 1280 px enlarged to 400 %. */
const OTHER_WIDTHS = [1440, 1024, 800, 390];

/** What a person cannot see whole: what sticks out of the window or of its table, buttons that touch, amounts that a line breaks, tabs of several lines, and text below 11 px. */
async function notWhole(page: Page): Promise<string[]> {
  const found = (await page.evaluate(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const tables = [...document.querySelectorAll('main .wide:not(:has(.timeline))')].filter((one) => one.scrollWidth > one.clientWidth + 1);
    const cut = [...tables, ...[...document.querySelectorAll('main table, main p, main pre, main dd, main .figure')].filter(
      (one) => one.getBoundingClientRect().right > clientWidth + 1,
    )].map((one) => 'does not fit into ' + clientWidth + ' px: ' + one.outerHTML.slice(0, 160));
    const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    const broken = [];
    while (texts.nextNode())
      for (const part of texts.currentNode.data.matchAll(/[0-9,]+[.][0-9]{2}(?![0-9])|(?<=[0-9][ \u00a0])[A-Z]{3}(?![A-Za-z0-9])/g)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, part.index);
        range.setEnd(texts.currentNode, part.index + part[0].length);
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push('a line breaks ' + part[0] + ' at ' + clientWidth + ' px');
      }
    const touching = [...document.querySelectorAll('main button + button')].filter((one) => {
      const [before, after] = [one.previousElementSibling, one].map((each) => each.getBoundingClientRect());
      return after.width > 0 && after.left < before.right + 4 && after.top < before.bottom + 4;
    }).map((one) => 'touches the button before it at ' + clientWidth + ' px: ' + one.outerHTML.slice(0, 160));
    const tabs = new Set([...document.querySelectorAll('.tabs a')].map((one) => one.getBoundingClientRect().top)).size > 1;
    const small = [...document.querySelectorAll('main td, main th, main small, main p, main a, main .badge, main dt, main dd')]
      .find((one) => one.checkVisibility() && Number.parseFloat(getComputedStyle(one).fontSize) < (one.closest('table:has(th:nth-child(9))') === null ? 11 : 10));
    return [...(tabs ? ['tabs take several lines at ' + clientWidth + ' px'] : []),
      ...(small === undefined ? [] : ['is below 11 px at ' + clientWidth + ' px: ' + small.outerHTML.slice(0, 160)]), ...touching, ...(scrollWidth > clientWidth ? [scrollWidth - clientWidth + ' px wider than a window of ' + clientWidth + ' px'] : []), ...cut, ...broken];
  })()`)) as string[];
  return found;
}

/** Rules whose result can depend on the theme, which changes only colours. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Returns what axe reports about the page in its current state. */
async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  const options = rules === undefined ? {} : { runOnly: { type: 'rule', values: rules } };
  const found = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return found.violations.map(({ id, nodes }) => `${id} at ${nodes[0]?.html.slice(0, 120)}`);
}

// These tests need a browser; `.ci/run` installs one if it can.
describe.skipIf(findChromium() === null)('the console in a browser', () => {
  it('has accessible pages in both themes, wide and narrow, without violations of its security policy', async () => {
    const { shop, paths } = await openConsoleShop({ hasBadFiles: true });
    // Amounts as of a year, and not of an order.
    await sql`
      update reporting.return_months
      set net_amount = 9876543.21, commission_amount = 987654.32, new_customers = 1234, orders = 56789`.execute(
      shop.db,
    );
    const { url } = await startTestConsole(shop);
    const page = await (await openBrowser()).newPage({ bypassCSP: false });
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(`${page.url()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
    for (const path of paths) {
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: 'light' });
        if (width === WIDTHS[0]) await page.goto(`${url}${path}`);
        problems.push(...(await notWhole(page)).map((problem) => `${path}: ${problem}`));
        // The code is evaluated by the browser, because the page's policy refuses an added script.
        if (width === WIDTHS[0]) await page.evaluate(axe.source);
        const found = { light: await violations(page), dark: [] as string[] };
        await page.emulateMedia({ colorScheme: 'dark' });
        found.dark = await violations(page, OF_COLOURS);
        for (const [theme, each] of Object.entries(found))
          problems.push(...each.map((problem) => `${path} ${theme} ${width}: ${problem}`));
      }
      for (const width of OTHER_WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        problems.push(...(await notWhole(page)).map((problem) => `${path}: ${problem}`));
      }
      // Under colours that the reader's system forces, shapes are seen, and the place is marked.
      await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
      const unseen = await page.evaluate(`(() => {
        const ground = getComputedStyle(document.body).backgroundColor;
        const shapes = [...document.querySelectorAll('main svg rect, main svg .slot')].filter((one) => getComputedStyle(one).fill === ground);
        const place = document.querySelector('.places a[aria-current]');
        const tabs = [...document.querySelectorAll('.tabs a:not([aria-current])')].filter((one) => getComputedStyle(one).borderBottomColor !== ground);
        return shapes.length + tabs.length + (place !== null && getComputedStyle(place).outlineStyle === 'none' ? 1 : 0);
      })()`);
      if (unseen !== 0) problems.push(`${path}: ${String(unseen)} things are not seen in forced colours`);
      await page.emulateMedia({ forcedColors: 'none' });
      // A sheet of A4 in portrait. What cannot be used on paper is not on it.
      await page.setViewportSize({ width: 718, height: 1000 });
      await page.emulateMedia({ media: 'print', colorScheme: 'light' });
      const accent = `getComputedStyle(document.documentElement).getPropertyValue('--accent')`;
      const onPaper = await page.evaluate(accent);
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      if ((await page.evaluate(accent)) !== onPaper)
        problems.push(`${path} prints the colours of the dark theme`);
      problems.push(...(await notWhole(page)).map((problem) => `${path} printed: ${problem}`));
      const forms = await page.locator('form:visible, nav:visible').count();
      if (forms > 0) problems.push(`${path} prints ${forms} forms`);
      await page.emulateMedia({ media: 'screen' });
    }
    expect(problems).toEqual([]);
    // All pages except the one that is a download.
    expect(paths.length).toBeGreaterThanOrEqual(pages.length - 1);
    // Each of more than fifty pages takes two to four seconds.
  });

  it('keeps what the keyboard reaches above the bar at the bottom of a phone', async () => {
    const { shop } = await openConsoleShop();
    const { url } = await startTestConsole(shop);
    const browser = await openBrowser();
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(`${url}/money/reconciliation`);
    // The tabs are one line that scrolls, and begins with the current one in view.
    const tab = await page.locator('.tabs [aria-current]').boundingBox();
    expect([tab, (tab?.x ?? 0) + (tab?.width ?? 0) <= 390]).toEqual([expect.anything(), true]);
    await page.locator('main').focus();
    const covered: string[] = [];
    for (let pressed = 0; pressed < 40; pressed += 1) {
      await page.keyboard.press('Tab');
      const hidden = await page.evaluate<string | null>(`(() => {
        const [at, bar] = [document.activeElement, document.querySelector('.places')];
        if (bar.contains(at) || at === document.body) return null;
        const [own, over] = [at.getBoundingClientRect(), bar.getBoundingClientRect()];
        return own.bottom > over.top + 1 ? at.textContent + ' ' + own.bottom : null;
      })()`);
      if (hidden !== null) covered.push(hidden);
    }
    expect(covered).toEqual([]);
  });

  it('updates a page without losing the focus, until updates are paused', async () => {
    const { shop } = await openConsoleShop();
    const { url } = await startTestConsole(shop);
    const browser = await openBrowser();
    const page = await browser.newPage();
    await page.goto(url);
    const link = page.locator('main a').first();
    await link.focus();
    const label = await link.textContent();
    // Meanwhile somebody has opened something, and somebody else reads why a form was refused.
    const [opened, refused] = [await browser.newPage(), await browser.newPage()];
    await opened.goto(`${url}/checks`);
    await opened.locator('main summary', { hasText: 'read for orders' }).click();
    await refused.goto(`${url}/codes/assign?job=orders&code=NOBODY`);
    await refused.getByLabel('Why', { exact: true }).fill('she told us');
    await refused.getByRole('button', { name: 'Assign' }).click();
    await refused.getByRole('alert').waitFor();
    // Also after they have emptied the form.
    await refused.getByLabel('Why', { exact: true }).fill('');
    await refused.getByRole('heading', { level: 1 }).click();
    const kept = [opened.locator('main details[open] table'), refused.getByRole('alert')];
    for (const one of [opened, refused])
      await one.evaluate(
        `new Promise((open) => {
          const live = new EventSource('/live');
          live.onopen = open;
          window.told = new Promise((told) => live.addEventListener('changed', told));
        }).then(() => true)`,
      );
    shop.drop(
      'june.csv',
      'order_id,order_revenue,currency,discount_codes,placed_at,status\nJ1,4.00,EUR,NOBODY,2026-04-10T11:11:26Z,paid\n',
    );
    await shop.run();
    await page
      .getByText('run 3')
      .or(page.locator('main a', { hasText: /^3$/ }))
      .first()
      .waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe(label);
    for (const one of [opened, refused])
      await one.evaluate('told.then(() => fetch(location.href)).then(() => true)');
    for (const one of kept) expect(await one.isVisible()).toBe(true);
    // The result of a form is told once, and a reload does not repeat it.
    await refused.getByLabel('Why', { exact: true }).fill('she told us');
    await refused.getByLabel('Deal', { exact: true }).fill('DEALMIA');
    await refused.getByRole('button', { name: 'Assign' }).click();
    const done = refused.getByRole('status').filter({ hasText: 'is assigned' });
    await done.waitFor();
    expect(refused.url()).not.toContain('done');
    await refused.reload();
    expect(await done.count()).toBe(0);
  });

  it('works by keyboard alone', async () => {
    const { shop } = await openConsoleShop();
    const { url } = await startTestConsole(shop);
    const browser = await openBrowser();
    const page = await browser.newPage();
    await page.goto(`${url}/orders`);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const second = await page.evaluate('document.activeElement.closest("tr").rowIndex');
    expect(second).toBe(2);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /^Order / }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('A1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Order A1' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    // A field that takes a creator suggests creators, and nothing else.
    await page.goto(`${url}/orders`);
    await page.getByLabel('Creator', { exact: true }).pressSequentially('MI');
    await page.locator('#found option').first().waitFor({ state: 'attached' });
    expect(
      await page.locator('#found option').evaluateAll((all) => all.map((one) => one.getAttribute('value'))),
    ).toEqual(['mia.test']);
    // Rows are chosen, counted in a bar that stays in view, and decided about; without JavaScript as well.
    await page.goto(`${url}/fix`);
    for (const key of ['j', 'x', 'j', 'j', 'x']) await page.keyboard.press(key);
    const bar = page.getByText(/^\d+ chosen: 20\.00 EUR/);
    await bar.waitFor();
    await page.evaluate('scrollTo(0, 0)');
    expect(
      await page.evaluate(
        "document.querySelector('[data-bar]').getBoundingClientRect().bottom <= innerHeight",
      ),
    ).toBe(true);
    await page.getByRole('button', { name: 'Decide about them' }).click();
    await page.getByRole('heading', { level: 1, name: 'Decide about the chosen' }).waitFor();
    const plain = await browser.newPage({ javaScriptEnabled: false });
    await plain.goto(`${url}/fix`);
    await plain.getByRole('checkbox').first().check();
    await plain.getByRole('button', { name: 'Decide about the ticked lines' }).click();
    await plain.getByRole('button', { name: 'Preview the 1 entry: 20.00 EUR' }).waitFor();
  });

  it('answers the questions of marketing and of on-call within four clicks and three pages', async () => {
    const done = await doTasks();
    expect(done.filter(({ problem }) => problem !== null)).toEqual([]);
    expect(done).toHaveLength(10);
    // It runs the exports of a year first.
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'keeps an open page up to date after serve was ended by %s and restarted',
    async (signal) => {
      const { shop } = await openConsoleShop({ schedule: '0 0 1 1 *' });
      const port = String(await findFreePort());
      const first = shop.start('serve', '--port', port, '--json');
      await waitFor(() => first.stdout().includes('"listening"'));
      const browser = await openBrowser();
      const page = await browser.newPage();
      const form = await browser.newPage();
      await form.goto(`http://127.0.0.1:${port}/codes/assign?job=orders&code=NOBODY`);
      const stream = page.waitForResponse((response) => response.url().endsWith('/live'));
      await page.goto(`http://127.0.0.1:${port}/runs`);
      await page.evaluate('window.isSamePage = true');
      const rows = await page.locator('main tr[data-row]').count();
      await stream;
      first.kill(signal);
      await first.ended;
      shop.drop('june.csv', toCsv([{ id: 'J1', revenue: '4.00', code: 'NOBODY' }]));
      await shop.run();
      // A form that is sent meanwhile keeps what was typed, and can be sent again.
      await form.getByRole('textbox', { name: 'Deal' }).fill('DEALMIA');
      await form.getByRole('textbox', { name: 'Why' }).fill('asked the agency');
      await form.getByRole('button', { name: 'Assign' }).click();
      await form.getByText('The server did not answer.').waitFor();
      expect(await form.getByRole('textbox', { name: 'Why' }).inputValue()).toBe('asked the agency');
      await form.getByText('Not connected: this page may be old.').waitFor();
      const second = shop.start('serve', '--port', port, '--json');
      await waitFor(() => second.stdout().includes('"listening"'));
      await waitFor(async () => (await page.locator('main tr[data-row]').count()) > rows);
      expect(await page.evaluate('window.isSamePage')).toBe(true);
      await form.getByRole('button', { name: 'Send it again' }).click();
      await form.getByRole('status').filter({ hasText: 'NOBODY' }).waitFor();
    },
  );
});
