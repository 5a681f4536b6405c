import { expect } from 'bun:test'
import { join } from 'node:path'
import { until } from '../../scripts/support/until.ts'
import { pass } from '../support/browser.ts'
import { afterAll, beforeAll, test } from '../support/in-browser.ts'
import { allSent, Site, shown } from '../support/site.ts'

/** How steps find their element, also if their selector fails, and which elements they ignore. */

/** A flow of one step for each case, by address; a visitor sees only theirs. */
const flowOf = (key: string, target: string) => `
- key: ${key}
  targeting: { urls: [{ match: exact, pattern: "/projects?case=${key}" }] }
  steps:
    - { key: look, title: Look here, target: ${target} }
    - { key: end, kind: modal, title: The end }
`

/** What the element was like, as its author remembers it. */
const save = '{ tag: button, role: button, text: Save it, id: save-it }'

const germanSave =
  '{ tag: button, role: button, text: Sichern, ancestors: [{ tag: section, id: more }], locale: de }'

const alternates = (selectors: string, more = '') =>
  `{ selector: "#gone", waitMs: 300, alternates: ${selectors} ${more} }`
const remembered = (fingerprint: string, selector = '#gone') =>
  `{ selector: "${selector}", waitMs: 300, fingerprint: ${fingerprint} }`

const flows = [
  flowOf('skips', '{ selector: "#none", waitMs: 200 }'),
  flowOf('stops', '{ selector: "#none", waitMs: 200, onMissing: stop }'),
  flowOf('waits', '{ selector: "#none", waitMs: 200, onMissing: wait }'),
  flowOf('optional', '{ selector: "#none", waitMs: 200, required: false }'),
  flowOf('twice', '{ selector: ".column", waitMs: 200 }'),
  flowOf('second', '{ selector: ".column", nth: 1 }'),
  flowOf('worded', '{ selector: ".column h2", text: Doing }'),
  flowOf('alternate', alternates('["#absent", ".twin", "#other"]')),
  flowOf('alternate-worded', alternates('[".row"]', ', text: Second row')),
  flowOf('placed', alternates('[".row:last-child"]', ', nth: 3')),
  flowOf('doubtful', alternates('[".twin"]')),
  flowOf('small-screen', '{ selector: "#wide", waitMs: 300, alternates: ["#narrow"] }'),
  flowOf('changed', remembered(save)),
  flowOf('equal', remembered(save)),
  flowOf('unlike', remembered(save)),
  flowOf('tucked-away', remembered(save, '#wide')),
  flowOf('several', remembered('{ tag: button, role: button, text: Save it, id: b }', '.twin')),
  flowOf('translated', remembered(germanSave)),
  flowOf('nested', '{ selector: "#deep", waitMs: 300 }'),
  flowOf('closed', '{ selector: "#deep", waitMs: 300 }'),
  flowOf('late-inside', '{ selector: "#deep", waitMs: 60000 }'),
  flowOf('framed', '{ selector: "#deep", waitMs: 300 }'),
  flowOf('folded', '{ selector: "#inside", waitMs: 300 }'),
  flowOf('other-tab', '{ selector: "#inside", waitMs: 300 }'),
  flowOf('faded-in', '{ selector: "#slow", waitMs: 10000 }'),
  flowOf('replaced', '{ selector: "#again", waitMs: 5000 }'),
  flowOf('busy', '{ selector: "#gone", waitMs: 60000 }'),
  flowOf('odd-page', '{ selector: "main", waitMs: 300 }'),
  flowOf('watched', '{ selector: "#shown" }'),
  flowOf('pinned', '{ selector: ".buy", waitMs: 300 }'),
]

interface Checked {
  reports: Record<string, number>
  alternate: { selector: string } | null
  suggestion: { selector: string } | null
  fingerprints: { match: number; drift: number; gone: number; baselineAt: string | null }
}

let site: Site
beforeAll(async () => {
  site = await Site.open(flows.join(''))
})
afterAll(() => site.close())

/** The page of a case, with markup that is added before the snippet looks at it. */
async function open(name: string, markup = '', prepare: () => void = () => {}) {
  // Tests write markup, which the site's policy forbids.
  const { page, noticed } = await site.browser.page({
    clock: true,
    bypassCSP: true,
    viewport: { width: 900, height: 600 },
  })
  await page.addInitScript(markup => {
    // Frames get this script too.
    if (window !== window.top) return
    document.addEventListener('DOMContentLoaded', () => {
      const more = document.createElement('section')
      more.id = 'more'
      more.innerHTML = markup
      document.body.append(more)
    })
  }, markup)
  await page.addInitScript(`document.addEventListener('DOMContentLoaded', ${prepare})`)
  await page.route('**/snippet.js', async route => {
    await page.waitForLoadState('domcontentloaded')
    await route.continue()
  })
  await page.goto(`${site.url}/projects?case=${name}`)
  const { title } = shown(page)
  /** Whether the step points there, once the page has been scrolled. */
  const isAround = async (selector: string) => {
    await title.getByText('Look here').waitFor()
    return until(async () => {
      const ring = await page.locator('[data-cairn] .ring').boundingBox()
      const element = await page.locator(selector).first().boundingBox()
      const isNear = (side: 'x' | 'y') => Math.abs((ring?.[side] ?? 0) - (element?.[side] ?? 0)) < 3
      return ring !== null && element !== null && isNear('x') && isNear('y')
    })
  }
  return { page, noticed, title, isAround, isSkipped: () => title.getByText('The end').waitFor() }
}

/** What pages have reported about the one target of a case. */
async function reported(
  name: string,
  holds = ({ reports }: Checked) => Object.values(reports).some(count => count > 0),
): Promise<Checked> {
  const check = async () => {
    const { stdout } = await site.place.run(['steps', 'check', '--flow', name, '--json'])
    return (JSON.parse(stdout) as { steps: Checked[] }).steps[0]
  }
  return (await until(check, step => step !== undefined && holds(step)))!
}

const outcomeOf = async (name: string) => {
  const { reports } = await reported(name)
  return Object.keys(reports).filter(outcome => reports[outcome] !== 0)
}

test('a step without its element is skipped, ends the flow, waits or is optional, as the author has set', async () => {
  const skips = await open('skips')
  await skips.isSkipped()
  await allSent(skips.page)
  const stops = await open('stops')
  const optional = await open('optional')
  await optional.title.getByText('Look here').waitFor()
  const waits = await open('waits')
  await pass(waits.page, 5_000)
  expect(await waits.title.count()).toBe(0)
  await waits.page.evaluate(
    "document.querySelector('main').insertAdjacentHTML('beforeend', '<b id=none>Late</b>')",
  )
  expect(await waits.isAround('#none')).toBe(true)
  expect(await stops.title.count()).toBe(0)
  await allSent(stops.page)

  const ended = await site.until('stops', ({ totals }) => totals.dismissals === 1)
  expect(ended.steps[0]).toMatchObject({ reached: 0, targetMissing: 1 })
  const skipped = await site.until('skips', ({ steps }) => steps[1]!.reached === 1)
  expect(skipped.steps[0]).toMatchObject({ reached: 0, targetMissing: 1 })
})

test('a step points at one of several elements only if place or text identify it', async () => {
  const twice = await open('twice')
  await twice.isSkipped()
  const worded = await open('worded')
  expect(await worded.isAround('.column:nth-child(2) h2')).toBe(true)
  const second = await open('second')
  expect(await second.isAround('.column:nth-child(2)')).toBe(true)
  // Its health is reported once per step and run.
  await second.page.reload()
  await second.title.getByText('Look here').waitFor()
  const { reports, fingerprints } = await reported('second')
  expect(reports.found).toBe(1)
  expect(fingerprints).toMatchObject({ match: 0, gone: 0 })
})

test('alternates are tried in their order, and the first that finds exactly one element is taken', async () => {
  const markup = '<p class="twin">A</p><p class="twin">B</p><p id="other">C</p>'
  const { isAround } = await open('alternate', markup)
  expect(await isAround('#other')).toBe(true)
  const { reports, alternate } = await reported('alternate')
  expect(reports.found_by_alternate).toBe(1)
  expect(alternate?.selector).toBe('#other')
})

test('for an alternate the text of the target counts, and its nth does not', async () => {
  const rows = '<p class="row">First row</p><p class="row">Second row</p>'
  const worded = await open('alternate-worded', rows)
  expect(await worded.isAround('#more .row:nth-child(2)')).toBe(true)
  const placed = await open('placed', '<div><p class="row">1</p><p class="row">2</p></div>')
  expect(await placed.isAround('#more .row:last-child')).toBe(true)
})

test('if the first element is hidden, as on a small screen, an alternate may be taken', async () => {
  const markup = '<p id="wide" style="display: none">Wide</p><p id="narrow">Narrow</p>'
  const { isAround } = await open('small-screen', markup)
  expect(await isAround('#narrow')).toBe(true)
})

test('the one element that is like the remembered one is found, and reported as changed', async () => {
  const markup =
    '<button id="save-it" data-test="new" class="x">Save it</button><button>Leave it</button>'
  const { isAround } = await open('changed', markup)
  expect(await isAround('#save-it')).toBe(true)
  const { reports, fingerprints } = await reported('changed')
  expect(reports.changed).toBe(1)
  // An element that was only found by its likeness is no baseline to compare others with.
  expect(fingerprints.baselineAt).toBeNull()
})

test.each([
  [
    'equal',
    'of two that are as good',
    '<button id="save-it">Save it</button><button id="save-it">Save it</button>',
    'not_found',
  ],
  ['unlike', 'of less than .85', '<button id="another">Save it</button>', 'not_found'],
  [
    'tucked-away',
    'instead of one that is hidden',
    '<p id="wide" style="display: none"></p><button id="save-it">Save it</button>',
    'hidden',
  ],
  [
    'doubtful',
    'by an alternate that finds two',
    '<p class="twin">A</p><p class="twin">B</p>',
    'not_found',
  ],
  [
    'folded',
    'inside closed details',
    '<details><summary>More</summary><button id="inside">Inside</button></details>',
    'hidden',
  ],
  [
    'other-tab',
    'in a tab that is not open',
    '<div style="display: none"><button id="inside">Inside</button></div>',
    'hidden',
  ],
  [
    'translated',
    'by its place alone, where words are of another language',
    '<button>Leave</button>',
    'not_found',
  ],
])('%s: nothing is taken %s', async (name, _, markup, outcome) => {
  const { isSkipped } = await open(name, markup)
  await isSkipped()
  expect(await outcomeOf(name)).toEqual([outcome])
})

test('of several that the selector finds, the remembered one is taken', async () => {
  const markup =
    '<button class="twin" id="a">Drop it</button><button class="twin" id="b">Save it</button>'
  const { isAround } = await open('several', markup)
  expect(await isAround('#b')).toBe(true)
})

test('open shadow trees are searched, however deep; frames are not', async () => {
  const nest = (mode: string) => `() => {
    let at = document.querySelector('#more')
    for (const last of [false, false, true]) {
      const host = document.createElement('div')
      at.append(host)
      at = host.attachShadow({ mode: last ? '${mode}' : 'open' })
    }
    at.innerHTML = '<button id="deep">Deep</button>'
  }`
  const nested = await open('nested', '', nest('open') as never)
  await nested.title.getByText('Look here').waitFor()
  const closed = await open('closed', '', nest('closed') as never)
  await closed.isSkipped()
  const framed = await open('framed', '<iframe srcdoc="<button id=deep>Deep</button>"></iframe>')
  await framed.isSkipped()
  expect(await outcomeOf('framed')).toEqual(['not_found'])
})

test('an element that appears late in an existing shadow tree is waited for', async () => {
  const { page, title } = await open('late-inside', '<div id="host"></div>', () => {
    document.querySelector('#host')?.attachShadow({ mode: 'open' })
  })
  await pass(page, 5_000)
  expect(await title.count()).toBe(0)
  await page.evaluate(() => {
    const button = document.createElement('button')
    button.id = 'deep'
    button.textContent = 'Deep'
    document.querySelector('#host')?.shadowRoot?.append(button)
  })
  await title.getByText('Look here').waitFor()
})

test('an element that a transition shows is found, although no observer reports it', async () => {
  const markup =
    '<button id="slow" style="opacity: 0; transition: opacity 10ms 900ms">Slow</button>'
  const { isAround } = await open('faded-in', markup, () => {
    requestAnimationFrame(() => {
      requestAnimationFrame(() => {
        document.querySelector<HTMLElement>('#slow')!.style.opacity = '1'
      })
    })
  })
  expect(await isAround('#slow')).toBe(true)
})

test('an element that is replaced while it is shown is followed without a jump', async () => {
  const { page, title, isAround } = await open('replaced', '<button id="again">Old</button>')
  expect(await isAround('#again')).toBe(true)
  const corner = await page.evaluate(async () => {
    const tip = () =>
      document.querySelector('[data-cairn]')!.shadowRoot!.querySelector('.ring, .tip')
    const old = document.querySelector('#again')!
    const fresh = document.createElement('button')
    fresh.id = 'again'
    fresh.textContent = 'New, and a good deal wider'
    old.replaceWith(fresh)
    let isAtCorner = false
    for (const end = performance.now() + 900; performance.now() < end; ) {
      await new Promise(requestAnimationFrame)
      const { x, y } = tip()!.getBoundingClientRect()
      isAtCorner ||= x === 0 && y === 0
    }
    return isAtCorner
  })
  expect(corner).toBe(false)
  expect(await title.count()).toBe(1)
  expect(await isAround('#again')).toBe(true)
})

test('a page that changes all the time is searched at most twenty times a second', async () => {
  const { page } = await open('busy', '<div id="ticker"></div>', () => {
    const { querySelectorAll } = Document.prototype
    const counted = window as unknown as { looks: number }
    counted.looks = 0
    Document.prototype.querySelectorAll = function (this: Document, selector: string) {
      if (selector === '#gone') counted.looks++
      return querySelectorAll.call(this, selector)
    } as typeof querySelectorAll
    setInterval(
      () => document.querySelector('#ticker')!.setAttribute('data-at', String(Math.random())),
      10,
    )
  })
  await page.waitForFunction('window.looks > 0')
  const counts = () =>
    page.evaluate(() => ({
      looks: (window as unknown as { looks: number }).looks,
      seconds: performance.now() / 1_000,
    }))
  const before = await counts()
  await page.clock.runFor(2_000)
  const after = await counts()
  const aSecond = (after.looks - before.looks) / (after.seconds - before.seconds)
  expect(aSecond).toBeGreaterThan(1)
  expect(aSecond).toBeLessThanOrEqual(21)
})

/** Breaks the check for visible elements, as no page should, but some do. */
const breakDom = () => {
  Element.prototype.checkVisibility = () => {
    throw new TypeError('a page of its own')
  }
}

test('on a page that breaks the search the flow goes on, and the fault is reported', async () => {
  const { isSkipped } = await open('odd-page', '', breakDom)
  await isSkipped()
  expect(await outcomeOf('odd-page')).toEqual(['error'])
})

test('a page that breaks the watch over a shown element sees no error, and keeps the step', async () => {
  const { page, title, noticed, isAround } = await open('watched', '<p id="shown">A</p>')
  expect(await isAround('#shown')).toBe(true)
  await page.evaluate(breakDom)
  await pass(page, 5_000)
  expect(await title.textContent()).toBe('Look here')
  expect(noticed.complaints).toEqual([])
})

test('what steps pin stored finds an element whose selector is gone, and a better one is suggested', async () => {
  const before = await open(
    'pinned',
    '<form id="checkout"><button class="buy" id="order" data-testid="pay">Buy it now</button></form>',
  )
  expect(await before.isAround('.buy')).toBe(true)
  await reported('pinned', ({ fingerprints }) => fingerprints.baselineAt !== null)
  const pinned = await site.place.run(['steps', 'pin', '--flow', 'pinned'])
  expect(pinned.stderr).toBe('')
  expect(pinned.stdout).toContain('cairn flows publish pinned')
  await site.place.run(['flows', 'publish', 'pinned'])

  const markup =
    '<form id="checkout"><button class="purchase" id="order" data-testid="pay">Buy it now</button><button>Not now</button></form>'
  const after = await open('pinned', markup)
  expect(await after.isAround('.purchase')).toBe(true)
  const { suggestion, fingerprints } = await reported(
    'pinned',
    ({ reports, suggestion }) => reports.changed === 1 && suggestion !== null,
  )
  expect(fingerprints).toMatchObject({ drift: 0, gone: 0 })
  // Of all that was set by hand, the same as a picked element would be found by.
  expect(suggestion?.selector).toBe('[data-testid="pay"]')
})

test('a flow file that was pulled does not differ from its flow', async () => {
  const { place } = site
  const pulled = await place.run(['flows', 'pull', 'pinned', 'alternate'])
  await Bun.write(join(place.folder, 'again.yaml'), pulled.stdout)
  const compared = await place.run(['flows', 'diff', 'again.yaml'])
  expect(compared.status).toBe(0)
})
