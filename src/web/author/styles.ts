/** The picker's styles, in a closed shadow root, so that the page's own policy and styles do not matter. */
export const styles = `
:host { all: initial }
* { box-sizing: border-box; margin: 0 }
.outline {
  position: fixed; z-index: 2147483646; pointer-events: none; border: 2px solid #2f81f7; border-radius: 3px;
  background: rgb(47 129 247 / .12); box-shadow: 0 0 0 1px rgb(255 255 255 / .8);
}
.outline.picked { border-color: #2da44e; background: rgb(45 164 78 / .1); z-index: 2147483645 }
.label {
  position: fixed; z-index: 2147483646; pointer-events: none; padding: 3px 8px; border-radius: 4px; max-width: min(420px, calc(100vw - 16px));
  color: #fff; background: #0b4fb3; font: 500 12px/1.4 system-ui, sans-serif;
  white-space: nowrap; overflow: hidden; text-overflow: ellipsis; direction: ltr;
}
[hidden] { display: none !important }
.panel {
  position: fixed; z-index: 2147483647; inset-block-end: 16px; inset-inline-end: 16px; width: min(340px, calc(100vw - 32px));
  max-height: min(70dvh, 560px); overflow: auto; overscroll-behavior: contain; display: grid; gap: 12px; padding: 14px 16px 16px;
  color: #e6edf3; background: #1c2128; border: 1px solid #444c56; border-radius: 12px; text-align: start;
  box-shadow: 0 12px 40px rgb(0 0 0 / .35); font: 14px/1.45 system-ui, sans-serif; color-scheme: dark; overflow-wrap: anywhere;
}
.panel.other { inset-inline-end: auto; inset-inline-start: 16px }
.result { display: grid; gap: 8px }
header { display: flex; align-items: center; gap: 8px }
.product { font-weight: 650; color: #adbac7; margin-inline-end: auto }
.code {
  font: 650 15px/1 ui-monospace, monospace; letter-spacing: .18em; padding: 6px 5px 6px 9px;
  border-radius: 6px; background: #2d333b; color: #fff;
}
h2 { font: 600 15px/1.35 system-ui, sans-serif; color: #fff }
button { font: inherit; color: inherit; cursor: pointer; border-radius: 7px; border: 0; background: none; min-height: 32px; padding: 4px 10px }
button:hover { background: #373e47 }
button:focus-visible { outline: 2px solid #6cb6ff; outline-offset: 2px }
.icon { min-width: 32px; padding: 4px; display: grid; place-items: center; color: #adbac7 }
.icon svg { width: 16px; height: 16px; display: block }
.modes { display: grid; grid-template-columns: 1fr 1fr; gap: 2px; padding: 3px; border-radius: 9px; background: #2d333b }
.modes button[aria-pressed=true] { background: #316dca; color: #fff; font-weight: 600 }
.status { color: #cdd9e5 }
.status.bad { color: #ffb4ab }
dl { display: flex; flex-wrap: wrap; gap: 4px 12px; font-size: 12px; color: #adbac7 }
dl div { display: flex; gap: 5px; align-items: center }
dt { font: 600 11px/1 system-ui, sans-serif; padding: 3px 5px; border-radius: 4px; border: 1px solid #545d68; color: #cdd9e5 }
dt svg { width: 11px; height: 11px; display: block }
dd { margin: 0 }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
ul { list-style: none; padding: 0; display: grid; gap: 6px }
li { padding: 8px 10px; border-radius: 8px; background: #22272e; display: grid; gap: 4px }
code { font: 12px/1.45 ui-monospace, monospace; color: #fff }
.facts { display: flex; gap: 10px; font-size: 12px; color: #adbac7 }
.grade { font-weight: 600 }
.strong { color: #6bc46d } .fair { color: #daaa3f } .weak { color: #f69d50 }
.warning { padding: 8px 10px; border-radius: 8px; background: #3d2c05; color: #f2cc60; font-size: 13px }
@media (forced-colors: active) { .outline { border-color: Highlight } .panel, .label { border: 1px solid } }
@media (max-width: 480px) { .panel { inset-inline: 8px; inset-block-end: 8px; width: auto; max-height: 45dvh }
  .panel.other { inset-inline: 8px; inset-block: 8px auto } dl { display: none } }
`
