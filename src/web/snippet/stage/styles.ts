/** What the snippet looks like; lives in a shadow root, so that page and snippet do not mix. */
export const styles = `
:host { all: initial }
* { box-sizing: border-box }
.root {
  --accent: #1f6feb; --on-accent: #fff; --background: #fff; --text: #1c2128; --radius: 8px;
  --faint: color-mix(in srgb, var(--text) 62%, var(--background));
  --line: color-mix(in srgb, var(--text) 16%, var(--background));
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; text-align: start; overflow-wrap: anywhere;
}
.root.dark { --accent: #6cb0ff; --on-accent: #0d1117; --background: #22272e; --text: #e6edf3 }
.card {
  position: fixed; inset: auto; margin: 0; padding: 0; border: 1px solid var(--line);
  width: max-content; max-width: min(360px, calc(100vw - 24px)); overflow: visible; z-index: 2147483647;
  color: var(--text); background: var(--background); border-radius: var(--radius);
  box-shadow: 0 8px 30px rgb(0 0 0 / .22);
}
.inner {
  padding: 16px; max-height: min(100dvh - 26px, var(--room, 100dvh) - 2px); overflow: auto; overscroll-behavior: contain;
}
button:focus-visible, a:focus-visible {
  outline: 2px solid var(--text); outline-offset: 2px;
}
.card:focus { outline: none }
.modal { inset: 0; margin: auto; max-width: min(480px, calc(100vw - 24px)); max-height: none; height: fit-content }
dialog::backdrop { background: rgb(0 0 0 / .45) }
.banner {
  inset: 0 0 auto; max-width: none; width: auto; border-width: 0 0 1px; border-radius: 0;
}
.banner .inner {
  display: flex; gap: 8px 16px; align-items: center; flex-wrap: wrap; padding-block: 10px;
  padding-inline-end: 48px; max-height: 50dvh;
}
.banner .body { flex: 1 1 12em }
.banner h2, .banner p { margin: 0 }
.banner .foot { position: static; margin: 0; padding: 0 }
h2 { margin: 0 28px 6px 0; font-size: 1.07em; line-height: 1.35; font-weight: 650 }
:dir(rtl) h2 { margin: 0 0 6px 28px }
.body > :first-child { margin-top: 0 }
.body > :last-child { margin-bottom: 0 }
.body h3, .body h4, .body h5, .body h6 { margin: 10px 0 4px; font-size: 1em }
.body p, .body ul, .body ol, .body pre, .body blockquote, .body table { margin: 8px 0 }
.body ul, .body ol { padding-inline-start: 22px }
.body img { max-width: 100%; height: auto; border-radius: calc(var(--radius) / 2) }
.body pre { overflow: auto; padding: 8px; background: var(--line); border-radius: calc(var(--radius) / 2) }
.body blockquote { margin-inline: 0; padding-inline-start: 10px; border-inline-start: 3px solid var(--line) }
.body td, .body th { border: 1px solid var(--line); padding: 3px 8px }
.body table { border-collapse: collapse }
/* An accent is chosen for areas, and may be too pale to be read. */
a { color: inherit; text-decoration: underline 2px var(--accent); text-underline-offset: 3px }
.foot {
  display: flex; gap: 8px; align-items: center; justify-content: flex-end; flex-wrap: wrap;
  position: sticky; bottom: -16px; margin: 4px -16px -16px; padding: 10px 16px 16px;
  background: var(--background); border-radius: var(--radius);
}
.place { color: var(--faint); font-size: .87em; margin-inline-end: auto }
button { font: inherit; cursor: pointer; color: inherit }
.button {
  border: 1px solid var(--line); background: none; padding: 5px 12px; min-height: 34px;
  border-radius: calc(var(--radius) * .75);
}
.button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600 }
.button:hover { filter: brightness(1.08) }
a.button { display: inline-block; text-decoration: none }
/* Above where a checklist waits on a narrow page. */
.elsewhere { bottom: 20px; inset-inline-start: 20px; z-index: 2147483645 }
.close {
  position: absolute; top: 8px; inset-inline-end: 8px; width: 30px; height: 30px; padding: 0;
  border: 0; background: none; border-radius: 50%; color: var(--faint); font-size: 20px; line-height: 1;
}
.close:hover { background: var(--line) }
.arrow {
  position: absolute; width: 12px; height: 12px; background: var(--background);
  border: 1px solid var(--line); clip-path: polygon(0 0, 100% 0, 0 100%); pointer-events: none;
}
.ring {
  position: fixed; inset: auto; margin: 0; padding: 0; border: 0; background: none; overflow: visible;
  pointer-events: none; z-index: 2147483646; border-radius: calc(var(--radius) * .75);
  box-shadow: 0 0 0 3px var(--accent), 0 0 0 7px color-mix(in srgb, var(--accent) 30%, transparent);
}
.spot {
  position: fixed; inset: auto; margin: 0; width: 26px; height: 26px; padding: 0; border: 0;
  background: none; z-index: 2147483646; overflow: visible;
}
.spot::before, .spot::after {
  content: ''; position: absolute; inset: 6px; border-radius: 50%; background: var(--accent);
}
.spot::after { animation: pulse 1.8s ease-out infinite }
@keyframes pulse { from { opacity: .6 } to { opacity: 0; transform: scale(2.4) } }
.card { animation: appear .16s ease-out }
.still .card { animation: none }
@keyframes appear { from { opacity: 0; translate: 0 4px } }
.launcher {
  position: fixed; inset: auto; bottom: 20px; inset-inline-end: 20px; z-index: 2147483645; margin: 0;
  padding: 9px 16px; border: 0; border-radius: 999px; background: var(--accent); color: var(--on-accent);
  font-weight: 600; box-shadow: 0 4px 16px rgb(0 0 0 / .25); max-width: calc(100vw - 40px);
}
.panel { bottom: 20px; inset-inline-end: 20px; width: 340px; z-index: 2147483645 }
progress { appearance: none; width: 100%; height: 6px; border: 0; margin: 4px 0 10px; display: block }
progress, progress::-webkit-progress-bar { background: var(--line); border-radius: 3px }
progress::-webkit-progress-value { background: var(--accent); border-radius: 3px }
progress::-moz-progress-bar { background: var(--accent); border-radius: 3px }
.items { list-style: none; margin: 0; padding: 0 }
.items > li { border-top: 1px solid var(--line) }
.item {
  display: grid; grid-template-columns: 22px 1fr; gap: 0 8px; width: 100%; padding: 8px 4px; border: 0;
  background: none; text-align: start;
}
.item:disabled { cursor: default; color: var(--faint) }
.item .tick {
  width: 18px; height: 18px; margin-top: 2px; border: 1.5px solid var(--faint); border-radius: 50%;
  color: var(--on-accent); font-size: 12px; line-height: 15px; text-align: center;
}
.ticked .tick { background: var(--accent); border-color: var(--accent) }
.ticked .title { text-decoration: line-through; color: var(--faint) }
.description { color: var(--faint); font-size: .9em; padding: 0 4px 8px; padding-inline-start: 34px }
.quiet { border: 0; background: none; color: var(--faint); padding: 6px 0 0; text-decoration: underline; font-size: .87em }
.live { position: fixed; inset: 0 auto auto 0; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
@media (max-width: 640px) { .banner h2, .banner .body { flex-basis: 100% } }
@media (max-width: 480px) {
  .tip { max-width: calc(100vw - 16px) }
  .panel { inset-inline: 12px; bottom: 12px; width: auto; max-width: none }
  .elsewhere { inset-inline: 12px; bottom: 92px; width: auto; max-width: none }
}
@media (prefers-reduced-motion: reduce) { *, *::before, *::after { animation: none !important; transition: none !important } }
@media (forced-colors: active) {
  .ring { outline: 3px solid Highlight }
  .button.main { border: 2px solid ButtonText }
  .spot::before, .spot::after, .ticked .tick { forced-color-adjust: none; background: Highlight; color: HighlightText }
  progress { border: 1px solid }
  progress::-webkit-progress-value { forced-color-adjust: none; background: Highlight }
  progress::-moz-progress-bar { forced-color-adjust: none; background: Highlight }
}
@media print { .root { display: none } }
`
