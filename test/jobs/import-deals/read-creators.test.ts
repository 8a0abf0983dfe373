import { expect, it } from 'vitest';
import { readCreators } from '../../../jobs/import-deals/read-creators.ts';
import { layoutFor } from '../../../src/intake/layout/layout-for.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import { resolveHeader } from '../../../src/intake/layout/resolve-header.ts';
import type { ExclusionRule } from '../../../src/intake/layout/to-layout.ts';

/** Returns what one row states; for a rejected row, `code at column`; for one that is passed over, why. */
function read(
  row: Readonly<Record<string, string>>,
  words: Readonly<Record<string, string>> = {},
  exclusions: readonly ExclusionRule[] = [],
) {
  const generic = layoutFor(loadLayout('generic-creators'), 'creators');
  if (generic === null) throw new Error('generic-creators is no layout of creators');
  const layout = { ...generic, exclusions };
  const header = resolveHeader(Object.keys(row), layout);
  const result = readCreators(header, { ...layout, status: { ...layout.status, words } })({
    cells: Object.values(row),
    line: 2,
    record: 1,
  });
  if (result.kind === 'row') return result.row;
  return result.kind === 'fault' ? `${result.fault.code} at ${result.column?.name}` : result.why;
}

it.each([
  ['@Mia.Glow', 'Instagram', 'Mia.Glow', 'mia.glow', 'instagram'],
  ['mia_glow ', 'IG', 'mia_glow', 'mia_glow', 'instagram'],
  ['https://www.instagram.com/mia.glow/?hl=en', '', 'mia.glow', 'mia.glow', 'instagram'],
  ['https://www.tiktok.com/@mia.glow', 'TikTok', 'mia.glow', 'mia.glow', 'tiktok'],
  ['m.youtube.com/@MiaGlow/videos', 'YT', 'MiaGlow', 'miaglow', 'youtube'],
  ['https://youtube.com/c/MiaGlow', '', 'MiaGlow', 'miaglow', 'youtube'],
  ['mia', 'Twitch', 'mia', 'mia', 'twitch'],
  ['Mía-Glow', 'YouTube', 'Mía-Glow', 'mía-glow', 'youtube'],
])('reads %s on %s as the handle %s', (written, platform, handle, handleFolded, isOn) => {
  expect(read({ Handle: written, Platform: platform })).toMatchObject({
    handle,
    handleFolded,
    platform: isOn,
  });
});

it.each([
  [{ handle: 'Mia Glow', platform: 'instagram' }, 'bad_handle at handle'],
  [{ handle: 'mia@example.com', platform: 'instagram' }, 'address_in_value at handle'],
  [{ handle: 'https://www.instagram.com/p/Cxyz/', platform: '' }, 'no_profile at handle'],
  [{ handle: 'https://youtu.be/abc', platform: 'youtube' }, 'no_profile at handle'],
  [{ handle: 'https://youtube.com/channel/UC123', platform: 'youtube' }, 'no_profile at handle'],
  [{ handle: 'https://tiktok.com/@mia', platform: 'instagram' }, 'other_platform at platform'],
  [{ handle: 'https://vm.tiktok.com/ZMabc/', platform: 'tiktok' }, 'no_profile at handle'],
  [{ handle: 'https://www.instagram.com/tv/Cxyz/', platform: 'instagram' }, 'no_profile at handle'],
  [{ handle: '10-Mar', platform: 'instagram' }, 'bad_handle at handle'],
  [{ handle: 'mía', platform: 'tiktok' }, 'bad_handle at handle'],
  [{ handle: 'm'.repeat(31), platform: 'instagram' }, 'bad_handle at handle'],
  [{ handle: 'mia', platform: '' }, 'missing_value at platform'],
  [{ handle: '', platform: 'tiktok' }, 'missing_value at handle'],
  [{ handle: 'mia', platform: 'instagram, tiktok' }, 'bad_platform at platform'],
  [{ handle: 'mia', platform: 'tiktok', brand_id: 'Acme' }, 'bad_brand at brand_id'],
  [{ handle: 'mia', platform: 'tiktok', stage: 'Contacted' }, 'bad_stage at stage'],
  [{ handle: 'mia', platform: 'tiktok', status: 'maybe' }, 'unknown_status at status'],
  [{ handle: 'mia', platform: 'tiktok', commission: '0.15' }, 'unclear_percent at commission'],
  [{ handle: 'mia', platform: 'tiktok', commission: '120%' }, 'bad_percent at commission'],
  [{ handle: 'mia', platform: 'tiktok', code: 'mia@example.com' }, 'address_in_value at code'],
  [{ handle: 'mia', platform: 'tiktok', code: 'N/A' }, 'no_value at code'],
  [{ handle: 'mia', platform: 'tiktok', note: '-' }, 'no_value at note'],
])('rejects %o: %s', (row, said) => {
  expect(read(row)).toBe(said);
});

it.each([
  ['15', '15'],
  ['15%', '15'],
  ['12,5 %', '12.5'],
  ['0.5%', '0.5'],
  ['0', '0'],
  ['100', '100'],
])('reads the percentage %s as %s', (written, percent) => {
  expect(read({ handle: 'mia', platform: 'tiktok', 'Discount %': written })).toMatchObject({
    codePercent: percent,
  });
});

it('translates the words of a list by its layout, and masks e-mail addresses in notes', () => {
  const row = {
    Handle: 'mia',
    Platform: 'tiktok',
    Status: 'Signed Up',
    Notes: 'write to mia@example.com',
    'Coupon Code': ' MIA10 ',
  };
  expect(read(row, { signed_up: 'active' })).toMatchObject({
    isActive: true,
    note: 'write to m***@***',
    code: 'MIA10',
    dealId: null,
    stage: null,
  });
});

it.each([
  ...['Application status', 'Approved', 'Accepted', 'Decision', 'Outreach Status', 'Bewerbungsstatus'],
  ...['Declined', 'Rejected', 'Blacklisted', 'Do not contact', 'Opted out', 'Removed', 'Unsubscribed at'],
])('holds a list with a column %s that the layout does not read, since a deal cannot be removed', (name) => {
  expect(() => read({ handle: 'mia', platform: 'tiktok', [name]: '' })).toThrow(
    expect.objectContaining({
      reason: expect.objectContaining({
        code: 'column_missing',
        message: expect.stringContaining(`"${name}"`),
      }),
    }),
  );
});

it.each(['Name', 'Country', 'Followers', 'Application text', 'Accepted payment methods', 'Email status'])(
  'reads a list with a column %s, which does not say who gets a deal',
  (name) => {
    expect(read({ handle: 'mia', platform: 'tiktok', [name]: 'declined' })).toMatchObject({ handle: 'mia' });
  },
);

it('passes over the creators that the exclusions of a layout name, and rejects those with a word that they do not', () => {
  const rule: ExclusionRule = {
    reason: 'declined',
    columns: ['Application status'],
    equals: ['declined'],
    noneOf: null,
    matches: null,
    notBlank: false,
    unless: ['approved'],
  };
  const of = (word: string) =>
    read({ handle: 'mia', platform: 'tiktok', 'Application status': word }, {}, [rule]);
  expect([of('Declined'), of('Waitlist')]).toEqual(['declined', 'unknown_kind at Application status']);
  expect(of('approved')).toMatchObject({ handle: 'mia' });
  expect(() => read({ handle: 'mia', platform: 'tiktok' }, {}, [rule])).toThrow(
    expect.objectContaining({ reason: expect.objectContaining({ code: 'column_missing' }) }),
  );
});
