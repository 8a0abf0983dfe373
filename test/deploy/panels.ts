import { z } from 'zod';

/** Position of a panel on a Grafana dashboard, which is 24 columns wide. */
const GridPlace = z.strictObject({ h: z.int(), w: z.int().max(24), x: z.int(), y: z.int() });

/** Schema of a panel that Grafana can import, for one kind of data source. */
export function panelOf<Source extends z.ZodType, Targets extends z.ZodType>(
  datasource: Source,
  targets: Targets,
) {
  return z.looseObject({
    id: z.int(),
    title: z.string(),
    description: z.string(),
    type: z.enum(['stat', 'table', 'timeseries']),
    datasource,
    gridPos: GridPlace,
    targets,
  });
}

/** Members that every dashboard has. */
export const DASHBOARD = {
  uid: z.string(),
  title: z.string(),
  schemaVersion: z.int().min(36),
  timezone: z.literal('utc'),
};

type Place = z.infer<typeof GridPlace>;

type PlacedPanel = { readonly id: number; readonly title: string; readonly gridPos: Place };

/** Finds panels that have the id of another panel, overlap another panel, or extend beyond the right edge. */
export function findMisplaced(panels: readonly PlacedPanel[]): readonly string[] {
  return panels.flatMap((one, index) => [
    ...(one.gridPos.x + one.gridPos.w > 24 ? [`${one.title}: too far right`] : []),
    ...panels
      .slice(index + 1)
      .filter((other) => other.id === one.id || overlap(one.gridPos, other.gridPos))
      .map((other) => `${one.title} / ${other.title}`),
  ]);
}

function overlap(one: Place, other: Place): boolean {
  return (
    one.x < other.x + other.w &&
    other.x < one.x + one.w &&
    one.y < other.y + other.h &&
    other.y < one.y + one.h
  );
}
