import { installStub } from '../../web/install-code.ts'
import style from './site/app.css' with { type: 'text' }
import script from './site/app.js' with { type: 'text' }
import index from './site/index.html' with { type: 'text' }
import { logo } from './site/logo.ts'

/** Where the pages of the demo's application find Cairn. */
export interface SiteOptions {
  /** Without a slash at the end. */
  cairnUrl: string
  snippetKey: string
}

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

const answer = (body: string, type: string, headers: Record<string, string> = {}) =>
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
    '/app.css': () => answer(style as unknown as string, 'text/css'),
    '/app.js': () => answer(script as unknown as string, 'text/javascript'),
    '/logo.svg': () => answer(logo('#0b7285'), 'image/svg+xml'),
    '/logo-dark.svg': () => answer(logo('#3bc9db'), 'image/svg+xml'),
    '/cairn-stub.js': () => answer(installStub, 'text/javascript'),
  }
  return (request: Request): Response => {
    const { pathname } = new URL(request.url)
    if (pathname === '/') return Response.redirect('/home', 302)
    const file = files[pathname]
    if (file) return file()
    return answer(page, 'text/html', { 'Content-Security-Policy': policyFor(cairnUrl) })
  }
}
