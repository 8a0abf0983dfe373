import { fileName } from '../../core/text/file-name.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { column } from '../../render/block.ts';
import { type Found, search } from '../../reports/search.ts';
import type { ConsolePage, Visit } from '../console-page.ts';
import { anchor, creatorLink, dealLink, orderLink, table } from '../markup/parts.ts';
import { textOf } from '../read-query.ts';

const SHOWN = 20;
const SUGGESTED = 5;

/** One search over orders, creators, deals, codes, files and runs. A single result is opened at once. */
export const searchPage: ConsolePage = {
  path: '/search',
  place: 'Home',
  tab: null,
  async show(visit) {
    const text = textOf(visit, 'q');
    if (visit.query.get('suggest') === 'yes') {
      const found =
        text === null ? [] : await search(visit.db, text, { limit: SUGGESTED, isSuggestion: true });
      return {
        download: {
          ...{ name: 'suggestions.txt', type: 'text/plain' },
          content: [...new Set(found.map((one) => toPrintableLine(maskAddresses(nameOf(one)))))].join('\n'),
        },
      };
    }
    const found = text === null ? [] : await search(visit.db, text, { limit: SHOWN });
    const exact = found.filter((one) => nameOf(one).toLowerCase() === text?.toLowerCase());
    const [only, ...others] = exact.length > 0 ? exact : found;
    if (only !== undefined && others.length === 0) return { redirect: linkTo(only, visit) };
    return {
      title: text === null ? 'Search' : `Found for ${text}`,
      content: table(
        found,
        [
          column('Name', (one) => anchor(linkTo(one, visit), nameOf(one))),
          column('Is', ({ kind }) => kind),
          column('About', noteOf),
        ],
        {
          about: 'What was found',
          none: 'Nothing was found. An order is found by its whole id or name; a creator, deal, code or file by a part of its name; a run by its number.',
        },
      ),
      ...(found.length === 0 && text !== null ? { status: 404 as const } : {}),
    };
  },
};

function nameOf(found: Found): string {
  return found.kind === 'file' ? fileName(found.name) : found.name;
}

function noteOf(found: Found): string | null {
  switch (found.kind) {
    case 'order':
      return found.source;
    case 'code':
      return found.owner === null ? `no owner, ${found.job}` : `${found.owner}, ${found.job}`;
    default:
      return found.note;
  }
}

function linkTo(found: Found, visit: Visit): string {
  switch (found.kind) {
    case 'order':
      return orderLink(visit, found);
    case 'creator':
      return creatorLink(visit, found.name);
    case 'deal':
      return dealLink(visit, found.name);
    case 'run':
      return visit.link(`/runs/${found.name}`);
    case 'file':
      return visit.link(`/files/${found.sourceFileId}`);
    case 'code':
      return found.owner === null
        ? visit.link('/codes/assign', { job: found.job, code: found.name })
        : visit.link('/codes', { show: 'owned', code: found.name });
  }
}
