import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError, type Problem } from '../../model/known-error.ts';
import type { Layout } from '../../model/layout.ts';
import { findYamlProblem } from '../../model/text/yaml-problem.ts';
import { BUNDLED_LAYOUTS, findLayoutFile, listLayoutNames } from '../../package/layout-files.ts';
import { layoutSchema } from './layout-schema.ts';
import { toLayout } from './to-layout.ts';

/**
 * Reads a layout from the first of the folders that has it.
 *
 * @param name without `.yaml`.
 * @throws KnownError `layout_missing`, `layout_invalid` (exit 2), the latter with all problems at once, each with its place.
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

/** Reads all layouts of the folders, each name from the first folder that has it. @throws as `loadLayout`. */
export function loadLayouts(folders: readonly string[] = [BUNDLED_LAYOUTS]): readonly Layout[] {
  return listLayoutNames(folders).map((name) => loadLayout(name, folders));
}

/** Parsing all layouts takes longer than any other step of a small run: a process parses each once, until its file changes. */
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

/** As many aliases as in pipeline.yaml: the library counts what they are made of, and refuses a tower of them. */
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

/** Where a path's value begins; where there is none, that of the nearest parent. */
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

/** The JSON Schema of `config/layouts/*.yaml` for editors. */
export function layoutJsonSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(layoutSchema, { io: 'input' }), null, 2)}\n`;
}
