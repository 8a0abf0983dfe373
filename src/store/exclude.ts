import { posix } from 'node:path';
import type { SourceSettings } from '../config/source-fields.ts';
import { isBefore, WILDCARD } from '../core/time/dated-names.ts';

/** A file that a source skips. Commands that list files report it. */
export type SkippedFile = { readonly uri: string; readonly reason: string };

/** Returns why a file is not an export of its source, or null if it is one. */
export type SkipRule = (
  /** Name relative to the folder or prefix of the source, with `/` between its parts. */
  name: string,
  /** Null for a folder. */
  sizeBytes: number | null,
) => string | null;

/** The size to give for a file of which only the name is known: only empty files are treated differently. */
export const SOME_BYTES = 1;

/** Rules for listing a source. */
export type ListingRules = {
  readonly skip: SkipRule;
  readonly onSkipped: (file: SkippedFile) => void;
  /** Names that sort before this key or path are not listed at all; null lists every name. */
  readonly start: string | null;
  readonly signal?: AbortSignal;
};

/** Reason for files that the source's glob does not match. */
export const NOT_OF_GLOB = 'the pattern in the uri of the source does not match it';

type Pattern = {
  readonly text: string;
  /**
   * Literal beginning and end of the pattern. Comparing these first is much cheaper than matching, and few
   * names pass.
   */
  readonly head: string;
  readonly tail: string;
  readonly isLiteral: boolean;
  /** A pattern with a slash is matched against the whole name, one without against each part of it. */
  readonly isOfPath: boolean;
};

/**
 * Creates the skip rule of a source from its `exclude` patterns. A glob with a slash is matched against the
 * whole name, one without against any part of it; a matching folder is skipped with its contents. The rule
 * also skips markers: empty objects without an extension that stand for a folder or a finished job. It also skips
 * the names up to `start_after`.
 */
export function createSkipRule({
  exclude,
  startAfter,
}: Pick<SourceSettings, 'exclude' | 'startAfter'>): SkipRule {
  const patterns = exclude.map(toPattern);
  const ofParts = patterns.filter(({ isOfPath }) => !isOfPath);
  const ofPaths = patterns.filter(({ isOfPath }) => isOfPath);
  return (name, sizeBytes) => {
    // Tools leave such markers: `orders/`, `_SUCCESS`. An empty export has a name like other exports.
    if (sizeBytes === 0 && (name.endsWith('/') || name.endsWith('_$folder$') || !/\.[^./]+$/.test(name)))
      return 'it is an empty marker';
    const isFolder = sizeBytes === null;
    const isStart = !isFolder && name === startAfter;
    if (startAfter !== null && (isStart || isBefore(isFolder ? `${name}/` : name, startAfter)))
      return `it is not after start_after ("${startAfter}")`;
    const parts = ofParts.length === 0 ? [] : name.split('/');
    const match =
      ofPaths.find((pattern) => matches(name, pattern)) ??
      ofParts.find((pattern) => parts.some((part) => matches(part, pattern)));
    return match === undefined ? null : `exclude has "${match.text}"`;
  };
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
