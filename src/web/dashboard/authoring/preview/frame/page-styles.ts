/** A page of grey blocks, on which visitors would see the flow. */
export const pageStyles = `
:root { color-scheme: light; --ground: #fff; --side: #f7f8f9; --line: #e4e7eb; --block: #e9ecef; --deep: #d3d8de; --ink: #3d4650 }
:root.dark { color-scheme: dark; --ground: #16191d; --side: #1b1f24; --line: #2b3138; --block: #272c33; --deep: #3a424b; --ink: #c6ced6 }
* { box-sizing: border-box }
html, body { height: 100%; margin: 0 }
body { overflow: hidden; background: var(--ground); color: var(--ink); font: 13px/1.3 system-ui, sans-serif }
.app { display: grid; grid: 56px 1fr / 176px 1fr; height: 100% }
.top { grid-column: 1 / -1; display: flex; align-items: center; gap: 12px; padding: 0 20px; border-bottom: 1px solid var(--line) }
.side { display: grid; align-content: start; gap: 14px; padding: 22px 20px; background: var(--side); border-inline-end: 1px solid var(--line) }
.main { display: grid; align-content: start; gap: 20px; padding: 24px 28px; min-width: 0 }
.head { display: flex; align-items: center; justify-content: space-between; gap: 16px }
.cards { display: grid; grid-template-columns: repeat(3, 1fr); gap: 16px }
.rows { display: grid; gap: 14px }
.block { min-height: 12px; border-radius: 6px; background: var(--block) }
.logo { width: 92px; height: 18px; background: var(--deep) }
.search { width: 180px; height: 30px; margin-inline-start: auto }
.menu { flex: none; width: 30px; height: 30px; border-radius: 50% }
.entry { width: 80%; height: 14px }
.entry:nth-child(3n) { width: 62% }
.title { display: grid; align-items: center; width: 190px; height: 26px; margin: 0; padding: 0 10px; background: var(--deep); font: inherit; font-weight: 600 }
.action { width: 124px; height: 34px }
.card { height: 104px; border-radius: 10px }
.field { width: 60%; height: 34px }
.row { height: 16px }
.row:nth-child(2n) { width: 86% }
.stand-in {
  display: grid; place-items: center; min-height: 28px; padding: 0 6px; overflow: hidden; background: var(--deep); border: 1px dashed currentcolor;
  color: inherit; font: inherit; font-weight: 600; white-space: nowrap;
}
button.stand-in { cursor: pointer }
.stand-in:focus-visible { outline: 2px solid currentcolor; outline-offset: 2px }
@media (max-width: 640px) {
  .app { grid: 52px auto 1fr / 1fr }
  .side { grid-auto-flow: column; gap: 10px; padding: 12px 16px; border: 0; border-bottom: 1px solid var(--line) }
  .side .entry { width: auto; height: 18px }
  .top, .main { padding-inline: 16px }
  .search { width: 110px }
  .title { width: 120px }
  .cards { grid-template-columns: 1fr }
  .card { height: 76px }
}
`
