import { posix } from 'node:path';
import { WILDCARD } from './parse-source-uri.ts';

/** What a source passes over: told by commands that list its files. */
export type SkippedFile = { readonly uri: string; readonly reason: string };

/** Why a file is no export of its source; null: it is one. */
export type SkipRule = (
  /** Below the folder or prefix of the source, with `/` between its parts. */
  name: string,
  /** Null where it is not known. */
  sizeBytes: number | null,
) => string | null;

/** How a place is listed. */
export type ListingRules = {
  readonly skip: SkipRule;
  readonly onSkipped: (file: SkippedFile) => void;
  readonly signal?: AbortSignal;
};

/** Reason of what lies beside the files that a source's glob names. */
export const NOT_OF_GLOB = 'the pattern in the uri of the source does not match it';

type Pattern = {
  readonly text: string;
  /** What a name must begin and end with to match at all: far cheaper than matching, and true of few. */
  readonly head: string;
  readonly tail: string;
  readonly isLiteral: boolean;
  /** A pattern with a slash is for the whole name, one without for each part of it. */
  readonly isOfPath: boolean;
};

/**
 * Makes the rule of a source from its `exclude` patterns: globs, each for a whole name if it has a slash, else for any part of it (a folder
 * that matches is passed over with all that is in it). Besides, markers are passed over: objects without content that stand for a folder
 * or a finished job, whose names have no extension.
 */
export function createSkipRule(exclude: readonly string[]): SkipRule {
  const patterns = exclude.map(toPattern);
  const ofParts = patterns.filter(({ isOfPath }) => !isOfPath);
  const ofPaths = patterns.filter(({ isOfPath }) => isOfPath);
  return (name, sizeBytes) => {
    if (sizeBytes === 0 && isMarker(name)) return 'it is an empty marker';
    const parts = ofParts.length === 0 ? [] : name.split('/');
    const match =
      ofPaths.find((pattern) => matches(name, pattern)) ??
      ofParts.find((pattern) => parts.some((part) => matches(part, pattern)));
    return match === undefined ? null : `exclude has "${match.text}"`;
  };
}

/** `orders/`, `_SUCCESS`, `orders_$folder$`: what tools leave beside exports. An export without a row still has a name like one. */
function isMarker(name: string): boolean {
  return name.endsWith('/') || name.endsWith('_$folder$') || !/\.[^./]+$/.test(name);
}

function toPattern(text: string): Pattern {
  const first = text.search(WILDCARD);
  const isLiteral = first < 0;
  return {
    text,
    head: isLiteral ? text : text.slice(0, first),
    tail: isLiteral ? text : (/[^*?\]})]*$/.exec(text)?.[0] ?? ''),
    isLiteral,
    isOfPath: text.includes('/'),
  };
}

function matches(name: string, { text, head, tail, isLiteral }: Pattern): boolean {
  if (isLiteral) return name === text;
  return name.startsWith(head) && name.endsWith(tail) && posix.matchesGlob(name, text);
}
