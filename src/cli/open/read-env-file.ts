import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Misled } from '../../config/environment/unused-variables.ts';
import { configurationError } from '../../core/known-error.ts';

/**
 * Sets the variables of a file that the environment does not have.
 *
 * @returns the names of those that the environment has with another value: the file has no effect on them.
 *   Values are never included.
 * @throws KnownError `env_file_unreadable` (exit 2).
 */
export function readEnvFile(path: string): readonly Misled[] {
  const before = { ...process.env };
  try {
    process.loadEnvFile(path);
  } catch (cause) {
    const message = existsSync(path)
      ? 'The environment file cannot be read.'
      : 'The environment file does not exist.';
    const help = 'It must contain lines like NAME=value; see .env.example.';
    throw configurationError({ code: 'env_file_unreadable', message, where: path, help, cause });
  }
  const names = Object.entries(parseEnv(readFileSync(path, 'utf8')))
    .filter(([name, value]) => before[name] !== undefined && before[name] !== value)
    .map(([name]) => name);
  if (names.length === 0) return [];
  return [
    {
      message: `${names.join(', ')}: the environment has a different value than ${path} and takes precedence.`,
      help: `To use the value of the file:  unset ${names.join(' ')}`,
    },
  ];
}
