import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { toUuidArrayParameter } from '../../src/db/array-parameters.ts';
import { ENGINES, useDatabase } from '../intake/story.ts';

describe.each(ENGINES)('an array of UUIDs on %s', (engine) => {
  const database = useDatabase(engine);

  it.each([0, 1, 2, 5_000])('arrives unchanged with %i elements', async (count) => {
    const uuids = Array.from({ length: count }, () => randomBytes(16).toString('hex'));
    const { rows } = await sql<{ type: string; uuids: string[] | null }>`
      select pg_typeof(given)::text as type,
        (select array_agg(replace(u::text, '-', '') order by place) from unnest(given) with ordinality as g(u, place)) as uuids
      from (select ${toUuidArrayParameter(uuids)}::uuid[] as given) as g`.execute(database());
    expect(rows).toEqual([{ type: 'uuid[]', uuids: count === 0 ? null : uuids }]);
  });
});
