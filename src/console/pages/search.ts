import { fileName } from '../../core/text/file-name.ts';
import { foldHandle } from '../../core/text/fold.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { column } from '../../render/block.ts';
import { findSubjects, type Subject, type SubjectKind } from '../../reports/lives/find-subjects.ts';
import { definePage, type Visit } from '../console-page.ts';
import { anchor, creatorLink, dealLink, orderLink, table } from '../markup/parts.ts';
import { optionOf, textOf } from '../read-query.ts';

const SHOWN = 20;
const SUGGESTED = 5;
/** What has a page. */
const KINDS: readonly SubjectKind[] = ['order', 'creator', 'deal', 'code', 'file', 'run'];

/** One search over orders, creators, deals, codes, files and runs. A single result is opened at once. */
export const searchPage = definePage('/search', async (visit) => {
  const text = textOf(visit, 'q');
  if (visit.query.get('suggest') === 'yes') {
    const wanted = optionOf(visit, 'kind', KINDS);
    const found =
      text === null
        ? []
        : await findSubjects(visit.db, text, {
            kinds: KINDS.filter((kind) => kind !== 'order' && (wanted === null || kind === wanted)),
            partsUpTo: SUGGESTED,
          });
    return {
      download: {
        name: 'suggestions.txt',
        type: 'text/plain',
        content: [...new Set(found.map(suggestionOf))].join('\n'),
      },
    };
  }
  const found = text === null ? [] : await findSubjects(visit.db, text, { kinds: KINDS, partsUpTo: SHOWN });
  const exact = found.filter((one) => isCalled(one, text ?? ''));
  const shown = exact.length > 0 ? exact : found;
  const [only, ...others] = shown;
  if (only !== undefined && others.length === 0) return { redirect: linkTo(only, visit) };
  return {
    title: text === null ? 'Search' : `Found for ${text}`,
    content: table(
      {
        rows: shown,
        about: 'What was found',
        none: `${text === null ? '' : 'Nothing was found. '}An order is found by its whole id or name; a creator, deal, code or file by a part of its name; a run by its number.`,
      },
      [
        column('Name', (one) => anchor(linkTo(one, visit), nameOf(one))),
        column('Is', ({ kind }) => kind),
        column('About', ({ kind, note }) => note ?? (kind === 'code' ? 'no owner' : null)),
      ],
    ),
    ...(found.length === 0 && text !== null ? { status: 404 as const } : {}),
  };
});

/** A line of the suggestions: the name and, of a deal, its creator after a tab. */
function suggestionOf(one: Subject): string {
  const parts = one.kind === 'deal' && one.note !== null ? [one.name, one.note] : [nameOf(one)];
  return parts.map(toPrintableLine).join('\t');
}

function nameOf({ kind, name, id }: Subject): string {
  return kind === 'file' ? fileName(name) : kind === 'run' ? id : name;
}

/** True if the text is its whole id or name. Orders and runs are found by nothing else. */
function isCalled(one: Subject, text: string): boolean {
  const isWhole = one.kind === 'order' || one.kind === 'run';
  return isWhole || foldHandle(nameOf(one)) === foldHandle(text);
}

function linkTo({ kind, id, source, name }: Subject, visit: Visit): string {
  switch (kind) {
    case 'order':
      return orderLink(visit, { source, orderId: id });
    case 'creator':
      return creatorLink(visit, id);
    case 'deal':
      return dealLink(visit, id);
    case 'code':
      return visit.link('/codes/assign', { code: name });
    default:
      return visit.link(`/${kind}s/${id}`);
  }
}
