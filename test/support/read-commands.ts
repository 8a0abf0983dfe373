import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = new URL('../../', import.meta.url);

/** One fenced `sh` block of a document. */
export type CommandBlock = {
  /** The text that a reader pastes. */
  readonly script: string;
  /** The first command of the block, for titles. */
  readonly title: string;
  readonly line: number;
  /** Stand-ins to start for the block: `<!-- with: sandbox, s3 -->`. */
  readonly needs: readonly string[];
  /** `<!-- until stopped -->`: the block keeps running while later blocks run. */
  readonly isServer: boolean;
  /** `<!-- when stopped -->`: the reader stops what the page has started, with Ctrl-C, before this block. */
  readonly isAfterServers: boolean;
  /** `<!-- exit 3 -->`. Defaults to 0. */
  readonly exitCode: number;
};

const BLOCK = /^(?:<!-- (.+) -->\n)?```sh\n([\s\S]*?)^```$/gm;

/** The command blocks of a document of the checkout, in order. */
export function readCommandBlocks(path: string): readonly CommandBlock[] {
  const text = readDocument(path);
  return [...text.matchAll(BLOCK)].map((match) => {
    const [, marker = '', script = ''] = match;
    return {
      script,
      title: script.split('\n').find((line) => line !== '' && !line.startsWith('#')) ?? '',
      line: text.slice(0, match.index).split('\n').length + (marker === '' ? 0 : 1),
      needs: /^with: (.+)$/.exec(marker)?.[1]?.split(', ') ?? [],
      isServer: marker === 'until stopped',
      isAfterServers: marker === 'when stopped',
      exitCode: Number(/^exit (\d+)$/.exec(marker)?.[1] ?? 0),
    };
  });
}

/** Finds lines outside of `sh` blocks that a reader would take for commands to paste. */
export function findLooseCommands(path: string): readonly string[] {
  const rest = readDocument(path).replace(BLOCK, (block) => block.replaceAll(/[^\n]/g, ''));
  return rest
    .split('\n')
    .flatMap((line, index) =>
      /^( {4,}|\s*\$ )(npm|npx|node|docker|psql) /.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
    );
}

/** The lines of a document that are not code, neither fenced nor indented. */
export function readProse(path: string): readonly { readonly line: number; readonly text: string }[] {
  let isCode = false;
  return readDocument(path)
    .split('\n')
    .flatMap((text, index) => {
      const isFence = text.trimStart().startsWith('```');
      if (isFence) isCode = !isCode;
      return isCode || isFence || text.startsWith('    ') ? [] : [{ line: index + 1, text }];
    });
}

/** Targets of the document's links to files, relative to the document. */
export function readLinks(path: string): readonly string[] {
  return [...readDocument(path).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] ?? '');
}

/** The document's links to sections, of other documents and its own: the path of the document, and the anchor. */
export function readSectionLinks(
  path: string,
): readonly { readonly document: string; readonly anchor: string }[] {
  return [...readDocument(path).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)].map(
    ([, target = '', anchor = '']) => ({
      document: target === '' ? path : join(dirname(path), target),
      anchor,
    }),
  );
}

/** The anchors of the document's headings, as code hosts derive them. */
export function readAnchors(path: string): readonly string[] {
  return readProse(path).flatMap(({ text }) => {
    const heading = /^#+ (.+)$/.exec(text)?.[1]?.replaceAll(/\[(.+?)\]\(.+?\)/g, '$1');
    return (
      heading
        ?.toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-') ?? []
    );
  });
}

function readDocument(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}
