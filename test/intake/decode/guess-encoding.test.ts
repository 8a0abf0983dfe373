import { encode } from 'iconv-lite';
import { expect, test } from 'vitest';
import { guessEncoding, otherEncodings } from '../../../src/intake/decode/guess-encoding.ts';

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
  const guessed = guessEncoding(encode(`${text}\ncode\n`, encoding));
  const right = guessed.kind === 'unclear' ? guessed.possible.find((one) => one.encoding === name) : null;
  const words = text.split(',').filter((word) => /[^ -~]/.test(word));
  expect(right?.samples).toEqual(/\d/.test(text) ? lettersOf(text) : words);
});

function lettersOf(text: string): readonly string[] {
  return [...new Set(text.match(/[^\P{L}\0-\x7f]/gu))].sort();
}

test('what a person is asked shows words of the header, and of cells only letters, which name no person', () => {
  const samplesIn = (text: string, name: string): readonly string[] | undefined => {
    const guessed = guessEncoding(encode(text, 'windows-1250'));
    return guessed.kind === 'unclear' ? guessed.possible.find((one) => one.encoding === name)?.samples : [];
  };
  expect(samplesIn('Płatność;Klient\n1;Łukasz Żak\n', 'windows-1250')).toEqual(['Płatność']);
  expect(samplesIn('Order;Client\n1;Łukasz Żak\n', 'windows-1250')).toEqual(['Ł', 'Ż']);
  expect(samplesIn('1;Łukasz Żak\n2;Paweł Łęcki\n', 'windows-1250')).toEqual(['ę', 'Ł', 'ł', 'Ż']);
});

test('encodings in which the words have controls or letters that never stand together are not offered', () => {
  const guessed = guessEncoding(encode('ミア10,レナ5', 'cp932'));
  expect(guessed.kind === 'unclear' && guessed.possible.map(({ encoding }) => encoding)).toEqual([
    'shift_jis',
    'gb18030',
  ]);
});

/** Words with every letter of windows-1252, in the languages that are written in it. */
const WESTERN_TEXTS = [
  'Straße,Müller,Österreich,Ärger,„Zürich“,Größe – 5 €',
  'crème,brûlée,où,Noël,naïve,cœur,Œuvre,L’Haÿ,forêt,ça,maïs,août,Ægide,À bientôt,Île,Ûte',
  'año,Ñandú,corazón,pingüino,árbol,qué,¿Sí?,l·lusió,col·legi,1ª,2º',
  'São João,coração,três,avô,água,põe,Ângela,à vista',
  'città,perché,così,può,più,È vero',
  'Ærø,smørrebrød,Åse,København,blåbær,én,fôr',
  'Åland,Växjö,Örebro,idé,Šakki,Žanna,fräsch',
  'þýðing,Þú,Ísland,æska,föður,Reykjavík,Ðað,nýr,Ýmir,sjór',
  'õun,öö,Tõnu,šokolaad,žürii,ülikool,Õnne',
  'één,coëfficiënt,café,hè,Curaçao,reünie,ruïne,oké',
  'përshëndetje,çaj,tŷ,Dún,Mòr,gwên',
].map((text) => text.replace('tŷ,', ''));

test.each(WESTERN_TEXTS)('letters of the languages of windows-1252 raise no alarm: %s', (text) => {
  expect(guessEncoding(encode(text, 'windows-1252'))).toEqual({ kind: 'known', encoding: 'windows-1252' });
  for (const word of text.split(','))
    expect([word, otherEncodings(word, 'windows-1252')]).toEqual([word, null]);
});

test('the texts above have every letter of windows-1252 but ƒ', () => {
  const letters = new TextDecoder('windows-1252')
    .decode(Uint8Array.from({ length: 128 }, (_, at) => at + 128))
    .replace(/[^\p{L}]|[ƒµˆ]/gu, '')
    .toLowerCase();
  const written = WESTERN_TEXTS.join('').toLowerCase();
  expect([...new Set(letters)].filter((letter) => !written.includes(letter))).toEqual([]);
});

test('Czech and Polish words in windows-1250 do not pass as Western European ones', () => {
  for (const text of ['Jiří,Dvořák', 'příliš', 'Beneš,žluťoučký', 'ŻABA10', 'łódź'])
    expect([text, guessEncoding(encode(text, 'windows-1250')).kind]).toEqual([text, 'unclear']);
});
