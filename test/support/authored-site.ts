import type { Server } from './binary.ts'

/**
 * A customer's site on an origin of its own, as strict as sites are: a content policy with Trusted Types that
 * allows nothing but Cairn, isolation of its windows, and a router that draws its pages by itself.
 */
export class AuthoredSite {
  private readonly server: ReturnType<typeof Bun.serve>
  /** The requests to the site itself. */
  readonly requests: string[] = []

  /** @param integrity of the snippet's file, if the page names one */
  constructor(
    private readonly cairn: Pick<Server, 'url'>,
    private readonly snippetKey: string,
    private readonly snippet: { file: string; integrity?: string } = { file: 'snippet.js' },
  ) {
    this.server = Bun.serve({ port: 0, fetch: request => this.answer(request) })
  }

  get origin(): string {
    return `http://app.localhost:${this.server.port}`
  }

  private get policy(): string {
    const { url } = this.cairn
    return (
      `default-src 'none'; script-src 'self' ${url}; connect-src 'self' ${url}; style-src 'self'; ` +
      "base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
  }

  private answer(request: Request): Response {
    const { pathname, search } = new URL(request.url)
    this.requests.push(pathname + search)
    if (pathname === '/app.js') return as('text/javascript', router)
    if (pathname === '/app.css') return as('text/css', looks)
    if (pathname === '/login')
      return as('text/html', '<!doctype html><script src="/login.js"></script>')
    if (pathname === '/login.js') return as('text/javascript', "location.replace('/projects')")
    const { file, integrity } = this.snippet
    const verified = integrity ? ` integrity="${integrity}" crossorigin` : ''
    const tag = `<script async src="${this.cairn.url}/${file}" data-key="${this.snippetKey}"${verified}></script>`
    return new Response(page(tag), {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': this.policy,
        'cross-origin-opener-policy': 'same-origin',
      },
    })
  }

  stop(): Promise<void> {
    return this.server.stop(true)
  }
}

const as = (type: string, text: string) =>
  new Response(text, { headers: { 'content-type': `${type}; charset=utf-8` } })

const page = (tag: string) => `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Harbor</title>
<link rel="stylesheet" href="/app.css"><script defer src="/app.js"></script>${tag}
<header><strong>Harbor</strong><nav><a href="/projects">Projects</a><a href="/team">Team</a></nav>
<button class="profile" aria-label="Account of Ann Miller">AM</button></header>
<main id="main"></main></html>`

/** Redraws what is below the header, and intercepts only clicks on its own links. */
const router = `
customElements.define('own-menu', class extends HTMLElement {
  connectedCallback() {
    const shadow = this.attachShadow({ mode: 'open' })
    const button = document.createElement('button')
    button.id = 'more'
    button.textContent = 'More'
    shadow.append(button)
  }
})
const make = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}
window.clicks = []
document.addEventListener('click', event => {
  window.clicks.push(event.target.localName + '#' + event.target.id)
  const link = event.target.closest('a')
  if (!link) return
  event.preventDefault()
  history.pushState({}, '', link.href)
  draw()
}, true)
const pages = {
  '/projects': () => [
    make('h1', {}, 'Projects'),
    make('div', { class: 'tools' },
      make('button', { id: 'new', 'data-testid': 'new-project', class: 'css-1x2y3z primary' }, 'New project'),
      make('button', { class: 'plain', disabled: '' }, 'Import'),
      make('own-menu')),
    make('ul', { class: 'list' }, ...['Website', 'Mobile app', 'Brand'].map(name =>
      make('li', { class: 'row' }, make('span', {}, name), make('button', { class: 'plain' }, 'Open')))),
    make('input', { name: 'secret', 'aria-label': 'Search', value: 'typed by a person' }),
  ],
  '/given': () => [
    make('h1', {}, 'Given'),
    make('div', { id: 'bar', class: 'wrapper', 'data-testid': 'bar' },
      make('button', { id: 'a', 'data-cy': 'c-a', 'data-action': 'b-a', 'data-tour': 'a-a', 'data-name': 'door' }, 'All')),
    make('div', { class: 'wrapper', 'data-state': 'open', 'data-index': '7' },
      make('button', { id: 'b', name: 'n', 'data-feature': 'export-data', 'data-state': 'closed' }, 'Export')),
    make('button', { id: 'radix-:r1:', name: 'save', 'data-state': 'on' }, 'Save'),
    make('div', { role: 'tab', 'aria-label': 'Usage', tabindex: '0', class: 'css-1x2y3z' }, 'Usage'),
    make('button', { 'data-action': 'pay' }, make('span', { class: 'label' }, 'Pay now')),
    make('button', { 'data-tour': 'twice' }, 'Twice'), make('button', { 'data-tour': 'twice', id: 'once' }, 'Once'),
    make('section', { 'data-testid': 'panel' }, make('button', { class: 'css-9x8y7z' }, 'Inside')),
    make('div', { class: 'around' }, make('p', {}, 'Plans'), make('button', { class: 'plain' }, 'Choose')),
  ],
  '/team': () => [make('h1', {}, 'Team'), make('button', { id: 'invite' }, 'Invite your team')],
}
const draw = () => main.replaceChildren(...(pages[location.pathname] ?? pages['/projects'])())
addEventListener('popstate', draw)
draw()
`

const looks = `
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: #1f2328; background: #f6f8fa }
header { display: flex; gap: 24px; align-items: center; padding: 12px 32px; background: #fff; border-bottom: 1px solid #d0d7de }
nav { display: flex; gap: 16px; margin-right: auto } a { color: #57606a; text-decoration: none }
main { max-width: 860px; margin: 24px auto; padding: 0 24px }
.tools { display: flex; gap: 8px; margin: 16px 0 }
button { font: inherit; padding: 6px 14px; border-radius: 6px; border: 1px solid #d0d7de; background: #fff }
.primary { background: #1f883d; color: #fff; border-color: #1f883d }
.profile { border-radius: 50%; width: 36px; height: 36px; padding: 0 }
.list { list-style: none; padding: 0; background: #fff; border: 1px solid #d0d7de; border-radius: 8px }
.row { display: flex; justify-content: space-between; padding: 12px 16px; border-bottom: 1px solid #d0d7de }
input { padding: 6px 10px }
`
