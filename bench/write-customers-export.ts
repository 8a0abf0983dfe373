import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** The header of Shopify's customers export. */
const HEADER =
  'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address Address1,Default Address Address2,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Default Address Phone,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags';

const FIRST_NAMES = ['Mira', 'Jonas', 'Lena', 'Teo', 'Saffi', 'Okoro', 'Nuria', 'Felix', 'Amara', 'Ruben'];
const LAST_NAMES = ['Bakker', 'Öztürk', 'Silva', 'Novák', 'Larsen', 'Rossi', 'Dubois', 'Meyer', 'Kowalski'];
const CITIES = ['Amsterdam', 'Lisboa', 'Kraków', 'Oslo', 'Torino', 'Lyon', 'Leipzig'];

/**
 * Writes made-up customers, about 190 bytes per row, each with a different address. The same number of rows
 * gives the same text.
 */
export async function writeCustomersExport(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path);
  let text = `${HEADER}\r\n`;
  for (let number = 1; number <= rows; number += 1) {
    text += `${customerRow(number)}\r\n`;
    if (text.length < 256 * 1024) continue;
    if (!file.write(text)) await once(file, 'drain');
    text = '';
  }
  file.end(text);
  await once(file, 'finish');
}

function customerRow(number: number): string {
  const first = FIRST_NAMES[number % FIRST_NAMES.length] ?? '';
  const last = LAST_NAMES[number % LAST_NAMES.length] ?? '';
  const city = CITIES[number % CITIES.length] ?? '';
  const phone = `'+3161${String(number).padStart(7, '0')}`;
  const email = `${first.toLowerCase()}.${number}@mail${number % 97}.example.com`;
  const spent = `${(number * 37) % 900}.${String(number % 100).padStart(2, '0')}`;
  return `'9${String(number).padStart(12, '0')},${first},${last},${email},yes,,Main Street ${number % 200},"2nd floor, left",${city},,NL,'${1000 + (number % 8999)}AB,${phone},${phone},no,${spent},${number % 12},,no,"vip, newsletter"`;
}
