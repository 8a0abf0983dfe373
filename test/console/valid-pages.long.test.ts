import { HtmlValidate } from 'html-validate';
import { expect, it } from 'vitest';
import { startTestConsole, textOf } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:a11y'],
  rules: { 'long-title': 'off' },
});

/** What a page says of its empty lists. */
const nones = (page: string) =>
  [...page.matchAll(/<p class="none">(.*?)<\/p>/gs)].map(([, said = '']) => textOf(said));

it('every page is valid HTML, says so if its filter leaves nothing, and escapes hostile text', async () => {
  const { shop, paths } = await openConsoleShop({ hasBadFiles: true });
  const { get } = await startTestConsole(shop);
  let tried = 0;
  for (const path of paths) {
    const { status, text } = await get(path);
    expect([path, status]).toEqual([path, 200]);
    const { results } = await validator.validateString(text);
    expect(results.flatMap(({ messages }) => messages.map(({ message }) => `${path}: ${message}`))).toEqual(
      [],
    );
    expect(text).not.toMatch(/<script>alert|<b>A5|onerror='x'>/);
    // The tab is marked, also on the pages below it.
    const [tabs = 'aria-current'] = /<nav class="tabs".*?<\/nav>/s.exec(text) ?? [];
    expect([path, tabs.split('aria-current').length - 1]).toEqual([path, 1]);
    // No form that asks by the address loses what another control of the page has chosen.
    const { text: chosen } = await get(`${path}${path.includes('?') ? '&' : '?'}zone=Asia/Tokyo&probe=1`);
    for (const [form] of chosen.matchAll(/<form[^>]*method="get".*?<\/form>/gs)) {
      if (!form.includes('aria-label="Zone')) expect(form, path).toContain('name="zone" value="Asia/Tokyo"');
      if (!form.includes('action="/search')) expect(form, path).toContain('name="probe" value="1"');
    }
    const known = nones(text);
    const [filter = ''] = /<form class="filter"[^>]*aria-label="Filter.*?<\/form>/s.exec(text) ?? [];
    const fields = [...filter.matchAll(/(?:type="text"|select) name="(?!from|to|run|bulk)(\w+)"/g)].map(
      ([, name]) => name,
    );
    for (const field of path.includes('?') ? [] : fields) {
      const { status: isKnown, text: left } = await get(`${path}?${field}=nothing-is-called-so`);
      // A field with fixed options refuses another.
      if (isKnown === 400) continue;
      tried += 1;
      expect(textOf(left), `${path} ${field}`).toMatch(
        /Nothing matches this filter\. Show all|There is nothing to compare for this deal|no such order/,
      );
      // What is empty only because of the filter never says what an empty list means.
      for (const none of nones(left).filter((one) => !known.includes(one)))
        expect(none, `${path} ${field}`).toMatch(/Nothing matches this filter|nothing to compare for this/);
      // The form still asks for it, also if no option is called so.
      expect(left, `${path} ${field}`).toMatch(/(?:input|option)[^>]* value="nothing.is.called.so"/i);
    }
  }
  expect(tried).toBeGreaterThan(30);
});
