import { existsSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { pages } from '../../src/console/pages/index.ts';
import { readMoneyTable, readQuestions } from '../support/read-questions.ts';

const ROWS = readMoneyTable();
const program = createProgram(() => async () => {});
/** The definition of each view for dbt. */
const dbt = readFileSync('deploy/dbt/sources.yml', 'utf8').split(/^ {6}- name: /m);

describe('every question about money', () => {
  it.each(ROWS)('"%s" has what the table names: %s, %s, %s, %s, %s', (...cells) => {
    const [question = '', command = '', page = '', , view = '', metabase = ''] = cells;
    expect(cells).toHaveLength(6);
    expect(cells).not.toContain('');
    expect(question).toMatch(/\?$/);
    const words = command.replaceAll('`', '').split(' ');
    const named = words.reduce<Command | undefined>(
      (parent, word) => parent?.commands.find((child) => child.name() === word),
      program,
    );
    expect(named, command).toBeDefined();
    const [place = '', tab = place] = page.split(': ');
    expect(
      pages.some((one) => one.place === place && one.tab === tab),
      page,
    ).toBe(true);
    const table = view.replace(/`bi\.|`/g, '');
    expect(dbt.find((one) => one.startsWith(`${table}\n`))).toContain('data_tests');
    for (const file of metabase.replaceAll('`', '').split(', ')) {
      expect(existsSync(`deploy/metabase/${file}.sql`), file).toBe(true);
      expect(readFileSync(`deploy/metabase/${file}.sql`, 'utf8')).toContain(`bi.${table}`);
    }
  });

  it('is in the table, with every question for Metabase that its view answers', () => {
    expect(ROWS).toHaveLength(9);
    const cells = (column: number) => ROWS.flatMap((row) => row[column]?.replaceAll('`', '').split(', '));
    const asked = readQuestions().filter(({ view }) => cells(4).includes(view));
    expect(cells(5).toSorted()).toEqual(asked.map(({ slug }) => slug));
  });
});
