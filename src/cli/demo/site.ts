import { installStub } from '../../web/install-code.ts'
import style from './site/app.css' with { type: 'text' }
import script from './site/app.js' with { type: 'text' }
import index from './site/index.html' with { type: 'text' }

/** Where the pages of the demo's application find Cairn. */
export interface SiteOptions {
  /** Without a slash at the end. */
  cairnUrl: string
  snippetKey: string
}

/** Harbor's logo: an anchor and its name, in a colour. */
const logo = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 118 28" fill="${colour}">
<path d="M4 17c4 8 17 8 21 0M14.500 9v15M9.500 13h10" fill="none" stroke="${colour}" stroke-width="2.600" stroke-linecap="round"/>
<circle cx="14.500" cy="6" r="2.600" fill="none" stroke="${colour}" stroke-width="2.200"/>
<text x="33" y="21" font-family="system-ui, sans-serif" font-size="19" font-weight="700">Harbor</text>
</svg>
`

/** A page gets no script but its own and Cairn's, and no style but its own. */
const policyFor = (cairnUrl: string) =>
  [
    "default-src 'none'",
    `script-src 'self' ${cairnUrl}`,
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${cairnUrl}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')

const file = (body: string, type: string, headers: Record<string, string> = {}) =>
  new Response(body, {
    headers: { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': 'no-cache', ...headers },
  })

/** Harbor's site: a small application with the snippet on every page, under a strict policy. */
export function demoSite({ cairnUrl, snippetKey }: SiteOptions) {
  // Bun's types know HTML only as a bundle.
  const page = (index as unknown as string)
    .replace('{{cairn}}', cairnUrl)
    .replace('{{key}}', snippetKey)
  const files: Record<string, () => Response> = {
    '/app.css': () => file(style as unknown as string, 'text/css'),
    '/app.js': () => file(script as unknown as string, 'text/javascript'),
    '/logo.svg': () => file(logo('#0b7285'), 'image/svg+xml'),
    '/logo-dark.svg': () => file(logo('#3bc9db'), 'image/svg+xml'),
    '/cairn-stub.js': () => file(installStub, 'text/javascript'),
  }
  return (request: Request): Response => {
    const { pathname } = new URL(request.url)
    if (pathname === '/') return Response.redirect('/home', 302)
    const known = files[pathname]
    if (known) return known()
    return file(page, 'text/html', { 'Content-Security-Policy': policyFor(cairnUrl) })
  }
}
