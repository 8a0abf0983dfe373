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

function refresh() {
  const isTyping = main()?.querySelector('input:focus, textarea:focus, select:focus, dialog[open]');
  isStale = isPaused || document.hidden || Boolean(isTyping) || isFilledIn();
  if (isStale) return;
  window.htmx.ajax('GET', location.href, { target: '#main', select: '#main', swap: 'outerMorph' });
}

const events = new EventSource(script.dataset.live);
events.addEventListener('changed', refresh);
// After a restart of the server something may have changed that nobody told of.
let wasOpen = false;
events.addEventListener('open', () => {
  if (wasOpen) refresh();
  wasOpen = true;
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && isStale) refresh();
});

const live = document.querySelector('.live');
live.hidden = false;
live.querySelector('[data-pause]').addEventListener('click', ({ currentTarget }) => {
  isPaused = !isPaused;
  currentTarget.setAttribute('aria-pressed', String(isPaused));
  currentTarget.textContent = isPaused ? 'Resume updates' : 'Pause updates';
  if (!isPaused) refresh();
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

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target.closest('input:not([type=checkbox]), textarea, select')) return;
  const act = {
    '/': () => document.querySelector('[data-key="/"]').focus(),
    j: () => moveRow(1),
    k: () => moveRow(-1),
    '?': () => help.showModal(),
  }[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
});
