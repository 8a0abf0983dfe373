// What the pages do beyond links and forms. Each of them works without this file: it only keeps a page up to date, and adds keys.

const script = document.currentScript;
const main = () => document.getElementById('main');

// Updates. The server says that something has changed; the page is then fetched again and morphed, so that focus, scroll and selection stay.
let isPaused = false;
let isStale = false;

/** Whether somebody has begun to fill in a form that changes something: it must keep saying what they saw. */
function isFilledIn() {
  const fields = [...document.querySelectorAll('main form[method="post"]')].flatMap((form) => [
    ...form.elements,
  ]);
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
  window.htmx.ajax('GET', shown, { target: '#main', select: '#main', swap: 'outerMorph' });
}

// The result of a form is told once: a page that is loaded again does not repeat it, and one that is kept up to date keeps it.
const shown = location.href;
const address = new URL(shown);
if (address.searchParams.has('done')) {
  address.searchParams.delete('done');
  history.replaceState(null, '', address);
}

const live = document.querySelector('.live');
live.hidden = false;
const events = new EventSource(script.dataset.live);
events.addEventListener('changed', refresh);
// After a restart of the server something may have changed that nobody told of.
let wasOpen = false;
events.addEventListener('open', () => {
  live.querySelector('.lost').hidden = true;
  if (wasOpen) refresh();
  wasOpen = true;
});
events.addEventListener('error', () => {
  live.querySelector('.lost').hidden = false;
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

// Suggestions, while a person types into the search.
const find = document.querySelector('[data-suggest]');
let asked = 0;
find.addEventListener('input', () => {
  clearTimeout(asked);
  asked = setTimeout(async () => {
    const url = new URL(find.dataset.suggest, location.href);
    url.searchParams.set('q', find.value);
    const answer = find.value.trim().length < 2 ? null : await fetch(url).catch(() => null);
    const names = answer?.ok ? (await answer.text()).split('\n') : [];
    find.list.replaceChildren(...names.filter(Boolean).map((name) => new Option(name, name)));
  }, 150);
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
