import { type Html, type HtmlValue, joinMarkup } from '../../core/text/html.ts';
import { toPrintable } from '../../core/text/printable.ts';

/** A fragment of an HTML page. Values are escaped, so nothing in an account's data acts as markup. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return joinMarkup(strings, values, toPrintable);
}

/** A whole page, without scripts or external resources. */
export function page(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>${STYLE}</head>
<body><nav><a href="/">Sandbox</a> <a href="/docs">Operations</a> <a href="/openapi.json">openapi.json</a></nav>
<h1>${title}</h1>${content}</body></html>
`.toString();
}

/** Headers that let a browser only display the page. */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

const STYLE = html`<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
nav a{margin-right:1rem}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #8884;overflow-wrap:anywhere}th{white-space:nowrap}
pre{overflow:auto;background:#8881;padding:.6rem;font-size:.85rem}summary{cursor:pointer;padding:.2rem 0}
@media(prefers-color-scheme:dark){body{background:#111;color:#eee}a{color:#8bf}}</style>`;
