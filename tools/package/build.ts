// `npm run build`: compiles the project into dist/, which the package runs. A clone runs its sources and does
// not need it.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build, type ChunkingContext } from 'rolldown';
import { packageFile } from '../../src/core/package.ts';
import { apiTypeSource } from '../documents/api-type-source.ts';
import { escapeBeyondLatin1, joinPackages } from './join-packages.ts';

/** The entry points of the package, by the name of their file in dist/. */
const ENTRIES = {
  main: 'src/main.ts',
  api: 'src/service/create-api.ts',
  sandbox: 'src/sandbox/start-sandbox.ts',
};

/**
 * What is loaded together, with everything that it imports: first what every command needs, then what those need
 * that read the configuration and open the database. As some hundred small files, it takes 15 ms longer to load.
 */
const LOADED_TOGETHER = {
  every: ['src/cli/program.ts'],
  configured: ['jobs/index.ts', 'src/cli/open/open-config.ts'],
};

/** What most commands load of packages with many files. */
const JOINED = ['commander', 'kysely', 'kysely/migration', 'yaml', 'zod'];

const cwd = fileURLToPath(packageFile('.'));

rmSync(packageFile('dist/'), { recursive: true, force: true });
const joined = await joinPackages(JOINED, fileURLToPath(packageFile('dist/joined')));
const { output } = await build({
  cwd,
  input: ENTRIES,
  platform: 'node',
  // Dependencies are not bundled: npm installs, updates and audits them.
  external: (id) => /^[^./]/.test(id) && !JOINED.includes(id),
  plugins: [joined, escapeBeyondLatin1()],
  transform: { target: 'node22.19' },
  // Tree shaking and minifying remove calls that seem to have no effect, such as a decodeURIComponent() in a
  // `try` that only checks whether it throws.
  treeshake: false,
  output: {
    minify: false,
    comments: false,
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: {
      groups: Object.entries(LOADED_TOGETHER).map(([name, roots]) => ({
        debugName: name,
        name: (id, graph) => (isImportedBy(roots, id, graph) ? name : null),
      })),
    },
    sourcemap: true,
    sourcemapExcludeSources: true,
  },
});
const installed = Object.keys(readDependencies());
const missing = listImports().filter(
  (name) =>
    !name.startsWith('.') &&
    !isBuiltin(name) &&
    !installed.some((each) => name === each || name.startsWith(`${each}/`)),
);
if (missing.length > 0)
  throw new Error(`dist/ imports ${missing.join(', ')}, which an install would not bring: see dependencies.`);

const { status } = spawnSync('tsc', ['-p', 'tools/package/tsconfig.types.json'], { cwd, stdio: 'inherit' });
writeFileSync(packageFile('dist/types/src/service/reference/api-type.d.ts'), apiTypeSource());
process.exitCode = status ?? 1;

/** Returns true if a module is one of these, or if one of these imports it, directly or not, before it runs itself. */
function isImportedBy(roots: readonly string[], id: string, graph: ChunkingContext): boolean {
  const found = new Set(roots.map((root) => fileURLToPath(packageFile(root))));
  for (const each of found)
    for (const imported of graph.getModuleInfo(each)?.importedIds ?? []) found.add(imported);
  return found.has(id);
}

/**
 * Lists the packages that the bundle imports, including those that the compiler adds for syntax that older
 * Node versions lack.
 */
function listImports(): readonly string[] {
  const own = new Set(output.map(({ fileName }) => fileName));
  const imports = output.flatMap((file) =>
    file.type === 'chunk' ? [...file.imports, ...file.dynamicImports] : [],
  );
  return [...new Set(imports)].filter((name) => !own.has(name));
}

function readDependencies(): Readonly<Record<string, string>> {
  const { dependencies } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return dependencies;
}
