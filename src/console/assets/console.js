// What the pages do beyond links and forms. Each of them works without this file: it only keeps a page up to date, and adds keys.

const script = document.currentScript;
const main = () => document.getElementById('main');

// On a phone the tabs are one line that scrolls: it begins with the current one in view.
document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

// Updates. The server says that something has changed; the page is then fetched again and morphed, so that focus, scroll and selection stay.
let isPaused = false;
let isStale = false;

/** Whether somebody has begun to fill in a form that changes something: it must keep saying what they saw. */
function isFilledIn() {
  const forms = [...document.querySelectorAll('main form[method="post"]')];
  // Rows that are ticked are a decision that has begun, too, even if the next page is not a change yet.
  const fields = [
    ...forms.flatMap((form) => [...form.elements]),
    ...document.querySelectorAll('main input[form]'),
  ];
  return fields.some(({ type, checked, defaultChecked, value, defaultValue }) =>
    type === 'radio' || type === 'checkbox'
      ? checked !== defaultChecked
      : defaultValue !== undefined && value !== defaultValue,
  );
}

/** What a person has opened, and the answer to a form, would be gone from a new page. */
const isOpened = () => main()?.querySelector('details[open]:not([data-open]), [data-answer]');

function refresh() {
  const isTyping = main()?.querySelector('input:focus, textarea:focus, select:focus, dialog[open]');
  isStale = isPaused || document.hidden || Boolean(isTyping) || isFilledIn() || Boolean(isOpened());
  if (isStale) return;
  void window.htmx.ajax('GET', shown, { target: '#main', select: '#main', swap: 'outerMorph' }).then(follow);
}

/** What is around the page, and the bar of what is chosen, say the same as the page. */
function follow() {
  // What came may be no page of the console, such as that of a proxy.
  const counts = main()?.dataset.waits?.split(' ');
  if (counts === undefined) return;
  for (const [index, badge] of document.querySelectorAll('.waits').entries()) {
    badge.textContent = counts[index];
    badge.title = badge.title.replace(/^\S+/, counts[index]);
    badge.hidden = counts[index] === '0';
  }
  showChosen();
}

// The result of a form is told once: a page that is loaded again does not repeat it, and one that is kept up to date keeps it.
const shown = location.href;
const address = new URL(shown);
if (address.searchParams.has('done')) {
  address.searchParams.delete('done');
  history.replaceState(null, '', address);
}

const live = document.querySelector('.live');
const lost = document.querySelector('.lost');
live.hidden = false;
const events = new EventSource(script.dataset.live);
events.addEventListener('changed', refresh);
// After a restart of the server something may have changed that nobody told of.
let wasOpen = false;
events.addEventListener('open', () => {
  lost.hidden = true;
  if (wasOpen) refresh();
  wasOpen = true;
});
events.addEventListener('error', () => {
  lost.hidden = false;
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && isStale) refresh();
});

live.querySelector('[data-pause]').addEventListener('click', ({ currentTarget }) => {
  isPaused = !isPaused;
  currentTarget.setAttribute('aria-pressed', String(isPaused));
  currentTarget.textContent = isPaused ? 'Resume updates' : 'Pause updates';
  if (!isPaused) refresh();
});

// Suggestions, while a person types into the search, or into a field that takes a creator, deal, code or file.
const find = document.querySelector('[data-suggest]');
const SUGGESTED = {
  ...{ q: '', creator: 'creator', handle: 'creator', influencer_handle: 'creator' },
  ...{ deal: 'deal', deal_id: 'deal', code: 'code', file: 'file' },
};
let asked = 0;
document.addEventListener('input', ({ target }) => {
  const kind = SUGGESTED[target.name];
  if (kind === undefined || target.list === undefined || (target.list ?? find.list) !== find.list) return;
  target.setAttribute('list', find.list.id);
  clearTimeout(asked);
  asked = setTimeout(async () => {
    const url = new URL(find.dataset.suggest, location.href);
    url.searchParams.set('q', target.value);
    url.searchParams.set('kind', kind);
    const answer = target.value.trim().length < 2 ? null : await fetch(url).catch(() => null);
    const lines = answer?.ok ? (await answer.text()).split('\n') : [];
    const names = lines.filter(Boolean).map((line) => line.split('\t'));
    find.list.replaceChildren(
      ...names.map(([name, note]) => new Option(note ? `${name} (${note})` : name, name)),
    );
  }, 150);
});

// Choosing rows: the bar of a list says how many are chosen, and how much money that is.
const boxesOf = (form) => [...document.querySelectorAll(`input[type=checkbox][form="${CSS.escape(form)}"]`)];

function addUp(amounts) {
  const sums = new Map();
  for (const [number, currency] of amounts.map((amount) => amount.split(' '))) {
    const digits = number.split('.')[1]?.length ?? 0;
    const { sum = 0, most = 0 } = sums.get(currency) ?? {};
    sums.set(currency, { sum: sum + Number(number.replaceAll(',', '')), most: Math.max(most, digits) });
  }
  return [...sums]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(
      ([currency, { sum, most }]) =>
        `${sum.toLocaleString('en', { minimumFractionDigits: most, maximumFractionDigits: most })} ${currency}`,
    )
    .join(', ');
}

function showChosen() {
  for (const bar of document.querySelectorAll('[data-bar]')) {
    const chosen = boxesOf(bar.dataset.bar).filter(({ checked }) => checked);
    const amount = addUp(chosen.flatMap(({ dataset }) => dataset.amount?.split(', ') ?? []));
    const least = chosen.some(({ dataset }) => dataset.unknown !== undefined) ? 'at least ' : '';
    const count = chosen.reduce((sum, { dataset }) => sum + Number(dataset.count ?? 1), 0);
    bar.hidden = chosen.length === 0;
    bar.querySelector('output').textContent = `${count} chosen${amount === '' ? '' : `: ${least}${amount}`}`;
  }
}
document.addEventListener('change', showChosen);
showChosen();

// A form that changes something is sent without leaving the page, so that nothing typed is lost if no answer comes, and a refusal stands beside it.
function say(form, text, ...more) {
  form.querySelector('[data-answer]')?.remove();
  const answer = Object.assign(document.createElement('p'), { className: 'notice red', textContent: text });
  answer.dataset.answer = '';
  answer.setAttribute('role', 'alert');
  answer.append(...more);
  form.append(answer);
  answer.scrollIntoView({ block: 'nearest' });
}

async function send(form, submitter) {
  const waits = Object.assign(document.createElement('progress'), { ariaLabel: 'Waiting for the server' });
  form.querySelector('[data-answer]')?.remove();
  submitter.after(waits);
  const body = new URLSearchParams(new FormData(form, submitter));
  submitter.disabled = true;
  try {
    const answer = await fetch(form.getAttribute('action'), { method: 'POST', body });
    // What was carried out leads to a page, whatever that page is.
    if (answer.redirected) {
      location.assign(answer.url);
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const why = page.querySelector('[data-answer], #main p')?.textContent;
    say(
      form,
      why ??
        (answer.status === 401
          ? 'You are signed out. Sign in in another window, then send it again: what you typed is still here.'
          : `The server answered ${answer.status}. What you typed is still here.`),
    );
  } catch {
    const again = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: 'Send it again',
    });
    again.addEventListener('click', () => form.requestSubmit(submitter));
    say(
      form,
      'The server did not answer. What you typed is still here. If it was being restarted, send it again; if it may have been carried out, look at this page in another window first. ',
      again,
    );
  } finally {
    submitter.disabled = false;
    waits.remove();
  }
}
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.getAttribute('method') !== 'post' || form.closest('main') === null) return;
  event.preventDefault();
  void send(form, event.submitter ?? form.querySelector('[type=submit]'));
});

// Keys.
const help = document.querySelector('[data-help]');
live.querySelector('[data-keys]').addEventListener('click', () => help.showModal());

function moveRow(step) {
  const rows = [...document.querySelectorAll('[data-row]')].filter((row) =>
    row.querySelector('a, input, button'),
  );
  if (rows.length === 0) return;
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const next =
    rows[
      Math.min(
        rows.length - 1,
        Math.max(0, current === -1 ? (step > 0 ? 0 : rows.length - 1) : current + step),
      )
    ];
  next.querySelector('a, input, button').focus();
}

document.addEventListener('click', ({ target }) => {
  const bar = target.closest('[data-all]')?.closest('[data-bar]');
  if (bar == null) return;
  for (const box of boxesOf(bar.dataset.bar)) box.checked = true;
  showChosen();
});

let isGoing = false;
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target.closest('input:not([type=checkbox]), textarea, select')) return;
  const place = isGoing ? document.querySelector(`[data-go="${CSS.escape(event.key)}"]`) : null;
  isGoing = false;
  const row = document.activeElement.closest('[data-row]');
  const act =
    place === null
      ? {
          '/': () => find.focus(),
          j: () => moveRow(1),
          k: () => moveRow(-1),
          x: () => row?.querySelector('input[type=checkbox]')?.click(),
          e: () => row?.querySelector('a')?.click(),
          g: () => {
            isGoing = true;
          },
          '?': () => help.showModal(),
        }[event.key]
      : () => place.click();
  if (act === undefined) return;
  event.preventDefault();
  act();
});
