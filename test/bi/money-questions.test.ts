import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readQuestions } from '../support/read-questions.ts';

/** The rows of the table in docs/money.md that says where each question is answered. */
const ROWS = readFileSync('docs/money.md', 'utf8')
  .split('## Where each answer is')[1]
  ?.split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Question'))
  .map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );

const read = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
    .join('\n');
/** Titles of sections; one of them names what the reader chose to add up. */
const titles = (read('src/reports') + read('jobs/attribute-orders')).replace(
  /What each \$\{\w+\}/,
  'What each deal',
);
const commands = read('src/cli');
const pages = read('src/console/pages');
/** The definition of each view for dbt. */
const dbt = readFileSync('deploy/dbt/sources.yml', 'utf8').split(/^ {6}- name: /m);

describe('every question about money', () => {
  it.each(ROWS ?? [])('"%s" has what the table names: %s, %s, %s, %s, %s', (...cells) => {
    const [question = '', command = '', page = '', panel = '', view = '', metabase = ''] = cells;
    expect(cells).toHaveLength(6);
    expect(cells).not.toContain('');
    expect(question).toMatch(/\?$/);
    const [name = '', part] = command.replaceAll('`', '').split(' ');
    expect(commands.includes(`name: '${name}'`), name).toBe(true);
    expect(part === undefined || commands.includes(`name: '${part}'`), part).toBe(true);
    const [place = '', tab = place] = page.split(': ');
    expect(pages.includes(`place: '${place}',\n  tab: '${tab}',`), page).toBe(true);
    expect(titles.includes(panel), panel).toBe(true);
    const table = view.replace(/`bi\.|`/g, '');
    expect(dbt.find((one) => one.startsWith(`${table}\n`))).toContain('data_tests');
    for (const file of metabase.replaceAll('`', '').split(', ')) {
      expect(existsSync(`deploy/metabase/${file}.sql`), file).toBe(true);
      expect(readFileSync(`deploy/metabase/${file}.sql`, 'utf8')).toContain(`bi.${table}`);
    }
  });

  it('is in the table, with every question for Metabase that its view answers', () => {
    expect(ROWS).toHaveLength(9);
    const cells = (column: number) =>
      (ROWS ?? []).flatMap((row) => row[column]?.replaceAll('`', '').split(', '));
    const asked = readQuestions().filter(({ view }) => cells(4).includes(view));
    expect(cells(5).toSorted()).toEqual(asked.map(({ slug }) => slug));
  });
});
