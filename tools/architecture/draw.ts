import { FLOORS } from './floors.ts';

export const PICTURE_FILE = new URL('../../docs/architecture.svg', import.meta.url);

/** A module and what it imports, as paths from the root of the checkout. */
type Imports = { readonly path: string; readonly imports: readonly string[] };

const ROW = 26;
const TOP = 110;
const NAMES = 110;
const HOLDS = 560;
const CELL = 20;

/**
 * Draws the folders as floors, the entry on top. Beside each, a square for each folder that it imports, in
 * the order of the floors: as imports run downwards only, no square lies left of the diagonal.
 *
 * @returns an SVG image, the same for the same imports.
 */
export function drawArchitecture(modules: readonly Imports[]): string {
  const floors = FLOORS.toReversed();
  const pairs = importsBetween(modules);
  const left = NAMES + HOLDS;
  const xOf = (column: number) => left + column * CELL + CELL / 2;
  const rows = floors.flatMap(({ name, holds }, row) => {
    const y = TOP + row * ROW;
    const squares = floors.flatMap(({ name: to }, column) => {
      const at = `x="${xOf(column) - 7}" y="${y + 3}" width="14" height="14"`;
      if (to === name) return [`<rect ${at} class="self"/>`];
      return pairs.has(`${name} ${to}`) ? [`<rect ${at}><title>${name} imports ${to}</title></rect>`] : [];
    });
    return [
      `<rect x="10" y="${y}" width="${left - 20}" height="20" rx="3" class="floor"/>`,
      `<text x="18" y="${y + 15}" class="name">${name}</text><text x="${NAMES}" y="${y + 15}">${holds}</text>`,
      ...squares,
    ];
  });
  const labels = floors.map(
    ({ name }, column) =>
      `<text transform="translate(${xOf(column) + 4} ${TOP - 8}) rotate(-60)">${name}</text>`,
  );
  const [width, height] = [left + floors.length * CELL + 60, TOP + floors.length * ROW + 10];
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The folders of the program, and which others each imports">`,
    '<style>',
    'svg { background: #fff } text { font: 13px system-ui, sans-serif; fill: #333 } .name { font-weight: 600 }',
    'rect { fill: #3568a8 } .floor { fill: #f3f5f8; stroke: #c9d2dd } .self { fill: #e3e7ed }',
    '</style>',
    `<text x="10" y="${TOP - 10}">A square: the folder of the row imports that of the column.</text>`,
    ...labels,
    ...rows,
    '</svg>',
  ].join('\n')}\n`;
}

/** Returns the pairs of different folders of which the first imports the second, as `ledger db`. */
function importsBetween(modules: readonly Imports[]): ReadonlySet<string> {
  return new Set(
    modules.flatMap(({ path, imports }) => imports.map((to) => `${floorOf(path)} ${floorOf(to)}`)),
  );
}

/** `src/ledger/claim.ts` → `ledger`, `jobs/x/y.ts` → `jobs`. Empty for what is not ours. */
function floorOf(path: string): string {
  return /^(?:src\/([a-z]+)|(jobs)\/)/.exec(path)?.slice(1).find(Boolean) ?? '';
}
