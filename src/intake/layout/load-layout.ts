import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { BUNDLED_LAYOUTS, findLayoutFile, listLayoutNames } from '../../config/layout-folders.ts';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError, type Problem } from '../../core/known-error.ts';
import type { Layout } from '../../core/layout.ts';
import { findYamlProblem } from '../../core/text/yaml-problem.ts';
import { layoutSchema } from './layout-schema.ts';
import { toLayout } from './to-layout.ts';

/**
 * Loads a layout from the first folder that contains it.
 *
 * @param name without `.yaml`.
 * @throws KnownError `layout_missing`, `layout_invalid` (exit 2). The latter reports all problems at once,
 * each with its position.
 */
export function loadLayout(name: string, folders: readonly string[] = [BUNDLED_LAYOUTS]): Layout {
  const path = findLayoutFile(name, folders);
  if (path === null) {
    throw new KnownError({
      code: 'layout_missing',
      message: `There is no layout "${name}".`,
      help: `There are: ${listLayoutNames(folders).join(', ')}.`,
      exitCode: EXIT.configuration,
    });
  }
  return readLayout(name, path);
}

/**
 * Loads all layouts of the folders, each name from the first folder that contains it. @throws like
 * `loadLayout`.
 */
export function loadLayouts(folders: readonly string[] = [BUNDLED_LAYOUTS]): readonly Layout[] {
  return listLayoutNames(folders).map((name) => loadLayout(name, folders));
}

/**
 * Cache of parsed layouts, valid until a file changes. Parsing all layouts takes longer than any other step
 * of a small run.
 */
const parsed: { layouts?: Map<string, { readonly text: string; readonly layout: Layout }> } = {};

function readLayout(name: string, path: string): Layout {
  const text = readFileSync(path, 'utf8');
  parsed.layouts ??= new Map();
  const known = parsed.layouts.get(path);
  if (known?.text === text) return known.layout;
  const layout = parseLayout(text, { name, path });
  parsed.layouts.set(path, { text, layout });
  return layout;
}

function parseLayout(text: string, { name, path }: { readonly name: string; readonly path: string }): Layout {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const file = shorten(path);
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`;
  };
  const problem = findYamlProblem(text, { file, errors: document.errors });
  if (problem !== null) throw invalid(file, [problem]);
  const checked = layoutSchema.safeParse(contentOf(document, file));
  if (checked.success) return toLayout(name, checked.data);
  throw invalid(
    file,
    checked.error.issues.map((issue) => ({
      where: at(offsetOf(document, issue.path)),
      message: `${issue.path.map(String).join('.') || 'The layout'}: ${issue.message.replace(/\.$/, '')}.`,
      help: 'config/layout.schema.json describes every setting; the layouts beside it are examples.',
    })),
  );
}

/**
 * Converts the document to a value. The limit for aliases is that of pipeline.yaml: the library counts the
 * values behind them and refuses nested aliases that would grow too large.
 */
function contentOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw invalid(file, [
      {
        where: `${file}:1:1`,
        message: 'Aliases (*name) refer to each other in a circle, or to more than 100 values.',
        help: 'Write the values in full instead.',
      },
    ]);
  }
}

/** Returns the offset of the value at a path, or of its nearest existing parent. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function invalid(file: string, problems: readonly Problem[]): KnownError {
  return new KnownError({
    code: 'layout_invalid',
    message: problems.length === 1 ? `${file} has a problem.` : `${file} has ${problems.length} problems.`,
    help: 'Fix the layout and run the command again.',
    safe: 'Nothing was read or sent.',
    problems,
    exitCode: EXIT.configuration,
  });
}

function shorten(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** Returns the JSON Schema of `config/layouts/*.yaml`, for editors. */
export function layoutJsonSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(layoutSchema, { io: 'input' }), null, 2)}\n`;
}
