import { earlyCalls, earlyPatienceMs } from './snippet/calls.ts'

/**
 * Keeps calls that a page makes before the script has come. May stand in a file of the page's own where
 * its policy takes no scripts in the page. Each answers a promise, which the script keeps by `r`; that of
 * `identify()` also where the script never comes.
 */
export const installStub =
  "(w=>{if(w.cairn?.identify)return;const c=w.cairn={q:[]};for(const m of'" +
  `${earlyCalls.join(' ')}'.split(' '))c[m]=(...a)=>new Promise(r=>{c.q?c.q.push(Object.assign([m,...a],{r})):r();` +
  `m=='identify'&&setTimeout(r,${earlyPatienceMs},'alone')});c.isActive=()=>!1;c.progress=()=>null;` +
  "c.on=(n,f)=>{c.q.push(['on',n,x=>f?.(x)]);return()=>{f=null}}})(window)"

/** The script of one version, and what a browser holds it against. */
interface PinnedSnippet {
  file: string
  integrity: string
}

/** Has a page begin what is for some people only once it has said who is there. */
const waits = ' data-identify="wait"'

/**
 * What a page needs, as HTML: always the newest, or just this version, which the browser verifies; each
 * for the pages of an application with a login, and for those of a public site.
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
