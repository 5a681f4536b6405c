/** The badge's styles, in a shadow root of its own, so that the page's policy and styles do not matter. */
export const styles = `
:host { all: initial }
* { box-sizing: border-box; margin: 0 }
[hidden] { display: none !important }
.badge {
  position: fixed; z-index: 2147483647; inset: auto; inset-block-end: 16px; inset-inline-start: 16px; display: grid; gap: 6px;
  width: max-content; max-width: min(360px, calc(100vw - 32px)); padding: 10px 14px; border-radius: 10px; text-align: start;
  color: #fff; background: #3b2f7a; border: 1px solid #8a7de0; box-shadow: 0 8px 28px rgb(0 0 0 / .3);
  font: 13px/1.4 system-ui, sans-serif; color-scheme: dark; overflow-wrap: anywhere;
}
.badge.top { inset-block: 16px auto }
.badge:focus { outline: none }
.head { display: flex; flex-wrap: wrap; gap: 2px 10px; align-items: baseline }
.title { font-weight: 650 }
.until, .name { color: #d9d4fb }
.status { color: #fff }
.actions { display: flex; gap: 6px; flex-wrap: wrap }
button {
  font: inherit; color: inherit; cursor: pointer; min-height: 28px; padding: 3px 10px; border-radius: 6px;
  border: 1px solid #8a7de0; background: #4d3f97;
}
button:hover { background: #5d4eb0 }
button:focus-visible { outline: 2px solid #fff; outline-offset: 2px }
@media (forced-colors: active) { .badge, button { border: 1px solid } }
@media (max-width: 480px) { .badge { inset-inline: 8px; inset-block-end: 8px; width: auto; max-width: none }
  .badge.top { inset-block: 8px auto } }
@media print { .badge { display: none } }
`
