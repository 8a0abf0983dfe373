import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawArchitecture, PICTURE_FILE } from '../tools/architecture/draw.ts';
import { FLOORS } from '../tools/architecture/floors.ts';
import { readModules, type SourceModule } from './support/read-modules.ts';

const modules = readModules('src', 'jobs');

/** The areas of the program, lowest first. Each may import itself and what comes before it. */
const AREAS = FLOORS.map(({ name }) => name);

/** The service on your machine stands for the real one, so it knows nothing of what talks to it. */
const SANDBOX_MAY_IMPORT = ['core', 'service', 'sandbox'];

/**
 * Packages of which only pure functions are used. `core` may use them, because they depend on no project
 * code, file or network. It asks node-cron only what an expression means.
 */
const PURE_PACKAGES: readonly string[] = ['csv-parse', 'leven', 'node-cron'];

/** No lower area may import these. */
const TOP = ['cli', 'main'];

/** Folders that hold the queries of a kind of job, besides its files `report`, `explain`, `read-…` and `decide-…`. */
const QUERIES_OF_KINDS = /^jobs\/[^/]+\/((decide|backfill)\/.*|(report|explain|(read|decide)-[^/]+)\.ts)$/;

/** Packages that only some folders may use, so that SQL, S3, HTTP to the service and HTTP servers each have one home. */
const PACKAGES: readonly { what: string; names: RegExp; users: RegExp; instead: string }[] = [
  {
    what: 'SQL is spoken',
    names: /^(pg|kysely|@electric-sql\/pglite)$/,
    users:
      /^src\/(db|ops|intake|ledger|rollups|runs|mirror|codes|privacy|money|reports|decisions|monitoring\/notify)\//,
    instead: 'put the query into one of those, or into the report, a read-… or a decide-… of a kind of job',
  },
  {
    what: 'work is queued',
    names: /^pg-boss$/,
    users: /^src\/runs\/workers\//,
    instead: 'hand out units by runs/workers/spread-units.ts',
  },
  {
    what: 'AWS is asked',
    names: /^@aws-sdk\//,
    users: /^src\/(store|config\/aws)\//,
    instead: 'let store/ read a store, and config/aws/ a secret',
  },
  {
    what: 'the service is called',
    names: /^undici$/,
    users: /^src\/service\//,
    instead: 'add the operation to service/contract/ and call it',
  },
  {
    what: 'HTTP is served',
    names: /^(fastify|@fastify\/.*|fastify-.*)$/,
    users: /^src\/(sandbox|ledger\/receiver|monitoring\/observe|console)\//,
    instead: 'serve it from one of those',
  },
];

/** Files that run when they are imported, by design. */
const SCRIPTS = ['src/main.ts'];

describe('imports run downwards, from main to core', () => {
  it('every folder of src/ has a floor in tools/architecture/floors.ts: add yours', () => {
    expect(modules.map(({ path }) => areaOf(path)).filter((area) => !AREAS.includes(area))).toEqual([]);
  });

  it('core imports nothing but core: move what needs more into the folder that needs it', () => {
    expect(
      findings(
        modules.filter(({ path }) => areaOf(path) === 'core'),
        (module) =>
          imported(
            module,
            (to) => areaOf(to) !== 'core' && !PURE_PACKAGES.includes(to) && !to.startsWith('node:'),
          ),
      ),
    ).toEqual([]);
  });

  it('a folder imports only itself and the folders below it: move what both need to the lower one, or pass it as an argument', () => {
    expect(
      findings(modules, (module) =>
        imported(
          module,
          (to) => isOurs(to) && AREAS.indexOf(areaOf(to)) > AREAS.indexOf(areaOf(module.path)),
        ),
      ),
    ).toEqual([]);
  });

  it('the sandbox imports only service and core: it is the other side of the API', () => {
    const sandbox = modules.filter(({ path }) => areaOf(path) === 'sandbox');
    expect(
      findings(sandbox, (module) =>
        imported(module, (to) => isOurs(to) && !SANDBOX_MAY_IMPORT.includes(areaOf(to))),
      ),
    ).toEqual([]);
  });

  it('docs/architecture.svg shows these imports (npm run schema draws it)', () => {
    expect(readFileSync(PICTURE_FILE, 'utf8')).toBe(drawArchitecture(modules));
  });

  it('a kind of job imports nothing from another one: move what both need into src/', () => {
    const kindOf = (path: string) => /^jobs\/([^/]+)\//.exec(path)?.[1];
    const ofKinds = modules.filter(({ path }) => kindOf(path) !== undefined);
    expect(
      findings(ofKinds, (module) =>
        imported(module, (to) => kindOf(to) !== undefined && kindOf(to) !== kindOf(module.path)),
      ),
    ).toEqual([]);
  });

  it('the scanner of records has one entrance: import src/intake/csv/records/record-reader.ts', () => {
    const folder = 'src/intake/csv/records/';
    const outside = modules.filter(({ path }) => !path.startsWith(folder));
    const entrance = `${folder}record-reader.ts`;
    expect(
      findings(outside, (module) => imported(module, (to) => to.startsWith(folder) && to !== entrance)),
    ).toEqual([]);
  });

  it('render loads only render and core: a report computes what it shows', () => {
    const render = modules.filter(({ path }) => areaOf(path) === 'render');
    expect(
      findings(render, ({ loads }) =>
        loads.filter((to) => isOurs(to) && !['render', 'core'].includes(areaOf(to))),
      ),
    ).toEqual([]);
  });

  it('the program loads only what defines its commands: import the rest in their actions, so that --help is quick', () => {
    const isLight = (path: string) =>
      ['cli', 'core', 'render'].includes(areaOf(path)) ||
      /^(commander|node:(fs|module|util)|src\/service\/contract\/webhook-types\.ts)$/.test(path);
    expect([...loadedWith('src/cli/program.ts')].filter((path) => !isLight(path))).toEqual([]);
  });

  it('the list of jobs loads only what checks and describes the configuration: import the rest in the function that needs it, so that commands start quickly', () => {
    const mayLoad = ['jobs', 'config', 'core', 'render', 'reports', 'codes', 'db'];
    // The description of the service is a part of the configuration.
    const isDescription = (path: string) =>
      /^src\/service\/(description\/|contract\/(webhook-types|operation-names)\.ts$)/.test(path);
    const isLight = (path: string) => mayLoad.includes(areaOf(path)) || isDescription(path);
    expect([...loadedWith('jobs/index.ts')].filter((path) => isOurs(path) && !isLight(path))).toEqual([]);
  });

  it('nothing imports cli or main: give the value to the function as an argument', () => {
    const below = modules.filter(({ path }) => !TOP.includes(areaOf(path)));
    expect(findings(below, (module) => imported(module, (to) => TOP.includes(areaOf(to))))).toEqual([]);
  });

  it.each(PACKAGES)('$what only in its folders: elsewhere, $instead', ({ what, names, users }) => {
    const isQuery = (path: string) => what === 'SQL is spoken' && QUERIES_OF_KINDS.test(path);
    const elsewhere = modules.filter(({ path }) => !users.test(path) && !isQuery(path));
    expect(findings(elsewhere, (module) => imported(module, (to) => names.test(to)))).toEqual([]);
  });

  it('only src/monitoring/observe/telemetry uses OpenTelemetry, and it is loaded only if a command needs it: import it in an action', () => {
    const folder = 'src/monitoring/observe/telemetry/';
    const others = modules.filter(({ path }) => !path.startsWith(folder));
    const isTelemetry = (to: string) => to.startsWith('@opentelemetry/') || to.startsWith(folder);
    expect(findings(others, ({ loads }) => loads.filter(isTelemetry))).toEqual([]);
    expect(findings(others, (module) => imported(module, (to) => to.startsWith('@opentelemetry/')))).toEqual(
      [],
    );
  });

  it('the AWS SDK is loaded only when AWS is used: import it in the function that needs it', () => {
    expect(findings(modules, ({ loads }) => loads.filter((to) => to.startsWith('@aws-sdk/')))).toEqual([]);
  });

  it('no modules import each other in a circle, not even types: move what both need into a third', () => {
    expect(findCircles()).toEqual([]);
  });
});

describe('importing a module has no side effects', () => {
  it('nothing is constructed, started or awaited at import: do it in a function that receives what it needs', () => {
    const imported = modules.filter(({ path }) => !SCRIPTS.includes(path));
    expect(findings(imported, ({ constructs }) => constructs)).toEqual([]);
  });

  it('the environment is read in cli, and in store and config/aws for the standard AWS chain: elsewhere, take the value as an argument', () => {
    const below = modules.filter(
      ({ path }) => ![...TOP, 'store'].includes(areaOf(path)) && !path.startsWith('src/config/aws/'),
    );
    expect(findings(below, ({ environmentReads }) => environmentReads.map((line) => `line ${line}`))).toEqual(
      [],
    );
  });
});

describe('files are named after what they do', () => {
  it('a folder has 20 files at most: group what belongs together, or merge what only a neighbour uses', () => {
    const folders = Map.groupBy(modules, ({ path }) => dirname(path));
    const full = [...folders].filter(([, files]) => files.length > 20);
    expect(full.map(([folder, files]) => `${folder}: ${files.length} files`)).toEqual([]);
  });

  it('names are kebab-case and specific: no utils, helpers, common, misc, manager', () => {
    const vague = /(^|\/|-)(utils?|helpers?|common|misc|shared|managers?)(\/|\.ts$)/;
    const kebab = /^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/;
    expect(modules.map(({ path }) => path).filter((path) => vague.test(path) || !kebab.test(path))).toEqual(
      [],
    );
  });

  it('a folder with an index.ts lists all of its files there: add yours to the list', () => {
    expect(modules.filter(({ path }) => basename(path) === 'index.ts').flatMap(findUnlisted)).toEqual([]);
  });
});

function isOurs(path: string): boolean {
  return path.startsWith('src/') || path.startsWith('jobs/');
}

/**
 * Returns the area of a path: `src/ledger/claim.ts` → `ledger`, `src/main.ts` → `main`, `jobs/x.ts` → `jobs`,
 * `pg` → ``.
 */
function areaOf(path: string): string {
  if (path.startsWith('jobs/')) return 'jobs';
  return path.startsWith('src/') ? (path.split('/')[1] ?? '').replace(/\.ts$/, '') : '';
}

function imported(module: SourceModule, isWrong: (to: string) => boolean): readonly string[] {
  return module.imports.filter(isWrong);
}

/** Returns a module and all that is loaded with it. */
function loadedWith(start: string): ReadonlySet<string> {
  const loaded = new Set([start]);
  for (const path of loaded)
    for (const to of modules.find((module) => module.path === path)?.loads ?? []) loaded.add(to);
  return loaded;
}

/** Returns one line per violation, so that a failure names the file. */
function findings(
  among: readonly SourceModule[],
  find: (module: SourceModule) => readonly string[],
): readonly string[] {
  return among.flatMap((module) => find(module).map((what) => `${module.path}: ${what}`));
}

/**
 * Returns the files in the index's folder that the index reaches neither directly nor through other files of
 * the folder.
 */
function findUnlisted(index: SourceModule): readonly string[] {
  const folder = dirname(index.path);
  const siblings = modules.filter(({ path }) => dirname(path) === folder);
  const reached = new Set([index.path]);
  for (const path of reached) {
    const module = siblings.find((sibling) => sibling.path === path);
    for (const to of module?.imports ?? []) if (dirname(to) === folder) reached.add(to);
  }
  return siblings.map(({ path }) => path).filter((path) => !reached.has(path));
}

function findCircles(): readonly string[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const done = new Set<string>();
  const circles: string[] = [];
  function follow(path: string, way: readonly string[]): void {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' → '));
    if (way.includes(path) || done.has(path)) return;
    for (const to of byPath.get(path)?.imports ?? []) follow(to, [...way, path]);
    done.add(path);
  }
  for (const { path } of modules) follow(path, []);
  return circles;
}
