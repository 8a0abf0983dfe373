import { WILDCARD } from '../model/text/dated-names.ts';
import { parseObjectUri, parseSourceUri, pathOfFileUri } from './parse-source-uri.ts';

/** Returns a function that cuts from the address of a file the folder that all files of its source are in. */
export function nameInSource(sourceUri: string): (uri: string) => string {
  const place = parseSourceUri(sourceUri);
  const pattern = place.kind === 's3' ? (place.glob ?? place.prefix) : place.path;
  const wildcard = pattern.search(WILDCARD);
  const fixed = wildcard < 0 ? pattern : pattern.slice(0, pattern.lastIndexOf('/', wildcard) + 1);
  const folder = fixed === '' || fixed.endsWith('/') ? fixed : `${fixed}/`;
  return (uri) => {
    const path = uri.startsWith('s3:') ? parseObjectUri(uri).key : pathOfFileUri(uri);
    return path.startsWith(folder) ? path.slice(folder.length) : path.slice(path.lastIndexOf('/') + 1);
  };
}
