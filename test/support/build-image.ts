// Builds the Dockerfile without a container engine. Each stage is a folder, in which its steps run as the
// root of a mount namespace of their own, with this machine's /usr and this Node. The base image, which would
// come from a registry, is not tested.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** Folders of this machine that replace the base image. */
const BASE = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc', '/dev', '/proc'].filter((path) =>
  existsSync(path),
);

export type Image = {
  /** The folder that serves as its root. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  /** `uid:gid`. */
  readonly user: string;
  readonly entrypoint: readonly string[];
};

type Step = { readonly word: string; readonly rest: string };

/** Returns true if this machine allows a test to mount folders and change its root. */
export function canBuildImage(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'chroot', '/', 'true'], { stdio: 'ignore' });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

/** Runs the steps of the Dockerfile below `folder`, each stage in a folder of its own. */
export function buildImage(folder: string): Image {
  const stages = new Map<string, Image>();
  let image: Image = emptyImage(folder);
  for (const { word, rest } of readSteps()) {
    const [, name = 'last'] = / AS (\w+)$/.exec(rest) ?? [];
    if (word === 'FROM') image = emptyImage(join(folder, name));
    else image = apply(image, { word, rest }, stages);
    if (word === 'FROM') mkdirSync(image.root, { recursive: true });
    for (const [stage, { root }] of [...stages, [name, image] as const])
      if (root === image.root) stages.set(stage, image);
    if (word === 'FROM') stages.set(name, image);
  }
  return image;
}

/**
 * Returns the command line to start a command in an image, as `docker run --read-only --tmpfs /tmp` would.
 *
 * @param options.mounts folders of this machine by their path in the image.
 * @param options.readOnly if true, the command cannot write to the image.
 */
export function runCommand(
  image: Image,
  command: readonly string[],
  options: {
    readonly readOnly: boolean;
    readonly mounts: Readonly<Record<string, string>>;
    readonly env?: Readonly<Record<string, string>>;
  },
): { readonly program: string; readonly args: readonly string[] } {
  const { root, user, workdir } = image;
  const lines = ['set -e'];
  const inRoot = (path: string): string => `'${join(root, path)}'`;
  // A root that is bind-mounted on itself can be made read-only. Folders that are mounted into it afterwards
  // stay writable.
  lines.push(`mount --bind '${root}' '${root}'`);
  const mounts = { ...Object.fromEntries(BASE.map((path) => [path, path])), ...options.mounts };
  for (const place of [...Object.keys(mounts), '/tmp', '/opt/node'])
    mkdirSync(join(root, place), { recursive: true });
  if (options.readOnly) lines.push(`mount -o remount,bind,ro '${root}'`);
  for (const [place, path] of Object.entries(mounts)) lines.push(`mount --rbind '${path}' ${inRoot(place)}`);
  lines.push(`mount --bind '${dirname(dirname(process.execPath))}' ${inRoot('/opt/node')}`);
  lines.push(`mount -t tmpfs tmpfs ${inRoot('/tmp')}`);
  const env = { PATH: '/opt/node/bin:/usr/bin:/bin', HOME: '/tmp', ...image.env, ...options.env };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  lines.push(`exec chroot --userspec=${user} '${root}' env -i "$@"`);
  const inside = ['sh', '-c', `cd ${workdir} && exec "$@"`, 'sh', ...command];
  return {
    program: 'unshare',
    args: ['--mount', 'sh', '-c', lines.join('\n'), 'sh', ...variables, ...inside],
  };
}

function emptyImage(root: string): Image {
  return { root, env: {}, workdir: '/', user: '0:0', entrypoint: [] };
}

function apply(image: Image, { word, rest }: Step, stages: ReadonlyMap<string, Image>): Image {
  if (word === 'WORKDIR') {
    mkdirSync(join(image.root, rest), { recursive: true });
    return { ...image, workdir: rest };
  }
  if (word === 'ENV') return { ...image, env: { ...image.env, ...readPairs(rest) } };
  if (word === 'USER') return { ...image, user: rest };
  if (word === 'ENTRYPOINT') return { ...image, entrypoint: JSON.parse(rest) as string[] };
  if (word === 'COPY') copy(image, rest, stages);
  else if (word === 'RUN') run(image, rest);
  else if (!['ARG', 'LABEL', 'VOLUME', 'EXPOSE', 'STOPSIGNAL', 'HEALTHCHECK', 'CMD'].includes(word))
    throw new Error(`the Dockerfile has a step that buildImage does not know: ${word}`);
  return image;
}

function copy({ root, workdir }: Image, rest: string, stages: ReadonlyMap<string, Image>): void {
  const [, stage, paths = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(rest) ?? [];
  const sources = paths.split(' ');
  const target = sources.pop() ?? '';
  const isSent = stage === undefined ? readIgnore() : () => true;
  for (const source of sources) {
    const from = stage === undefined ? join(ROOT, source) : join(stages.get(stage)?.root ?? '', source);
    const to = join(root, workdir, target.endsWith('/') ? join(target, basename(source)) : target);
    cpSync(from, to, { recursive: true, filter: (path) => isSent(relative(ROOT, path)) });
  }
}

function run(image: Image, command: string): void {
  const npm = dirname(
    dirname(realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())),
  );
  const [registry = '', cache = ''] = ['registry', 'cache'].map((key) =>
    execFileSync('npm', ['config', 'get', key], { encoding: 'utf8' }).trim(),
  );
  const env = { npm_config_registry: registry, npm_config_cache: '/cache' };
  const mounts = { '/opt/npm': npm, '/cache': cache };
  const shell = `npm() { node /opt/npm/bin/npm-cli.js "$@"; }\n${command}`;
  const { program, args } = runCommand(image, ['sh', '-c', shell], { readOnly: false, mounts, env });
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/**
 * Returns a filter for the paths of the clone that are sent to the engine, according to .dockerignore:
 * everything is excluded except the lines with `!`.
 */
function readIgnore(): (path: string) => boolean {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && line !== '*' && !line.startsWith('#'));
  const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
  const sent = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const left = lines.filter((line) => !line.startsWith('!'));
  return (path) =>
    sent.some((folder) => isBelow(path, folder)) &&
    !left.some((pattern) =>
      pattern.startsWith('**/') ? path.split('/').includes(pattern.slice(3)) : isBelow(path, pattern),
    );
}

function readSteps(): readonly Step[] {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  return text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^\s*(\w+) (.*)$/.exec(line) ?? [];
      return { word, rest };
    });
}

function readPairs(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .trim()
      .split(/\s+/)
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** Returns the total size of all files below a folder of the image, in bytes. */
export function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + readFileSync(join(entry.parentPath, entry.name)).length, 0);
}
