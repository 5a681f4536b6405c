/** The debug panel's styles, in a shadow root of its own. Its background is dark, as in developer tools. */
export const styles = `
:host { all: initial }
.panel {
  position: fixed; inset: auto 8px 8px auto; margin: 0; padding: 0; border: 1px solid #57606a; border-radius: 8px;
  width: min(420px, calc(100vw - 16px)); max-height: min(70vh, 640px); overflow: auto;
  color: #e6edf3; background: #0d1117; font: 12px/1.5 ui-monospace, monospace; direction: ltr; text-align: left;
  overflow-wrap: anywhere; box-shadow: 0 8px 30px rgb(0 0 0 / .4);
}
.head {
  position: sticky; top: 0; display: flex; gap: 8px; align-items: center; padding: 8px 12px; background: #161b22;
  border-bottom: 1px solid #30363d;
}
.head h2 { flex: 1; margin: 0; font-size: 13px }
h3 { margin: 12px 12px 4px; font-size: 12px; color: #9ba6b2 }
dl { display: grid; grid-template-columns: 7em 1fr; gap: 0 8px; margin: 0 12px }
dt { color: #9ba6b2 }
dd { margin: 0 }
details { margin: 0 12px; padding: 2px 0 }
summary { cursor: pointer }
ul { margin: 2px 0; padding: 0 0 0 16px; list-style: none }
table { margin: 0 12px 12px; border-collapse: collapse }
td { padding: 0 10px 0 0; vertical-align: top }
button {
  font: inherit; color: inherit; background: #21262d; border: 1px solid #57606a; border-radius: 6px;
  padding: 2px 8px; cursor: pointer;
}
button:focus-visible, summary:focus-visible { outline: 2px solid #6cb0ff; outline-offset: 1px }
.yes { color: #56d364 }
.no { color: #ff9b93 }
.maybe { color: #e3b341 }
p { margin: 0 12px 12px }
`
