import { themeStyles } from './theme-styles.ts'

/** The snippet's styles. They are in a shadow root, so that page and snippet do not mix. */
export const styles = `
:host { all: initial }
:host(.covered) [popover], :host(.unreached) :is(.ring, .veil, .spot, .hint) { display: none !important }
* { box-sizing: border-box }
${themeStyles}
/* Rooms are multiples of a quarter of the theme's. */
.root { --u: calc(var(--space) / 4) }
.card, .ghost {
  --pad: calc(var(--u) * 5);
  position: fixed; inset: auto; margin: 0; padding: 0; border: var(--border-width) solid var(--line);
  width: max-content; max-width: min(var(--width), calc(100vw - 24px)); overflow: visible;
  z-index: var(--z); color: var(--text); background: var(--background);
  border-radius: var(--radius);
  box-shadow: var(--shadow);
}
.inner {
  padding: var(--pad); max-height: min(100dvh - 26px, var(--room, 100dvh) - 2px); overflow: auto;
  overscroll-behavior: contain; border-radius: inherit;
}
button:focus-visible, a:focus-visible, video:focus-visible { outline: 2px solid var(--text); outline-offset: 2px }
.card:focus { outline: none }

h2, .heading {
  margin: 0 0 calc(var(--u) * 1.5); padding-inline-end: 28px; font-size: 1.2em; line-height: 1.3;
  font-weight: 650; letter-spacing: -.012em; text-wrap: balance;
}
.has-media h2, .hint .heading, .sheet .heading { padding-inline-end: 0 }
.body { line-height: 1.55; text-wrap: pretty; max-width: 62ch }
.inner > .body:first-child { padding-inline-end: 24px }
.hint .inner > .body:first-child { padding: 0 }
.body > :first-child { margin-top: 0 }
.body > :last-child { margin-bottom: 0 }
.body :is(p, ul, ol, pre, blockquote, table, img) { margin: calc(var(--u) * 2.5) 0 }
.body :is(h3, h4, h5, h6) {
  margin: calc(var(--u) * 4) 0 var(--u); font-size: 1em; line-height: 1.35; font-weight: 650;
}
.body h3 { font-size: 1.07em }
.body :is(ul, ol) { padding-inline-start: 1.4em }
.body li { padding-inline-start: .15em }
.body li + li, .body li > :is(ul, ol) { margin-block: var(--u) 0 }
.body li::marker { color: var(--faint); font-variant-numeric: tabular-nums }
.body img { display: block; max-width: 100%; height: auto; border-radius: calc(var(--radius) * .66) }
.body :is(code, pre) {
  font: .88em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  background: color-mix(in srgb, var(--text) 7%, var(--background)); border-radius: 5px;
}
.body code { padding: .15em .35em }
.body pre { overflow: auto; padding: 10px 12px; border-radius: calc(var(--radius) * .66) }
.body blockquote {
  margin-inline: 0; padding-inline-start: 12px; border-inline-start: 3px solid var(--accent); color: var(--faint);
}
.body hr { border: 0; border-top: 1px solid var(--line); margin: calc(var(--u) * 4) 0 }
.body table { border-collapse: collapse; font-size: .93em }
.body :is(td, th) { border-bottom: 1px solid var(--line); padding: 5px 10px 5px 0; text-align: inherit; vertical-align: top }
/* An accent is chosen for areas, and may be too pale to be read. */
a { color: inherit; text-decoration: underline 1.5px var(--accent); text-underline-offset: 3px }
a:hover { text-decoration-thickness: 2.5px }

.media {
  display: grid; margin: calc(var(--pad) * -1) calc(var(--pad) * -1) var(--pad); overflow: hidden;
  width: calc(100% + var(--pad) * 2);
  background: color-mix(in srgb, var(--text) 7%, var(--background));
  border-radius: calc(var(--radius) - 1px) calc(var(--radius) - 1px) 0 0; max-height: 50dvh;
}
.media > * { display: block; width: 100%; height: 100%; min-height: 0; object-fit: cover }
.media video { object-fit: contain; background: #000 }
.alt { color: var(--faint); font-size: .87em; margin-bottom: var(--u); padding-inline-end: 28px }
.media:last-child { margin-bottom: calc(var(--pad) * -1) }
.has-media { width: var(--width) }
.modal.has-media { width: calc(var(--width) * 1.3) }
.has-media > .inner::before { display: none !important }

.foot {
  display: flex; gap: var(--u) calc(var(--u) * 2); align-items: center; justify-content: flex-end;
  flex-wrap: wrap; position: sticky; bottom: calc(var(--pad) * -1);
  margin: calc(var(--u) * 2) calc(var(--pad) * -1) calc(var(--pad) * -1);
  padding: calc(var(--u) * 2) var(--pad) var(--pad);
  background: var(--background); border-radius: 0 0 var(--radius) var(--radius);
}
.actions { display: flex; flex-wrap: wrap; gap: inherit; justify-content: flex-end; margin-inline-start: auto }
.place { color: var(--faint); font-size: .87em; margin-inline-end: auto; font-variant-numeric: tabular-nums }
.dots { display: flex; gap: 5px; align-items: center }
.dots i { width: 6px; height: 6px; border-radius: 3px; background: color-mix(in srgb, var(--text) 22%, var(--background)) }
.dots .past { background: color-mix(in srgb, var(--accent) 55%, var(--background)) }
.dots .now { width: 18px; background: var(--accent) }
.as-bar { flex: 1 1 72px; max-width: 128px; margin-inline-end: auto }
.bar { display: block; height: 5px; border-radius: 3px; background: var(--line); overflow: hidden }
.bar::before {
  content: ''; display: block; height: 100%; width: calc(var(--part) * 100%); border-radius: 3px; background: var(--accent);
}
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }

/* Each text is written as its own letters are, and stands on the side where the card has its texts. */
.plain :is(h2, h3, h4, h5, h6, p, li, th, td, pre, .heading, .body, .title, .place, button, .option span, .ends span) { unicode-bidi: plaintext }
.plain:dir(ltr) { text-align: left }
.plain:dir(rtl) { text-align: right }

button { font: inherit; cursor: pointer; color: inherit; touch-action: manipulation }
.button {
  display: inline-flex; align-items: center; justify-content: center; border: 1px solid transparent; background: none;
  padding: 6px 12px; min-height: 36px; line-height: 1.25; font-weight: 550; text-decoration: none;
  border-radius: calc(var(--radius) * .66); transition: background-color .12s;
}
.button:hover { background: color-mix(in srgb, var(--text) 8%, transparent) }
.button:active { background: color-mix(in srgb, var(--text) 14%, transparent) }
.button.main { background: var(--accent); color: var(--on-accent); font-weight: 600; padding-inline: 16px }
.button.main:hover { background: color-mix(in srgb, var(--accent) 90%, var(--on-accent)) }
.button.main:active { background: color-mix(in srgb, var(--accent) 82%, var(--on-accent)) }
.close {
  position: absolute; top: calc(var(--pad) - 13px); inset-inline-end: calc(var(--pad) - 13px); width: 36px; height: 36px;
  padding: 0; border: 0; display: grid; place-items: center; background: none; border-radius: 50%; color: var(--faint);
  transition: background-color .12s;
}
.close:hover { background: color-mix(in srgb, var(--text) 8%, transparent); color: var(--text) }
.has-media .close { background: color-mix(in srgb, var(--background) 84%, transparent); color: var(--text) }
.icon { width: 18px; height: 18px; fill: none; stroke: currentcolor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }

.arrow {
  position: absolute; width: 14px; height: 14px; background: var(--background); border: inherit; border-start-start-radius: 3px;
  border-color: inherit; clip-path: polygon(-2px -2px, calc(100% + 2px) -2px, -2px calc(100% + 2px)); pointer-events: none; direction: ltr;
}
/* Moved from there by where they belong. */
.tip, .ring, .spot { inset: 0 auto auto 0 !important }
.tip { min-width: min(264px, calc(100vw - 24px)) }
.modal {
  --pad: calc(var(--u) * 7);
  inset: 0; margin: auto; max-width: min(calc(var(--width) * 1.3), calc(100vw - 24px)); max-height: none; height: fit-content;
}
.modal h2 { font-size: 1.4em; margin-bottom: calc(var(--u) * 2.5) }
.modal .foot { margin-top: calc(var(--u) * 4) }
.modal .media { max-height: clamp(30dvh, 100dvh - 270px, 50dvh) }
:is(dialog, .ghost)::backdrop { background: var(--backdrop) }
.slideout {
  inset: auto; bottom: calc(20px + env(safe-area-inset-bottom, 0px)); inset-inline-end: calc(20px + env(safe-area-inset-right, 0px));
  width: var(--width);
}
.slideout.at-top { bottom: auto; top: calc(20px + env(safe-area-inset-top, 0px)) }
.slideout.at-start { inset-inline: calc(20px + env(safe-area-inset-left, 0px)) auto }

.banner {
  --pad: calc(var(--u) * 3);
  inset: 12px 12px auto; margin-inline: auto; width: fit-content; max-width: min(960px, calc(100vw - 24px));
}
.banner.at-bottom { inset: auto 12px calc(12px + env(safe-area-inset-bottom, 0px)) }
.banner.push {
  inset: 0 0 auto; width: auto; max-width: none; border-width: 0 0 var(--border-width); border-radius: 0; box-shadow: none;
}
.banner.push.at-bottom { inset: auto 0 0; border-width: var(--border-width) 0 0; padding-bottom: env(safe-area-inset-bottom, 0px) }
.banner .inner {
  display: flex; gap: var(--u) calc(var(--u) * 4); align-items: center; flex-wrap: wrap; justify-content: center;
  padding-inline: calc(var(--pad) + var(--u)) 52px; max-height: 50dvh; min-height: 52px;
}
.banner h2 { margin: 0; padding: 0; font-size: 1em }
.banner .body { flex: 0 1 auto; max-width: none; padding: 0 }
.banner .body p { margin: 0 }
.banner .media { margin: 0; border-radius: calc(var(--radius) * .5); width: 96px }
.banner.has-media { width: fit-content }
.banner .foot { margin: 0 0 calc(var(--pad) * -1); padding: 0 0 var(--pad); border-radius: 0 }
.banner .place { margin-inline-end: calc(var(--u) * 2) }
.banner .close { top: 50%; translate: 0 -50%; inset-inline-end: 8px }
/* Above where a checklist waits on a narrow page. */
.elsewhere { bottom: calc(20px + env(safe-area-inset-bottom, 0px)); inset-inline-start: 20px; z-index: calc(var(--z) - 2) }

.ring {
  position: fixed; inset: auto; margin: 0; padding: 0; border: 0; background: none; overflow: visible;
  pointer-events: none; z-index: calc(var(--z) - 1); border-radius: calc(var(--radius) * .66 + 3px);
}
.ring::before {
  content: ''; position: absolute; inset: -5px; border-radius: var(--corner, calc(var(--radius) * .66 + 3px));
  box-shadow: 0 0 0 2px var(--accent), 0 0 0 3.5px var(--background), 0 0 0 7px color-mix(in srgb, var(--accent) 30%, transparent);
}
.veil ~ .ring::before { box-shadow: 0 0 0 2px var(--accent), 0 0 0 3px rgb(255 255 255 / .75) }
.veil {
  position: fixed; inset: 0; width: auto; height: auto; max-width: none; max-height: none; margin: 0; padding: 0; border: 0;
  background: var(--backdrop); z-index: calc(var(--z) - 2); pointer-events: none; overflow: hidden;
}
.veil.block { pointer-events: auto; cursor: default }
.spot {
  position: fixed; inset: auto; margin: 0; width: 28px; height: 28px; padding: 0; border: 0; border-radius: 50%;
  background: none; z-index: calc(var(--z) - 1); overflow: visible;
}
.spot::before, .spot::after { content: ''; position: absolute; inset: 7px; border-radius: 50%; background: var(--accent) }
.spot::before { box-shadow: 0 0 0 2.5px var(--background), 0 1px 5px rgb(0 0 0 / .45); z-index: 1 }
.spot::after { animation: pulse 2.2s cubic-bezier(.2, .6, .35, 1) infinite }
.spot[aria-expanded=true]::after { display: none }
.spot:hover::before { scale: 1.15 }

.launcher {
  position: fixed; inset: auto; bottom: calc(20px + env(safe-area-inset-bottom, 0px)); inset-inline-end: 20px;
  z-index: calc(var(--z) - 2); margin: 0; padding: 9px 18px 9px 12px; padding-inline: 12px 18px; border: 0;
  border-radius: 999px; background: var(--accent); color: var(--on-accent); font-weight: 600; min-height: 44px;
  display: inline-flex; align-items: center; gap: 10px; max-width: calc(100vw - 40px); text-align: inherit; line-height: 1.25;
  box-shadow: 0 2px 6px rgb(0 0 0 / .15), 0 10px 28px -6px rgb(0 0 0 / .3); transition: translate .15s;
}
.launcher:hover { translate: 0 -1px }
.launcher .circle { flex: none; width: 24px; height: 24px }
.circle { fill: none; stroke-width: 3; stroke: currentcolor; stroke-linecap: round; rotate: -90deg }
.circle :first-child { opacity: .3 }
.launcher .count { font-weight: 500; white-space: nowrap }
.panel {
  bottom: calc(20px + env(safe-area-inset-bottom, 0px)); inset-inline-end: 20px; width: var(--width);
  z-index: calc(var(--z) - 2);
}
.at-side-start:is(.launcher, .panel) { inset-inline: 20px auto }
progress { appearance: none; width: 100%; height: 6px; border: 0; margin: 6px 0 calc(var(--u) * 3); display: block; overflow: hidden; border-radius: 3px }
progress, progress::-webkit-progress-bar { background: var(--line); border-radius: 3px }
progress::-webkit-progress-value { background: var(--accent); border-radius: 3px; transition: inline-size .4s cubic-bezier(.22, 1, .36, 1) }
progress::-moz-progress-bar { background: var(--accent); border-radius: 3px }
.items { list-style: none; margin: 0 calc(var(--u) * -2); padding: 0 }
.item {
  display: grid; grid-template-columns: 22px 1fr; gap: 0 10px; width: 100%; padding: 9px calc(var(--u) * 2); border: 0;
  background: none; text-align: inherit; border-radius: calc(var(--radius) * .66); line-height: 1.4; min-height: 40px; align-items: start;
}
button.item:enabled:hover { background: color-mix(in srgb, var(--text) 6%, transparent) }
.item:disabled { cursor: default; color: var(--faint) }
.item .title { font-weight: 550 }
.item .tick {
  width: 20px; height: 20px; border: 1.5px solid var(--faint); border-radius: 50%; display: grid; place-items: center;
  color: var(--on-accent); font-size: 0;
}
.tick .icon { width: 13px; height: 13px; stroke-width: 3 }
.ticked .tick { background: var(--accent); border-color: var(--accent) }
.ticked .title { color: var(--faint); font-weight: 400; text-decoration: line-through 1px }
.description { color: var(--faint); font-size: .9em; padding: 0 8px 8px; padding-inline-start: calc(32px + var(--u) * 2); margin-top: -4px }
.ticked .description { display: none }
.quiet {
  border: 0; background: none; color: var(--faint); padding: 6px 8px; margin: calc(var(--u) * 2) -8px -8px; min-height: 36px;
  font-size: .87em; border-radius: calc(var(--radius) * .66);
}
.quiet:hover { background: color-mix(in srgb, var(--text) 6%, transparent); color: var(--text) }
.finished { display: grid; justify-items: center; gap: calc(var(--u) * 3); padding: 8px 0 4px; text-align: center }
.finished h2 { padding: 0; margin: 0 }
.finished .place { margin: 0; font-size: 1em }
.badge { display: grid; place-items: center; width: 60px; height: 60px; border-radius: 50%; background: var(--accent); color: var(--on-accent) }
.badge .icon { width: 32px; height: 32px; stroke-width: 2.5; stroke-dasharray: 1 }
.live { position: fixed; inset: 0 auto auto 0; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }

.card { animation: appear .22s cubic-bezier(.22, 1, .36, 1) }
.veil, dialog::backdrop { animation: fade .22s ease-out }
.ring, .spot { animation: fade .22s ease-out }
.launcher { animation: appear .22s cubic-bezier(.22, 1, .36, 1) }
.slideout, .panel { animation-name: rise }
.banner { animation-name: drop }
.banner.at-bottom, .sheet { animation-name: rise }
.leaves :is(.ghost, .veil), .leaves .ghost::backdrop { animation: leave .14s ease-in forwards }
.still :is(.card, .launcher) { animation: none }
.drawn .badge { animation: pop .45s cubic-bezier(.22, 1.3, .36, 1) }
.drawn .badge .icon { animation: draw .5s .2s ease-out backwards }
.drawn .finished > :not(.badge) { animation: appear .35s .3s ease-out backwards }
@keyframes appear { from { opacity: 0; transform: translateY(6px) scale(.985) } 40% { opacity: 1 } }
@keyframes rise { from { opacity: 0; transform: translateY(20px) } 40% { opacity: 1 } }
@keyframes drop { from { opacity: 0; transform: translateY(-16px) } 40% { opacity: 1 } }
@keyframes fade { from { opacity: 0 } }
@keyframes leave { to { opacity: 0 } }
@keyframes pulse { from { opacity: .55 } to { opacity: 0; transform: scale(2.6) } }
@keyframes pop { from { opacity: 0; transform: scale(.6) } }
@keyframes draw { from { stroke-dashoffset: 1 } to { stroke-dashoffset: 0 } }

@media (pointer: coarse) {
  .button, .item, .quiet { min-height: 44px }
  .close { width: 44px; height: 44px; top: calc(var(--pad) - 17px); inset-inline-end: calc(var(--pad) - 17px) }
  .spot { width: 44px; height: 44px }
  .spot::before, .spot::after { inset: 15px }
}
@media (max-width: 640px) {
  .banner { width: auto }
  .banner .inner { justify-content: flex-start }
  .banner h2, .banner .body { flex-basis: 100% }
  .banner .foot { flex: 1; margin-inline-end: calc(var(--pad) - 48px) }
  .banner .close { top: 8px; translate: none }
}
@media (max-width: 480px) {
  .modal { --pad: calc(var(--u) * 5) }
  .modal h2 { font-size: 1.27em }
  .tip { max-width: calc(100vw - 16px) }
  .tip.sheet { inset: auto 8px calc(8px + env(safe-area-inset-bottom, 0px)) !important; width: auto; max-width: none }
  .tip.sheet.at-top { inset: calc(8px + env(safe-area-inset-top, 0px)) 8px auto !important }
  .sheet .arrow { display: none }
  .panel, .slideout, .at-side-start.panel, .slideout.at-start {
    inset-inline: 12px; width: auto; max-width: none;
  }
  .panel, .slideout:not(.at-top) { bottom: calc(12px + env(safe-area-inset-bottom, 0px)) }
  .elsewhere { inset-inline: 12px; bottom: 92px; width: auto; max-width: none }
}
/* Zoomed in, or a phone that is held across: all room is for the text. */
@media (max-height: 400px) {
  .card, .modal { --pad: calc(var(--u) * 3) }
  .card :is(h2, .heading) { font-size: 1.05em; line-height: 1.2; margin-bottom: var(--u) }
  .inner .foot { margin-top: var(--u); padding-top: var(--u) }
  .foot, .actions { flex-wrap: nowrap }
  .actions { gap: var(--u); overflow-x: auto; padding: 4px; margin: -4px; margin-inline-start: auto }
  .button { padding: 2px 8px; line-height: 1.15 }
  .foot:has(.button:nth-child(3)) .place { position: absolute; clip-path: inset(50%) }
  .banner .inner { max-height: min(100dvh - 26px, max(50dvh, 184px)) }
  .banner .foot { flex-basis: 100% }
  /* An image comes after the text. */
  .has-media:not(.banner) .inner { display: flex; flex-direction: column }
  .has-media:not(.banner) .inner > * { flex: none }
  .has-media:not(.banner) .media { order: 1; margin-block: var(--pad) 0 }
  .has-media .foot { order: 1 }
  .has-media h2 { padding-inline-end: 28px }
}
@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after, ::backdrop { animation: none !important; transition: none !important }
  .launcher:hover { translate: none }
}
@media (forced-colors: active) {
  .ring { outline: 3px solid Highlight; outline-offset: 5px }
  .veil, dialog::backdrop { forced-color-adjust: none }
  .button.main { border: 2px solid ButtonText }
  .launcher { border: 2px solid ButtonText }
  .spot::before, .spot::after, .ticked .tick, .badge, .dots .now, .dots .past, .bar::before {
    forced-color-adjust: none; background: Highlight; color: HighlightText;
  }
  .dots i:not([class]) { forced-color-adjust: none; background: GrayText }
  .bar, progress { border: 1px solid }
  progress::-webkit-progress-value { forced-color-adjust: none; background: Highlight }
  progress::-moz-progress-bar { forced-color-adjust: none; background: Highlight }
}
@media print { .root { display: none } }
`
