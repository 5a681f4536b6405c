/** Pages before and after a change, as web applications make them; `capture.ts` looks at them. */

/** One change of a page around a step's target. */
export interface ElementChange {
  /** The step's `target.selector`, written against the page before. */
  target: string
  before: string
  after: string
  /** What is in the target's place afterwards, if the selector does not find it; null if nothing is. */
  element?: string | null
  /** The languages of both pages, if they differ. */
  locales?: [before: string, after: string]
}

const page = (main: string, { brand = 'Harbor', aside = '' } = {}) => `
  <div id="root"><div class="layout">
    <header class="topbar" role="banner">
      <a class="brand" href="/">${brand}</a>
      <nav class="menu"><a href="/projects">Projects</a><a href="/people">People</a></nav>
    </header>
    <main class="content">${main}</main>${aside}
  </div></div>`

/** A redesign: nothing of the old frame is left. */
const redesigned = (body: string) => `
  <app-shell><section data-theme="dark">${body}</section>
    <footer><a href="/legal">Legal</a></footer></app-shell>`

const toolbar = (buttons: string) => page(`<h1>Projects</h1><div class="toolbar">${buttons}</div>`)

const plain = '<button type="button" class="btn btn-primary">New project</button>'
const withIds =
  '<button type="button" id="new-project" data-testid="new-project" class="btn btn-primary">New project</button>'

const rows = (names: string[], button: (name: string) => string) =>
  page(
    `<table class="grid"><tbody>${names
      .map(name => `<tr><td>${name}</td><td>${button(name)}</td></tr>`)
      .join('')}</tbody></table>`,
  )
const remove = () => '<button type="button" class="link">Delete</button>'
const removeById = (name: string) =>
  `<button type="button" class="link" data-testid="delete-${name.toLowerCase()}">Delete</button>`

const list = (names: string[]) =>
  page(
    `<ul class="cards">${names
      .map(name => `<li><a class="card" href="/projects/${name.toLowerCase()}">${name}</a></li>`)
      .join('')}</ul>`,
  )

const icon = '<svg width="16" height="16" aria-hidden="true"><path d="M8 2v12"/></svg>'
const field = (attributes: string, label = '') =>
  page(`<form class="search" action="/search">${label}<input ${attributes}></form>`)

export const changes: Record<string, ElementChange> = {
  'nothing changed': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar(plain),
  },
  'attributes in another order': {
    target: '#new-project',
    before: toolbar(withIds),
    after: toolbar(
      '<button class="btn-primary btn" data-testid="new-project" id="new-project" type="button">New project</button>',
    ),
  },
  'class renamed, no ids': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar('<button type="button" class="button button--accent">New project</button>'),
    element: '.toolbar button',
  },
  'hashed classes after a build': {
    target: '#root main button',
    before: toolbar('<button type="button" class="css-1x2y3z">New project</button>'),
    after: toolbar('<button type="button" class="css-9q8w7e">New project</button>'),
  },
  'state class added': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar(
      '<button type="button" class="btn btn-primary is-active is-focused">New project</button>',
    ),
  },
  'another language, by its locale': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar('<button type="button" class="btn btn-primary">Neues Projekt</button>'),
    locales: ['en', 'de'],
  },
  'another language, and nobody says so': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar('<button type="button" class="btn btn-primary">Neues Projekt</button>'),
  },
  'a word more in the label': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar('<button type="button" class="btn btn-primary">New project…</button>'),
  },
  'relabelled, no ids': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar('<button type="button" class="btn btn-primary">Create</button>'),
  },
  'relabelled, with id and test id': {
    target: '#new-project',
    before: toolbar(withIds),
    after: toolbar(withIds.replace('>New project<', '>Create<')),
  },
  'a count in the label': {
    target: '.inbox',
    before: toolbar('<a class="inbox" href="/inbox">Inbox (3)</a>'),
    after: toolbar('<a class="inbox" href="/inbox?unread=1">Inbox (12)</a>'),
  },
  'moved down its list': {
    target: 'a[href="/projects/atlas"]',
    before: list(['Atlas', 'Borealis', 'Cosmos']),
    after: list(['Borealis', 'Cosmos', 'Atlas']),
  },
  'another came to its place in the list': {
    target: '.cards li:first-child a',
    before: list(['Atlas', 'Borealis', 'Cosmos']),
    after: list(['Borealis', 'Cosmos', 'Atlas']),
  },
  'wrapped in a div': {
    target: '.toolbar > button',
    before: toolbar(plain),
    after: toolbar(`<div class="tooltip-anchor">${plain}</div>`),
    element: '.toolbar button',
  },
  'wrapped thrice': {
    target: '.toolbar > button',
    before: toolbar(plain),
    after: toolbar(`<div><span><div>${plain}</div></span></div>`),
    element: '.toolbar button',
  },
  'moved to the header': {
    target: '.toolbar .btn',
    before: toolbar(plain),
    after: page('<h1>Projects</h1>', { brand: `Harbor</a>${plain}<a>` }),
    element: '.btn',
  },
  'test id changed, same text': {
    target: '[data-testid=new-project]',
    before: toolbar(withIds),
    after: toolbar(withIds.replace('data-testid="new-project"', 'data-testid="create"')),
    element: '#new-project',
  },
  'test id changed, no id, same text': {
    target: '[data-testid=save]',
    before: toolbar('<button type="button" data-testid="save">Save</button>'),
    after: toolbar('<button type="button" data-testid="submit">Save</button>'),
    element: 'main button',
  },
  'another test attribute, same value': {
    target: '[data-testid=save]',
    before: toolbar('<button type="button" data-testid="save">Save</button>'),
    after: toolbar('<button type="button" data-test="save">Save</button>'),
    element: 'main button',
  },
  'test ids stripped from the build': {
    target: '[data-testid=new-project]',
    before: toolbar(withIds),
    after: toolbar(withIds.replace(' data-testid="new-project"', '')),
    element: '#new-project',
  },
  'test id added': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar(plain.replace('class=', 'data-testid="new-project" class=')),
  },
  'id renamed, no test id': {
    target: '#save',
    before: toolbar('<button type="button" id="save" class="btn">Save changes</button>'),
    after: toolbar('<button type="button" id="save-changes" class="btn">Save changes</button>'),
    element: 'main button',
  },
  'id generated anew (React)': {
    target: 'main button.btn',
    before: toolbar('<button type="button" id=":r1:" class="btn">Filter</button>'),
    after: toolbar('<button type="button" id=":r1q:" class="btn">Filter</button>'),
  },
  'id generated anew (Radix, in a prefix)': {
    target: 'main button.btn',
    before: toolbar('<button type="button" id="radix-«r2»" class="btn">Filter</button>'),
    after: toolbar('<button type="button" id="radix-«rk»" class="btn">Filter</button>'),
  },
  'id counted anew (MUI)': {
    target: 'main button.btn',
    before: toolbar('<button type="button" id="mui-1041" class="btn">Filter</button>'),
    after: toolbar('<button type="button" id="mui-98" class="btn">Filter</button>'),
  },
  'ancestor ids generated anew': {
    target: 'main button.btn',
    before: page('<div id=":r5:"><div id="ember311"><button class="btn">Go</button></div></div>'),
    after: page('<div id=":r9:"><div id="ember847"><button class="btn">Go</button></div></div>'),
  },
  'the element is gone': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar(''),
    element: null,
  },
  'gone, and another button is there': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar('<button type="submit" class="btn">Export as CSV</button>'),
    element: '.btn',
  },
  'two match after a copy': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar(plain + plain),
  },
  'two match, one of them is new': {
    target: '.btn',
    before: toolbar(withIds),
    after: toolbar(`${withIds}<button type="button" class="btn">Import</button>`),
  },
  'button became a link': {
    target: 'button.btn-primary',
    before: toolbar(plain),
    after: toolbar('<a href="/projects/new" class="btn btn-primary">New project</a>'),
    element: '.btn-primary',
  },
  'button became a link, with id and test id': {
    target: 'button#new-project',
    before: toolbar(withIds),
    after: toolbar(
      '<a href="/projects/new" id="new-project" data-testid="new-project" class="btn btn-primary">New project</a>',
    ),
    element: '#new-project',
  },
  'aria-label added': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar(plain.replace('class=', 'aria-label="Start a new project" class=')),
  },
  'icon-only button': {
    target: '.icon-button',
    before: toolbar(`<button class="icon-button" aria-label="Help">${icon}</button>`),
    after: toolbar(`<button class="icon-button round" aria-label="Help">${icon}${icon}</button>`),
  },
  'icon-only button, relabelled': {
    target: '[aria-label=Help]',
    before: toolbar(`<button class="icon-button" aria-label="Help">${icon}</button>`),
    after: toolbar(`<button class="icon-button" aria-label="Support">${icon}</button>`),
    element: '.icon-button',
  },
  'icon-only button, and another of its kind': {
    target: '.icon-button:first-child',
    before: toolbar(`<button class="icon-button" aria-label="Help">${icon}</button>`),
    after: toolbar(
      `<button class="icon-button" aria-label="Notifications">${icon}</button><button class="icon-button" aria-label="Help">${icon}</button>`,
    ),
  },
  'label replaced by an icon': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: toolbar(
      `<button type="button" class="btn btn-primary" aria-label="New project">${icon}</button>`,
    ),
  },
  'input with another placeholder': {
    target: 'input[name=q]',
    before: field('type="search" name="q" placeholder="Search projects"'),
    after: field('type="search" name="q" placeholder="Find anything"'),
  },
  'input with another placeholder, by its locale': {
    target: 'input[name=q]',
    before: field('type="search" name="q" placeholder="Search projects"'),
    after: field('type="search" name="q" placeholder="Projekte suchen"'),
    locales: ['en', 'de'],
  },
  'input got a label and an id': {
    target: 'input[name=q]',
    before: field('type="search" name="q" placeholder="Search projects"'),
    after: field(
      'type="search" name="q" id="q" placeholder="Search projects"',
      '<label for="q">Search</label>',
    ),
  },
  'a person typed into the input': {
    target: 'input[name=q]',
    before: field('type="search" name="q" placeholder="Search projects"'),
    after: field('type="search" name="q" placeholder="Search projects" value="ann@example.com"'),
  },
  'sibling row, same text': {
    target: 'tr:nth-child(2) button',
    before: rows(['Atlas', 'Borealis', 'Cosmos'], remove),
    after: rows(['Atlas', 'Cosmos', 'Dune'], remove),
  },
  'sibling row, its own test id': {
    target: 'tr:nth-child(2) button',
    before: rows(['Atlas', 'Borealis', 'Cosmos'], removeById),
    after: rows(['Atlas', 'Cosmos', 'Dune'], removeById),
  },
  'its row moved, its own test id': {
    target: 'tr:nth-child(2) button',
    before: rows(['Atlas', 'Borealis', 'Cosmos'], removeById),
    after: rows(['Borealis', 'Cosmos', 'Dune'], removeById),
  },
  'into a dialog that is open': {
    target: 'main .btn-primary',
    before: toolbar(plain),
    after: page('<h1>Projects</h1>', {
      aside: `<div role="dialog" aria-label="Create">${plain}</div>`,
    }),
    element: '.btn-primary',
  },
  'redesigned page, same words': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: redesigned('<a class="cta" href="/new" role="button">New project</a>'),
    element: '.cta',
  },
  'redesigned page, same test id and words': {
    target: '[data-testid=new-project]',
    before: toolbar(withIds),
    after: redesigned('<button class="cta" data-testid="new-project">New project</button>'),
  },
  'redesigned page, nothing alike': {
    target: '.btn-primary',
    before: toolbar(plain),
    after: redesigned('<a class="cta" href="/start">Get going</a>'),
    element: '.cta',
  },
}
