/**
 * The tokens that everything is drawn with, as they are if neither page nor theme says anything, and the
 * styles that a theme adds.
 */
export const themeStyles = `
.root {
  --accent: #1f6feb; --on-accent: #fff; --background: #fff; --text: #1c2128; --radius: 8px;
  --faint: color-mix(in srgb, var(--text) 62%, var(--background));
  --line: color-mix(in srgb, var(--text) 16%, var(--background));
  --shadow: 0 1px 3px rgb(0 0 0 / .08), 0 8px 24px -6px rgb(0 0 0 / .18), 0 24px 56px -12px rgb(0 0 0 / .22);
  --backdrop: rgb(0 0 0 / .45);
  --font: system-ui, sans-serif; --font-size: 15px; --space: 16px; --border-width: 1px; --width: 24em;
  --z: 2147483647;
  color: var(--text); font: var(--font-size)/1.5 var(--font); text-align: start; overflow-wrap: anywhere;
}
.root.dark {
  --accent: #6cb0ff; --on-accent: #000; --background: #22272e; --text: #e6edf3; --backdrop: rgb(0 0 0 / .6);
}
/* On its layer of the page rather than above all of it. */
:where(.layered) > [popover] { display: block }
.branded :is(.modal, .panel, .slideout) > .inner::before {
  content: ''; display: block; width: 60%; height: 28px; margin-bottom: var(--space);
  background: var(--logo) left / contain no-repeat;
}
.branded :is(.modal, .panel, .slideout) > .inner:dir(rtl)::before { background-position: right }
.pale .button.main { border-color: var(--faint) }
/* Ours stand on the page, and may be on any ground: two lines, of which one is seen. */
.launcher:focus-visible, .spot:focus-visible { box-shadow: 0 0 0 6px var(--background) }
@media (forced-colors: none) {
  .lost .ring::before { outline: 2px solid var(--ring-line); outline-offset: 2px }
  .lost .spot::before { outline: 2px solid var(--ring-line) }
  .lost .launcher { border: 2px solid var(--ring-line) }
}
`
