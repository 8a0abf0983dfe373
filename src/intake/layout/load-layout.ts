import { relative } from 'node:path';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import {
  BUNDLED_LAYOUTS,
  type LayoutFile,
  listLayoutNames,
  mergeLayouts,
  readLayoutFiles,
} from '../../config/layout-folders.ts';
import { configurationError, type KnownError, type Problem } from '../../core/known-error.ts';
import { findYamlProblem } from '../../core/text/yaml-problem.ts';
import { layoutSchema } from './layout-schema.ts';
import type { Layout } from './to-layout.ts';
import { toLayout } from './to-layout.ts';

/**
 * Loads a layout from the first folder that contains it.
 *
 * @param name without `.yaml`.
 * @throws KnownError `layout_missing`, `layout_invalid` (exit 2). The latter reports all problems at once,
 * each with its position.
 */
export function loadLayout(name: string, folders: readonly string[] = [BUNDLED_LAYOUTS]): Layout {
  const { files, lacks } = readLayoutFiles(name, folders);
  const [own] = files;
  if (own === undefined) {
    throw configurationError({
      code: 'layout_missing',
      message: `There is no layout "${name}".`,
      help: `There are: ${listLayoutNames(folders).join(', ')}.`,
    });
  }
  const text = files.map((file) => file.text).join('\0');
  parsed.layouts ??= new Map();
  const known = parsed.layouts.get(own.path);
  if (known?.text === text && lacks === null) return known.layout;
  const layout = parseLayout(name, files, { lacks, folders });
  parsed.layouts.set(own.path, { text, layout });
  return layout;
}

/**
 * Loads all layouts of the folders, each name from the first folder that contains it. @throws like
 * `loadLayout`.
 */
export function loadLayouts(folders: readonly string[] = [BUNDLED_LAYOUTS]): readonly Layout[] {
  return listLayoutNames(folders).map((name) => loadLayout(name, folders));
}

/** The same without one of them: the layouts that a file may have instead. */
export function loadOtherLayouts(
  { name }: Pick<Layout, 'name'>,
  folders: readonly string[],
): readonly Layout[] {
  return loadLayouts(folders).filter((layout) => layout.name !== name);
}

/**
 * Cache of parsed layouts, valid until a file changes. Parsing all layouts takes longer than any other step
 * of a small run.
 */
const parsed: { layouts?: Map<string, { readonly text: string; readonly layout: Layout }> } = {};

/** @param files those of the layout and of the layouts that it extends, the nearest first. */
function parseLayout(
  name: string,
  files: readonly LayoutFile[],
  { lacks, folders }: { lacks: string | null; folders: readonly string[] },
): Layout {
  const opened = files.map(({ path, text }) => open(shorten(path), text));
  const [own = open(name, ''), last = own] = [opened[0], opened.at(-1)];
  const at = ({ file, lines }: Opened, offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`;
  };
  if (lacks !== null || last.document.has('extends'))
    throw invalid(last.file, [
      {
        where: at(last, offsetOf(last.document, ['extends'])),
        message:
          lacks === null
            ? 'extends: The name of the other layout is not on a line of its own.'
            : `extends: There is no ${opened.length > 1 || lacks === name ? 'other ' : ''}layout ${JSON.stringify(lacks)}.`,
        help: `Write extends: NAME with one of: ${listLayoutNames(folders).join(', ')}. A layout cannot extend itself.`,
      },
    ]);
  const checked = layoutSchema.safeParse(
    mergeLayouts(opened.map(({ document, file }) => contentOf(document, file))),
  );
  if (checked.success) return toLayout(name, checked.data);
  throw invalid(
    own.file,
    checked.error.issues.map((issue) => ({
      where: placeOf(issue.path),
      message: `${issue.path.map(String).join('.') || 'The layout'}: ${issue.message.replace(/\.$/, '')}.`,
      help: 'config/layout.schema.json describes every setting; the layouts beside it are examples.',
    })),
  );

  /** The value in the file that states it; the layout's own file if none does. */
  function placeOf(path: readonly PropertyKey[]): string {
    const stating = opened.find(({ document }) => document.hasIn(path)) ?? own;
    return at(stating, offsetOf(stating.document, path));
  }
}

type Opened = { readonly file: string; readonly document: Document; readonly lines: LineCounter };

function open(file: string, text: string): Opened {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problem = findYamlProblem(text, { file, errors: document.errors });
  if (problem !== null) throw invalid(file, [problem]);
  return { file, document, lines };
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
  return configurationError({
    code: 'layout_invalid',
    message: problems.length === 1 ? `${file} has a problem.` : `${file} has ${problems.length} problems.`,
    help: 'Fix the layout and run the command again.',
    safe: 'Nothing was read or sent.',
    problems,
  });
}

function shorten(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
