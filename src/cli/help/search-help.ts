import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { packageFile } from '../../core/package.ts';
import { wrap } from '../../core/text/wrap.ts';
import { renderTable } from '../../render/table.ts';
import type { Output } from '../terminal/output.ts';
import { usageError } from '../usage-error.ts';

type Topic = {
  readonly kind: 'command' | 'page' | 'error';
  /** What a person types behind `help`. */
  readonly name: string;
  readonly about: string;
  /** What weighs most: the name, what it is about, and the headings of a page. */
  readonly title: string;
  /** All of its text. */
  readonly text: string;
};

const KINDS = [
  ['command', 'Command'],
  ['page', 'Page'],
  ['error', 'Error'],
] as const;

const SHOWN = 5;

/** Prints a page or an error by its name, else the best matches for words among commands, pages and errors. */
export async function searchHelp(output: Output, asked: string, program: Command): Promise<ExitCode> {
  const topics = [...commandTopics(program), ...pageTopics(), ...errorTopics()];
  // Several errors may have one code.
  const named = topics.filter(({ name }) => name === asked || name === `docs/${asked}.md`);
  const [page] = named;
  if (page?.kind === 'page') {
    output.write(readFileSync(packageFile(page.name)));
    return EXIT.ok;
  }
  const found = named.length === 0 ? rank(topics, asked) : named;
  for (const { kind, name, about } of found) output.emit({ event: 'help_topic', kind, name, about });
  if (found.length === 0)
    throw usageError(
      `Nothing in the help has the words "${asked}".`,
      'Try one word, or see all commands:  npx influencer-sync --help',
    );
  if (found.every(({ kind, name }) => kind === 'error' && name === found[0]?.name)) {
    const { columns: width } = output.terminal;
    for (const { name, about } of found)
      output.print(wrap(`${name}: ${about}`, { width, indent: '  ', firstIndent: '' }));
    return EXIT.ok;
  }
  const { terminal } = output;
  for (const [kind, title] of KINDS) {
    const rows = found.filter((one) => one.kind === kind).map(({ name, about }) => [name, about]);
    const columns = [{ title, cutAt: 'never' as const }, { title: 'About' }];
    if (rows.length > 0) output.print(`${renderTable(columns, rows, { terminal })}\n\n`);
  }
  output.print(`To read one:  npx influencer-sync help ${found[0]?.name ?? ''}`);
  return EXIT.ok;
}

/** The topics with all of the words, those with one in their name or title first; at most a few of each kind. */
function rank(topics: readonly Topic[], asked: string): readonly Topic[] {
  const words = plainWords(asked)
    .split(' ')
    .filter((word) => word !== '');
  const scored = topics.flatMap((topic) => {
    const [title, text] = [plainWords(topic.title), plainWords(topic.text)];
    if (!words.every((word) => text.includes(word))) return [];
    const score = words.reduce(
      (sum, word) => sum + (title.includes(word) ? 1_000 : 0) + Math.min(text.split(word).length - 1, 999),
      0,
    );
    return [{ topic, score }];
  });
  scored.sort((one, other) => other.score - one.score);
  return KINDS.flatMap(([kind]) =>
    scored
      .filter(({ topic }) => topic.kind === kind)
      .slice(0, SHOWN)
      .map(({ topic }) => topic),
  );
}

/** Text in lower case, in which `in-doubt` and `in_doubt` are two words. */
function plainWords(text: string): string {
  return text.toLowerCase().replace(/[\s_-]+/g, ' ');
}

function commandTopics(command: Command, before = ''): readonly Topic[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .flatMap((child) => {
      const name = `${before}${child.name()}`;
      const about = child.summary() || child.description();
      const text = child.helpInformation();
      return [
        { kind: 'command', name, about, title: `${name} ${about}`, text } as const,
        ...commandTopics(child, `${name} `),
      ];
    });
}

function pageTopics(): readonly Topic[] {
  return ['docs/', 'docs/runbooks/'].flatMap((folder) => {
    if (!existsSync(packageFile(folder))) return [];
    return readdirSync(packageFile(folder))
      .filter((file) => file.endsWith('.md'))
      .sort()
      .map((file): Topic => {
        const name = `${folder}${file}`;
        const text = readFileSync(packageFile(name), 'utf8');
        const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading);
        return {
          kind: 'page',
          name,
          about: headings[0] ?? file,
          title: `${name} ${headings.join(' ')}`,
          text,
        };
      });
  });
}

/** The errors that docs/troubleshooting.md lists, which is written from the code. */
function errorTopics(): readonly Topic[] {
  const page = packageFile('docs/troubleshooting.md');
  if (!existsSync(page)) return [];
  return [...readFileSync(page, 'utf8').matchAll(/^\| `([a-z0-9_]+)` \| (.*) \| (.*) \|$/gm)].map(
    ([line, name = '', message = '', help = '']): Topic => {
      const about = `${message} ${help}`.replaceAll('<br>', ' ');
      return { kind: 'error', name, about, title: `${name} ${about}`, text: line };
    },
  );
}
