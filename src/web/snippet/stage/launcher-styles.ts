/** The number of unread announcements on a button that shows its icon alone. */
const badge =
  'position: absolute; top: -5px; inset-inline-end: -5px; background: #c8251f; color: #fff; box-shadow: 0 0 0 2px var(--background);'

/** The styles of a launcher, in addition to those of checklists. On a phone, its button is the icon alone. */
export const launcherStyles = `
.centre-button { padding-inline: 14px 18px; overflow: visible }
.centre-button .icon { width: 22px; height: 22px; flex: none }
.centre-button.icon-only { width: 48px; height: 48px; padding: 0; justify-content: center }
.covered-up { visibility: hidden }
.unread-count {
  min-width: 20px; height: 20px; padding: 0 6px; border-radius: 10px; background: var(--on-accent); color: var(--accent);
  font-size: 12px; line-height: 20px; font-weight: 700; text-align: center; font-variant-numeric: tabular-nums;
}
.icon-only .unread-count {
  ${badge}
}
.centre { z-index: calc(var(--z) - 1) }
.centre:focus { outline: none }
.offers { display: grid; gap: 2px }
.offers li { list-style: none }
.offers .item { grid-template-columns: 24px 1fr; gap: 0 12px; padding-block: 9px; align-items: start }
.offers .mark { display: grid; place-items: center; height: 1.4em; color: var(--faint) }
.offers .mark .circle { width: 20px; height: 20px; color: var(--accent) }
.pale .offers .mark .circle { color: var(--text) }
.offers .item:enabled:hover .mark { color: var(--text) }
.offers .title { display: flex; gap: 0 8px; flex-wrap: wrap; align-items: baseline; min-width: 0 }
.offers .title .place { margin: 0; font-weight: 400 }
.offers .item > .description { grid-column: 2; padding: 0; margin: 0; font-weight: 400 }
.offers .description > * { display: inline; margin: 0 }
.offers .items { margin: 0 }
.has-news:not(:first-child) { margin-top: calc(var(--u) * 2); padding-top: calc(var(--u) * 3); border-top: 1px solid var(--line) }
.has-news + li { margin-top: calc(var(--u) * 2); padding-top: calc(var(--u) * 2); border-top: 1px solid var(--line) }
.section {
  display: flex; gap: 8px; justify-content: space-between; align-items: baseline; margin: 0; padding: 0 calc(var(--u) * 2) var(--u);
  font-size: .87em; font-weight: 600; color: var(--faint);
}
.section .place { margin: 0; font-size: 1em; font-weight: 400 }
.offers .news { grid-template-columns: 24px 1fr auto }
.news .date { color: var(--faint); font-size: .87em; line-height: 1.6; white-space: nowrap; font-variant-numeric: tabular-nums }
.dot { width: 9px; height: 9px; margin-top: .45em; border-radius: 50%; background: var(--accent); justify-self: center }
.pale .dot { background: var(--text) }
.dot.none { background: none }
.nothing { color: var(--faint); padding: 4px calc(var(--u) * 2) 8px }
.offers .quiet { margin: 0; padding-inline: calc(36px + var(--u) * 2) }
.offers .item > .title { font-weight: 500 }
.offers .news .title { font-weight: 450 }
.offers .unread .title { font-weight: 650 }
@media (max-width: 480px) {
  .centre-button { width: 48px; height: 48px; padding: 0; justify-content: center }
  .centre-button > bdi:not(.unread-count) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .centre-button .unread-count { ${badge} }
  .centre.panel { inset: auto 8px calc(8px + env(safe-area-inset-bottom, 0px)) }
}
@media (forced-colors: active) {
  .unread-count, .dot { forced-color-adjust: none; background: Highlight; color: HighlightText }
  .dot.none { background: none }
}
`
