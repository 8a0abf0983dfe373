import { relative } from 'node:path';
import type { Plugin } from 'vite';
import { readRowTypes } from './read-row-types.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;

/** Hands each typed statement of the program to `checkRows`, in every test. */
export function checkRowsPlugin(): Plugin {
  return {
    name: 'check-rows',
    enforce: 'pre',
    transform(source, id) {
      const path = relative(ROOT, id);
      if (!/^(src|jobs)\/.*\.ts$/.test(path) || !/\b(sql|rowsOf|rowOf)</.test(source)) return null;
      let code = source;
      for (const { start, end, row } of readRowTypes(id, source).toReversed()) {
        const place = `${path}:${source.slice(0, start).split('\n').length}`;
        code = `${code.slice(0, start)}checkRows(${JSON.stringify(place)}, ${JSON.stringify(row)}, ${code.slice(start, end)})${code.slice(end)}`;
      }
      return { code, map: null };
    },
  };
}
