import { encode } from 'iconv-lite';
import { expect, test } from 'vitest';
import { guessEncoding } from '../../../src/pipeline/recognise/guess-encoding.ts';

test.each([
  'Ort,Größe\nStraße,Müller “x” 10 € – ½ m²',
  'Número,Cupón,MIÑA10,¿qué? ¡sí!,l’été,créée,São João,ação',
  'Björk,Åsa,Ærø,Œuvre,cœur,naïve,N°5,1º,VIP™',
])('Western European words need no question: %s', (text) => {
  expect(guessEncoding(encode(text, 'windows-1252'))).toEqual({ kind: 'known', encoding: 'windows-1252' });
});

test.each([
  ['cp932', 'コード,ミア10', 'shift_jis'],
  ['cp932', 'ﾐｱ10', 'shift_jis'],
  ['gbk', '小米10', 'gb18030'],
  ['gbk', '李10', 'gb18030'],
  ['cp949', '안녕10', 'euc-kr'],
  ['windows-1250', 'złoty,ŻABA10', 'windows-1250'],
  ['windows-1251', 'код,МИА10', 'windows-1251'],
  ['windows-1253', 'Ελλάδα10', 'windows-1253'],
  ['windows-1254', 'kırmızı,İZMİR10', 'windows-1254'],
  ['macintosh', 'Größe,Müller', 'macintosh'],
])('%s is not taken for windows-1252, and is among what a person is asked: %s', (encoding, text, name) => {
  const guessed = guessEncoding(encode(`code\n${text}\n`, encoding));
  const right = guessed.kind === 'unclear' ? guessed.possible.find((one) => one.encoding === name) : null;
  expect(right?.samples.join(',')).toBe(
    text
      .split(',')
      .filter((word) => /[^ -~]/.test(word))
      .join(','),
  );
});

test('encodings in which the words have controls or letters that never stand together are not offered', () => {
  const guessed = guessEncoding(encode('ミア10,レナ5', 'cp932'));
  expect(guessed.kind === 'unclear' && guessed.possible.map(({ encoding }) => encoding)).toEqual([
    'shift_jis',
    'gb18030',
  ]);
});
