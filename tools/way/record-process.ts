/**
 * Loaded before the program (`--import`): writes down which files of `src` and `jobs` a process enters, in
 * order, to the file that WAY_OUTPUT names. Each function begins with a call that says its file and place.
 */
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';

const ROOT = new URL('../../', import.meta.url).pathname;
const entered = new Set<string>();
Object.assign(globalThis, { entersFunction: (name: string) => entered.add(name) });

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const path = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : '';
    if (!/^(src|jobs)\/.*\.ts$/.test(path)) return loaded;
    return { ...loaded, source: announceFunctions(path, String(loaded.source)) };
  },
});
process.on('exit', () => writeFileSync(process.env.WAY_OUTPUT ?? '', JSON.stringify([...entered])));

function announceFunctions(path: string, source: string): string {
  const inserts: { at: number; text: string }[] = [];
  type Body = { start: number; end: number; type: string };
  const announce = (body: Body | null): void => {
    if (body === null) return;
    const call = `entersFunction(${JSON.stringify(`${path} ${body.start}`)})`;
    if (body.type === 'BlockStatement' || body.type === 'FunctionBody') {
      inserts.push({ at: body.start + 1, text: `${call};` });
    } else {
      inserts.push({ at: body.start, text: `(${call}, ` }, { at: body.end, text: ')' });
    }
  };
  new Visitor({
    FunctionDeclaration: ({ body }) => announce(body),
    FunctionExpression: ({ body }) => announce(body),
    ArrowFunctionExpression: ({ body }) => announce(body),
  }).visit(parseSync(path, source).program);
  return inserts
    .toSorted((a, b) => b.at - a.at)
    .reduce((text, insert) => text.slice(0, insert.at) + insert.text + text.slice(insert.at), source);
}
