import { readFileSync } from 'node:fs';
import { Graphviz } from '@hpcc-js/wasm-graphviz';
import { sql } from 'kysely';
import { wrap } from '../../src/core/text/wrap.ts';
import type { Database } from '../../src/db/connect.ts';
import { type Question, readQuestions } from './read-questions.ts';

const ROOT = new URL('../../', import.meta.url);

/** The file that `npm run schema` writes from the comments of schema bi. */
export const DICTIONARY_FILE = new URL('docs/data-dictionary.md', ROOT).pathname;
/** Alternative text of the picture. */
const PICTURE_SHOWS = 'The views of schema bi and what they refer to';

export const DATA_MODEL_FILE = new URL('docs/data-model.svg', ROOT).pathname;

/** Chapters, one for each file of `sql/views/`. */
const CHAPTERS = [
  { file: 'orders', title: 'Orders', colour: '#dbeafe' },
  { file: 'clicks', title: 'Clicks', colour: '#ede9fe' },
  { file: 'performance', title: 'Daily sums', colour: '#dcfce7' },
  { file: 'earnings', title: 'Earnings', colour: '#dcfce7' },
  { file: 'returns', title: 'Returns and customers won', colour: '#dcfce7' },
  { file: 'code-use', title: 'Use of codes', colour: '#dcfce7' },
  { file: 'conflicts', title: 'Conflicts', colour: '#dcfce7' },
  { file: 'payments', title: 'Payments', colour: '#dcfce7' },
  { file: 'claims', title: 'Claims of creators', colour: '#dcfce7' },
  { file: 'reconciliation', title: 'Reconciliation', colour: '#dcfce7' },
  { file: 'account', title: 'The account', colour: '#fef3c7' },
  { file: 'creators', title: 'Creators', colour: '#ffedd5' },
  { file: 'customers', title: 'Customers', colour: '#fce7f3' },
  { file: 'outreach', title: 'Outreach', colour: '#ffedd5' },
  { file: 'runs', title: 'Runs', colour: '#e5e7eb' },
] as const;

/** For each key column, the view with one row per value. Other views refer to it. */
const KEYS: Readonly<Record<string, string>> = {
  order_version_id: 'orders',
  entry_id: 'orders_attributed',
  deal_id: 'deals',
  dealflow_id: 'dealflows',
  brand_id: 'brands',
  statement_id: 'statements',
};

/** Nearly all views refer to runs, so only views without another reference show it. */
const RUN_KEYS: Readonly<Record<string, string>> = { run_id: 'runs', last_run_id: 'runs' };

type Column = { readonly name: string; readonly type: string; readonly comment: string };

/** A view or a function of schema bi. */
type Described = {
  readonly name: string;
  /** For a function: its name with its arguments. */
  readonly signature: string;
  readonly comment: string;
  readonly columns: readonly Column[];
};

type Chapter = (typeof CHAPTERS)[number] & { readonly views: readonly Described[] };

/**
 * Generates the data dictionary and the picture of the views. The same comments give the same text.
 *
 * @param db a migrated database.
 */
export async function describeViews(
  db: Database,
): Promise<{ readonly dictionary: string; readonly picture: string }> {
  const chapters = toChapters(await readViews(db));
  const graphviz = await Graphviz.load();
  return {
    dictionary: renderDictionary(chapters, readQuestions()),
    picture: describe(graphviz.dot(renderDot(chapters))),
  };
}

async function readViews(db: Database): Promise<readonly Described[]> {
  const { rows } = await sql<Described>`
    select c.relname as name, c.relname as signature, obj_description(c.oid, 'pg_class') as comment,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null), 'comment', col_description(c.oid, a.attnum))
        order by a.attnum) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    from pg_class c where c.relnamespace = 'bi'::regnamespace and c.relkind = 'v'
    union all
    select p.proname, p.proname || '(' || pg_get_function_arguments(p.oid) || ')', obj_description(p.oid, 'pg_proc'), '[]'
    from pg_proc p where p.pronamespace = 'bi'::regnamespace`.execute(db);
  return rows;
}

/** Sorts the views in the order in which the files declare them. */
function toChapters(views: readonly Described[]): readonly Chapter[] {
  const chapters = CHAPTERS.map((chapter) => {
    const text = readFileSync(new URL(`sql/views/${chapter.file}.sql`, ROOT), 'utf8');
    const names = [...text.matchAll(/^create (?:view|function) bi\.(\w+)/gm)].map(([, name]) => name);
    return { ...chapter, views: names.flatMap((name) => views.filter((view) => view.name === name)) };
  });
  const placed = chapters.flatMap((chapter) => chapter.views);
  const lost = views.filter((view) => !placed.includes(view)).map(({ name }) => name);
  if (lost.length > 0) throw new Error(`in no chapter of data-dictionary.ts: ${lost.join(', ')}`);
  return chapters;
}

function renderDictionary(chapters: readonly Chapter[], questions: readonly Question[]): string {
  const parts = [
    '# Data dictionary',
    paragraph(
      'Schema `bi`: every view and column, and the questions that each view answers. `npm run schema` writes this page from the comments in `sql/views/` and the questions in `deploy/metabase/`. [reporting.md](reporting.md) says how to connect, and what to know about days and money.',
    ),
    `![${PICTURE_SHOWS}](data-model.svg)`,
    'Most views also have a `run_id`, which refers to `bi.runs`.',
    ...chapters.flatMap((chapter) => [
      `## ${chapter.title}`,
      ...chapter.views.flatMap((view) => renderView(view, questions)),
    ]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function renderView(view: Described, questions: readonly Question[]): readonly string[] {
  const [meaning = ''] = view.comment.split(' Answers: ');
  const rows = view.columns.map(
    ({ name, type, comment }) => `| \`${name}\` | ${shortType(type)} | ${escapeCell(comment)} |`,
  );
  const table = ['| Column | Type | Meaning |', '|---|---|---|', ...rows].join('\n');
  return [
    `### bi.${view.signature}`,
    paragraph(meaning),
    ...(rows.length === 0 ? [] : [table]),
    ...questions
      .filter((question) => question.view === `bi.${view.name}`)
      .map(
        ({ title, description, sql: text }) =>
          `${paragraph(`**${title}** ${description}`)}\n\n\`\`\`sql\n${text};\n\`\`\``,
      ),
  ];
}

/** Lines of documents have at most 100 characters. */
function paragraph(text: string): string {
  return wrap(text, { width: 100, indent: '' });
}

function shortType(type: string): string {
  return type === 'timestamp with time zone' ? 'timestamptz' : type;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

/** Draws each view as a box with its ids, and an arrow from each id to the view with one row per id. */
function renderDot(chapters: readonly Chapter[]): string {
  const views = chapters.flatMap(({ views, colour }) =>
    views
      .filter(({ columns }) => columns.length > 0)
      .map((view) => ({ name: view.name, colour, references: referencesOf(view) })),
  );
  const boxes = views.map(({ name, colour, references }) => {
    const rows = references
      .map(({ column }) => `<tr><td align="left" port="${column}">${column}</td></tr>`)
      .join('');
    return `  ${name} [label=<<table border="0" cellborder="1" cellspacing="0" cellpadding="5"><tr><td bgcolor="${colour}"><b>bi.${name}</b></td></tr>${rows}</table>>];`;
  });
  const arrows = views.flatMap(({ name, references }) =>
    references
      .filter(({ target }) => target !== name)
      .map(({ column, target }) => `  ${name}:${column} -> ${target}:${column.replace('last_', '')};`),
  );
  // Courier, because its letters have the same width in every renderer.
  return `digraph bi {
  graph [rankdir=LR, bgcolor=white, nodesep=0.25, ranksep=1.2];
  node [shape=plain, fontname="Courier", fontsize=11];
  edge [color="#64748b", arrowsize=0.7];
${[...boxes, ...arrows].join('\n')}
}
`;
}

function referencesOf({ columns }: Described): readonly { column: string; target: string }[] {
  const by = (keys: Readonly<Record<string, string>>) =>
    columns.flatMap(({ name }) => (keys[name] === undefined ? [] : [{ column: name, target: keys[name] }]));
  return by(KEYS).length > 0 ? by(KEYS) : by(RUN_KEYS);
}

function describe(svg: string): string {
  return svg.replace('<svg ', `<svg role="img" aria-label="${PICTURE_SHOWS}" `);
}
