import { earlyCalls, earlyPatienceMs } from './snippet/calls.ts'

/**
 * Keeps the calls that a page makes before the script has loaded. A page whose policy forbids inline
 * scripts can put it into a file of its own. Each call returns a promise, which the script resolves by
 * `r`. That of `identify()` also resolves if the script never loads.
 */
export const installStub =
  "(w=>{if(w.cairn?.identify)return;const c=w.cairn={q:[]};for(const m of'" +
  `${earlyCalls.join(' ')}'.split(' '))c[m]=(...a)=>new Promise(r=>{c.q?c.q.push(Object.assign([m,...a],{r})):r();` +
  `m=='identify'&&setTimeout(r,${earlyPatienceMs},'alone')});c.isActive=()=>!1;c.progress=()=>null;` +
  "c.on=(n,f)=>{c.q.push(['on',n,x=>f?.(x)]);return()=>{f=null}}})(window)"

/** The script of one version, and the hash that a browser checks it against. */
interface PinnedSnippet {
  file: string
  integrity: string
}

/** Makes flows that are only for some people wait until the page has said who is there. */
const waits = ' data-identify="wait"'

/**
 * What a page needs, as HTML: always the newest script, or only this version, which the browser verifies.
 * Each is for the pages of an application with a login, or for those of a public site.
 */
export function installTags(baseUrl: string, key: string, { file, integrity }: PinnedSnippet) {
  const tag = (file: string, more: string) =>
    `<script async src="${baseUrl}/${file}" data-key="${key}"${more}></script>`
  const verified = ` integrity="${integrity}" crossorigin="anonymous"`
  return {
    newest: { withLogin: tag('snippet.js', waits), public: tag('snippet.js', '') },
    pinned: { withLogin: tag(file, waits + verified), public: tag(file, verified) },
  }
}
