import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../deploy/metabase/', import.meta.url);

/** One question that a view of schema bi answers, as a file of `deploy/metabase/` asks it. */
export type Question = {
  /** Name of the file without its ending. */
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** The view that it is mainly asked of, for example `bi.orders`. */
  readonly view: string;
  /** One statement, without a semicolon at its end. */
  readonly sql: string;
};

const HEAD = /^-- Title: (.+)\n-- Description: (.+)\n-- View: (.+)\n/;

/** All questions, by the names of their files. @throws Error when a file does not begin with its title, description and view. */
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
