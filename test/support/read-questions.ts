import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../deploy/metabase/', import.meta.url);

/** A question that a view of schema bi answers, from a file of `deploy/metabase/`. */
export type Question = {
  /** Name of the file without its extension. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** The main view of the question, for example `bi.orders`. */
  readonly view: string;
  /** One statement without a trailing semicolon. */
  readonly sql: string;
};

const HEAD = /^-- Title: (.+)\n-- Description: (.+)\n-- View: (.+)\n/;

/**
 * Reads all questions, sorted by file name. @throws Error if a file does not begin with its title,
 * description and view.
 */
export function readQuestions(): readonly Question[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const text = readFileSync(new URL(name, FOLDER), 'utf8');
      const head = HEAD.exec(text);
      if (head === null) throw new Error(`deploy/metabase/${name} lacks its Title, Description or View line`);
      const [all, title = '', description = '', view = ''] = head;
      const statement = text.slice(all.length).trim().replace(/;$/, '');
      return { slug: name.replace(/\.sql$/, ''), title, description, view, sql: statement };
    });
}

/** The rows of the table in docs/money.md that says where each question is answered, as cells. */
export function readMoneyTable(): readonly (readonly string[])[] {
  const [, section = ''] = readFileSync('docs/money.md', 'utf8').split('## Where each answer is');
  const [text = ''] = section.split('\n## ');
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Question'))
    .map((line) => line.slice(2, -2).split(' | '))
    .map((cells) => cells.map((cell) => cell.trim()));
}
