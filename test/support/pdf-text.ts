import { inflateSync } from 'node:zlib';

/** The text of a PDF of ours, a line for each piece that was placed, page by page. For standard fonts only. */
export function pdfText(pdf: Buffer): readonly string[] {
  const bytes = pdf.toString('latin1');
  return [...bytes.matchAll(/\/Filter \/FlateDecode\s*>>\s*stream\n([\s\S]*?)\nendstream/g)].flatMap(
    ([, stream = '']) => {
      const content = inflateSync(Buffer.from(stream, 'latin1')).toString('latin1');
      // A piece is an array of hexadecimal strings with kerning between them.
      return [...content.matchAll(/\[([^\]]*)\] TJ/g)].map(([, pieces = '']) =>
        new TextDecoder('windows-1252').decode(
          Buffer.from([...pieces.matchAll(/<([0-9a-f]*)>/g)].map(([, hex]) => hex).join(''), 'hex'),
        ),
      );
    },
  );
}
