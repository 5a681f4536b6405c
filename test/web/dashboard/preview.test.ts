import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../../scripts/support/until.ts'
import { demoSite } from '../../../src/cli/demo/site.ts'
import type { Flow } from '../../../src/core/flow/flow.ts'
import type { Locator } from '../../browser/playwright.ts'
import { type Page, still } from '../../support/browser.ts'
import {
  DashboardHouse,
  hardToUse,
  requireSound,
  requireSoundOnEveryScreen,
  resize,
} from '../../support/dashboard.ts'
import { afterAll, beforeAll, describe, test } from '../../support/in-browser.ts'

/** What visitors will see of a flow: drawn in a frame by the snippet's own stage, and reported to nobody. */

let house: DashboardHouse
/** Harbor, as the demo has it, with the snippet on its pages. */
let site: ReturnType<typeof Bun.serve>

const demo = (name: string) =>
  readFileSync(join(import.meta.dir, `../../../src/cli/demo/flows/${name}.yaml`), 'utf8')

/** Everything that a text can contain, and links that must not be followed when somebody clicks them. */
const odd = `key: odd
kind: announcement
steps:
  - key: links
    title: Links
    body: "[Guide](https://harbor.example/guide), [here](/settings), <b>no markup</b>"
    buttons: [{ label: Read on, action: link, href: /read }, { label: Back, action: back }]
  - key: dot
    kind: hotspot
    title: A dot
    target: { selector: "#help" }
`

beforeAll(async () => {
  house = await DashboardHouse.open()
  const { place } = house
  const push = async (text: string, ...how: string[]) => {
    await Bun.write(join(place.folder, 'preview.yaml'), text)
    const pushed = await place.run(['flows', 'push', 'preview.yaml', ...how])
    if (pushed.status !== 0) throw new Error(pushed.stderr)
  }
  const tour = demo('welcome-tour').replace('key: welcome', 'key: harbor')
  await push(tour, '--publish')
  // The draft has another name, so that a change is waiting.
  const later = tour.replace('name: Welcome to Harbor', 'name: Welcome back')
  await push([later, demo('getting-started'), odd].join('\n---\n'))
  const cairnUrl = house.server.url.replace('localhost', '127.0.0.1')
  const fetch = demoSite({ cairnUrl, snippetKey: house.snippetKey })
  site = Bun.serve({ hostname: 'localhost', port: 0, fetch })
})
afterAll(async () => {
  site?.stop(true)
  await house.close()
})

/** The frame of the preview, once the page has it. */
async function frameOf(page: Page) {
  const iframe = page.getByTitle('Preview of the flow')
  return (await (await iframe.elementHandle())!.contentFrame())!
}

/** Waits until the page has selected what the frame says that it shows. */
const selected = (field: Locator, key: string) =>
  until(
    () => field.inputValue(),
    value => value === key,
  )

/** The versions page of a flow whose draft is previewed, and the preview's frame. */
async function preview(flow: string) {
  const viewport = { width: 1280, height: 1200 }
  const { page, noticed } = await house.visit(`/flows/${flow}/versions`, { viewport })
  const requested: string[] = []
  page.on('request', request => {
    if (request.frame() !== page.mainFrame()) requested.push(new URL(request.url()).pathname)
  })
  await page.getByRole('button', { name: 'Show preview' }).click()
  const frame = await frameOf(page)
  // The page gives the frame its size, and the frame draws once more for that: a press meanwhile would be lost.
  await frame.locator('[data-cairn] :is(.card, .launcher, .panel)').first().waitFor()
  await still(page)
  await still(frame)
  const card = frame.locator('[data-cairn] .card')
  const title = (text: string) =>
    frame.locator('[data-cairn] .card h2', { hasText: text }).waitFor()
  const button = (name: string) => frame.getByRole('button', { name, exact: true })
  const step = page.getByLabel('Step', { exact: true })
  return { page, noticed, frame, card, title, button, step, requested }
}

/** The card as it is drawn, except for its place and the page's own colour variables. */
const drawn = async (page: Pick<Page, 'evaluate'>): Promise<unknown> => {
  await still(page)
  return page.evaluate(`(() => {
    const shadow = document.querySelector('[data-cairn]').shadowRoot
    const card = shadow.querySelector('.card')
    const placed = /^(--.*|left|top|translate|right|bottom|inset.*|max-height|max-block-size|.*-origin)$/
    return [card, ...card.querySelectorAll('.inner, .inner *, .close')].map(element => {
      const { width, height } = element.getBoundingClientRect()
      const style = getComputedStyle(element)
      const styles = [...style].filter(name => !placed.test(name))
      return {
        is: [element.localName, element.className, element.getAttribute('role')].join(' '),
        text: element.textContent,
        size: [width, height],
        styles: Object.fromEntries(styles.map(name => [name, style.getPropertyValue(name)])),
      }
    })
  })()`)
}

test('the card has the same elements, texts, sizes and styles as on a visitor’s page', async () => {
  const { frame, title, button } = await preview('harbor')
  await title('Welcome aboard')
  const [width, height] = (await frame.evaluate('[innerWidth, innerHeight]')) as number[]
  const visitor = await house.browser.page({ viewport: { width: width!, height: height! } })
  await visitor.page.goto(`http://localhost:${site.port}/projects`)
  const live = visitor.page.locator('[data-cairn] .card h2')
  await live.filter({ hasText: 'Welcome aboard' }).waitFor()
  expect(await drawn(frame)).toEqual(await drawn(visitor.page))

  await visitor.page.getByRole('button', { name: 'Show me around' }).click()
  await live.filter({ hasText: 'Start with a project' }).waitFor()
  await button('Show me around').click()
  await title('Start with a project')
  expect(await drawn(frame)).toEqual(await drawn(visitor.page))
})

test.each(['harbor', 'getting-started', 'odd'])(
  '%s is accessible in the page and in the frame, which follows the page’s colour scheme',
  async flow => {
    const { page, noticed, frame } = await preview(flow)
    await frame.locator('[data-cairn] :is(.card, .launcher)').first().waitFor()
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      const isDark = colorScheme === 'dark'
      await frame.locator(isDark ? 'html.dark' : 'html:not(.dark)').waitFor({ state: 'attached' })
      expect(await hardToUse(frame)).toEqual([])
    }
    await requireSoundOnEveryScreen(page, noticed)
  },
)

describe('what happens in the frame', () => {
  test('is not reported: the frame requests its document and script only, and cannot reach the API', async () => {
    const { page, title, button, frame, step, requested } = await preview('harbor')
    await title('Welcome aboard')
    await button('Show me around').click()
    await title('Start with a project')
    await frame.getByRole('button', { name: 'New project' }).click()
    await title('Break it into tasks')
    await page.getByRole('button', { name: 'Send it here' }).click()
    await title('Bring your crew')
    await button('Next').click()
    await frame.locator('.spot').click()
    await title('Help is here')
    await selected(step, 'find-help')
    await button('Done').click()
    await page.getByText('Completed: the flow closes').waitFor()
    expect(requested.map(path => path.replace(/-\w+\./, '-HASH.'))).toEqual([
      '/dashboard/assets/preview.html',
      '/dashboard/assets/preview-HASH.js',
    ])
    const reached = await frame.evaluate(`(async () => {
      const tried = async work => {
        try { return String(await work()) } catch (error) { return error.name }
      }
      return {
        origin: self.origin,
        cookie: await tried(() => document.cookie),
        storage: await tried(() => localStorage.length),
        dashboard: await tried(() => parent.document.title),
        api: await tried(() => fetch('/api/v1/manage/me')),
        beacon: await tried(() => navigator.sendBeacon('/api/v1/events', '{}')),
        window: String(window.open('/dashboard')),
      }
    })()`)
    expect(reached).toMatchObject({
      origin: 'null',
      cookie: 'SecurityError',
      storage: 'SecurityError',
      dashboard: 'SecurityError',
      api: 'TypeError',
      window: 'null',
    })
  })

  test('follows the selected step, language and screen, and selects the step that it shows', async () => {
    const { page, title, button, frame, step } = await preview('harbor')
    await title('Welcome aboard')
    await button('Show me around').click()
    await title('Start with a project')
    await selected(step, 'create-project')
    await page.getByText('A grey block stands for your page’s element').waitFor()
    await step.selectOption('invite-team')
    await title('Bring your crew')
    await page.getByText('/settings/people').waitFor()
    await button('Back').click()
    await title('Break it into tasks')
    await selected(step, 'add-task')
    await button('Close').click()
    await page.getByText('Closed by the visitor').waitFor()
    await page.getByRole('button', { name: 'Show again' }).click()
    await title('Welcome aboard')

    await step.selectOption('create-project')
    await page.getByRole('button', { name: 'Language of the page' }).click()
    await page.getByLabel('Language').selectOption({ label: 'Arabic' })
    await frame.getByRole('button', { name: 'تخطٍ' }).waitFor()
    const directions = await frame.evaluate(
      "[document.querySelector('[data-cairn]').shadowRoot.querySelector('.root:not(.live)'), document.body].map(one => getComputedStyle(one).direction)",
    )
    expect(directions).toEqual(['rtl', 'rtl'])
    await page.getByText('Phone', { exact: true }).click()
    await frame.waitForFunction(
      () => innerWidth === 390 && matchMedia('(max-width: 480px)').matches,
    )
  })

  test('follows no link, and says where it leads', async () => {
    const { page, noticed, title, frame, button } = await preview('odd')
    await title('Links')
    expect(await frame.locator('.body').textContent()).toBe('Guide, here, <b>no markup</b>')
    const says = (href: string) => page.getByRole('status').getByText(`leads to ${href}`).waitFor()
    await frame.getByRole('link', { name: 'Guide' }).click()
    await says('https://harbor.example/guide')
    await frame.getByRole('link', { name: 'here' }).click({ modifiers: ['Control'] })
    await says('/settings')
    await button('Read on').click()
    await says('/read')
    expect(page.context().pages().length).toBe(1)
    expect(new URL(frame.url()).pathname).toBe('/dashboard/assets/preview.html')
    expect(noticed.complaints).toEqual([])
  })

  test('ticks off the items of a checklist', async () => {
    const { page, frame } = await preview('getting-started')
    const panel = frame.locator('.panel')
    await panel.waitFor()
    const item = page.getByLabel('Item', { exact: true })
    await frame.getByRole('button', { name: 'Choose what you hear about' }).click()
    await panel.getByText('1 of 5').waitFor()
    await selected(item, 'choose-notifications')
    await page.getByText('leads to /settings/notifications').waitFor()
    await item.selectOption('complete-task')
    await page.getByRole('button', { name: 'Send it here' }).click()
    await panel.getByText('2 of 5').waitFor()
  })
})

test('a press that starts before the changes have loaded still opens the preview', async () => {
  const { page } = await house.enter({ viewport: { width: 1280, height: 1200 } })
  const difference = Promise.withResolvers<void>()
  await page.route('**/diff?*', async route => {
    await difference.promise
    await route.continue()
  })
  await page.goto(house.at('/flows/harbor/versions'))
  await page.getByRole('button', { name: 'Show preview' }).hover()
  await page.mouse.down()
  difference.resolve()
  await page.locator('.diff').waitFor()
  await page.mouse.up()
  await page.getByTitle('Preview of the flow').waitFor()
})

/** A flow's text is changed while it is shown, as an editor does with each letter. */
describe('a new text', () => {
  const flowWith = (title: string, second: object = {}): Flow =>
    ({
      ...{
        id: 'f',
        key: 'odd',
        version: 1,
        publishedAt: '',
        name: 'Odd',
        kind: 'tour',
        priority: 0,
      },
      ...{ frequency: 'once', targeting: {}, theme: null, checklist: null },
      steps: [
        { key: 'a', title: 'First', kind: 'modal', target: null },
        { key: 'b', title, kind: 'tooltip', target: { selector: '#b', text: null }, ...second },
      ].map((step, position) => ({
        ...{ id: step.key, position, body: '', buttons: [] },
        ...{ placement: { side: 'bottom', align: 'center' }, advance: { on: 'button' } },
        ...step,
      })),
    }) as never

  const show = (page: Page, flow: Flow, part: string | null) =>
    page.evaluate(
      `document.querySelector('iframe').contentWindow.postMessage(${JSON.stringify({ type: 'show', flow, part })}, '*')`,
    )

  test('appears in the next frame, in place, and does not take the focus from a field', async () => {
    const { page, frame, title, step } = await preview('odd')
    await title('Links')
    await show(page, flowWith('Second'), 'b')
    await title('Second')
    await still(frame)
    // Records what each painted frame shows, until the new text is there.
    const watched = frame.evaluate(`new Promise(resolve => {
      const shadow = document.querySelector('[data-cairn]').shadowRoot
      const seen = []
      let isTold = false
      let late = 0
      addEventListener('message', () => { isTold = true }, true)
      const look = () => {
        const card = shadow.querySelector('.card')
        const style = card && getComputedStyle(card)
        seen.push(card ? [style.opacity, card.style.translate, shadow.querySelectorAll('.card').length].join(' ') : 'nothing')
        const isThere = card?.querySelector('h2')?.textContent === 'Second, longer'
        if (isThere) return resolve({ late, seen: [...new Set(seen)] })
        if (isTold) late++
        requestAnimationFrame(look)
      }
      look()
    })`) as Promise<{ late: number; seen: string[] }>
    await show(page, flowWith('Second, longer'), 'b')
    const { late, seen } = await watched
    expect(seen.length).toBe(1)
    expect(seen[0]).toMatch(/^1 [\d.]+px [\d.]+px 1$/)
    expect(late).toBe(0)

    const focused = () => page.evaluate('document.activeElement.localName')
    await step.focus()
    await show(page, flowWith('Second'), 'a')
    await title('First')
    expect(await focused()).toBe('select')
    // A focus that has left the frame is not pulled back into it.
    await frame.getByRole('button', { name: 'Next' }).focus()
    await step.focus()
    await show(page, flowWith('Second'), 'b')
    await title('Second')
    expect(await focused()).toBe('select')
  })

  test('keeps the step when its key changes, and keeps an open hotspot open', async () => {
    const { page, frame, title } = await preview('odd')
    await title('Links')
    await show(page, flowWith('Second', { kind: 'hotspot' }), 'b')
    await frame.locator('.spot').click()
    await title('Second')
    await show(page, flowWith('Renamed', { key: 'c', id: 'c', kind: 'hotspot' }), 'b')
    await title('Renamed')
  })
})

describe('beside the text that is written', () => {
  /** The edit page of a flow and the preview beside it. */
  async function edit(flow: string) {
    const viewport = { width: 1280, height: 1200 }
    const { page, noticed } = await house.visit(`/flows/${flow}/edit?view=yaml`, { viewport })
    page.on('dialog', dialog => dialog.accept())
    await page.getByText('No problems').waitFor()
    const title = async (text: string) =>
      (await frameOf(page)).locator('[data-cairn] .card h2', { hasText: text }).waitFor()
    const line = (text: string) => page.locator('.cm-line', { hasText: text }).first()
    return { page, noticed, title, line }
  }

  test('the preview shows the text before it is validated, and the last valid text while there are errors', async () => {
    const { page, title, line } = await edit('harbor')
    await title('Welcome aboard')
    await line('Welcome aboard').click()
    await page.keyboard.press('End')
    const validated = Promise.withResolvers<void>()
    await page.route('**/manage/validate', async route => {
      await validated.promise
      await route.continue()
    })
    const validating = page.waitForRequest('**/manage/validate')
    await page.keyboard.insertText(', sailor')
    await title('Welcome aboard, sailor')
    await validating
    validated.resolve()
    await page.keyboard.insertText(': ahoy: ')
    await page.getByText('The preview shows it as it was before').waitFor()
    await title('Welcome aboard, sailor')
  })

  test('the cursor and the preview follow each other; on a phone the preview replaces the text', async () => {
    const { page, noticed, title, line } = await edit('harbor')
    await title('Welcome aboard')
    await line('title: Bring your crew').click()
    await title('Bring your crew')
    await page.locator('.yaml-editor:focus').waitFor()
    const shown = await frameOf(page)
    await still(shown)
    // By the mouse, on a frame that is scaled down.
    const at = (await shown.evaluate(`(() => {
      const buttons = document.querySelector('[data-cairn]').shadowRoot.querySelectorAll('.button')
      const { x, y, width, height } = buttons[0].getBoundingClientRect()
      return { x: (x + width / 2) / innerWidth, y: (y + height / 2) / innerHeight }
    })()`)) as { x: number; y: number }
    const box = (await page.getByTitle('Preview of the flow').boundingBox())!
    expect(box.width).toBeLessThan((await shown.evaluate('innerWidth')) as number)
    await page.mouse.click(box.x + at.x * box.width, box.y + at.y * box.height)
    await title('Break it into tasks')
    const active = page.locator('.cm-activeLine')
    await active.filter({ hasText: 'key: add-task' }).waitFor()
    await until(() => shown.evaluate('document.hasFocus()'))
    expect(await hardToUse(shown)).toEqual([])
    await requireSoundOnEveryScreen(page, noticed)
    await resize(page, { width: 360, height: 700 })
    await page.getByText('Preview', { exact: true }).click()
    await title('Break it into tasks')
    await requireSound(page, noticed)
  })
})

test('the keyboard leads into the frame, and out of it again in both directions', async () => {
  const { page, frame, title } = await preview('harbor')
  await title('Welcome aboard')
  const inFrame = () => frame.evaluate('document.hasFocus()') as Promise<boolean>
  const pressUntil = async (key: string, isIn: boolean) => {
    for (let presses = 0; presses < 12 && (await inFrame()) !== isIn; presses++) {
      await page.keyboard.press(key)
    }
    expect(await inFrame()).toBe(isIn)
  }
  await page.getByRole('button', { name: 'Language of the page' }).focus()
  await pressUntil('Tab', true)
  await pressUntil('Tab', false)
  await pressUntil('Shift+Tab', true)
  await pressUntil('Shift+Tab', false)
  await pressUntil('Tab', true)
  // Escape closes the step, as it does for visitors.
  await page.keyboard.press('Escape')
  await page.getByText('Closed by the visitor').waitFor()
})

test('no page of another origin can show the preview in a frame', async () => {
  const { page, noticed } = await house.browser.page()
  await page.goto(`http://localhost:${site.port}/app.css`)
  const address = `${house.server.url}/dashboard/assets/preview.html`
  await page.evaluate(
    `document.body.append(Object.assign(document.createElement('iframe'), { src: '${address}' }))`,
  )
  await until(
    () => noticed.complaints.join(),
    complaints => complaints.includes('frame-ancestors'),
  )
  const { headers } = await fetch(address)
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'self'")
  expect(headers.get('content-security-policy')).toContain('sandbox allow-scripts')
  expect(headers.get('cache-control')).toBe('no-store')
})

/** Opens a page that has a theme's fields beside its preview. */
async function openTheme(path: string) {
  const { page, noticed } = await house.visit(path, { viewport: { width: 1400, height: 1100 } })
  const frame = await frameOf(page)
  const shown = (selector: string) => frame.locator(`[data-cairn] ${selector}`)
  await shown('.card').waitFor()
  const styleOf = (selector: string, name: string) =>
    shown(selector)
      .first()
      .evaluate((one, property) => getComputedStyle(one).getPropertyValue(property), name)
  const looksSo = (selector: string, name: string, value: string) =>
    until(
      () => styleOf(selector, name),
      now => now === value,
    )
  return { page, noticed, looksSo }
}

test('a theme is previewed while it is edited, checked for contrast and errors, and saved', async () => {
  const { page, noticed, looksSo } = await openTheme('/settings/appearance')
  const accent = page.getByLabel('Accent colour', { exact: true })
  await accent.fill('#ffe066')
  await looksSo('.button.main', 'background-color', 'rgb(255, 224, 102)')
  await page.getByText('a button needs 3 : 1 to be seen').waitFor()
  await accent.fill('#c2255c')
  await page.getByText('a button needs 3 : 1 to be seen').waitFor({ state: 'detached' })
  await accent.fill('bleu')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('did you mean "blue"?').waitFor()
  await accent.fill('#c2255c')
  await page.getByLabel('Preset', { exact: true }).selectOption('soft')
  await looksSo('.card', 'border-top-left-radius', '22px')
  await page.getByLabel('Corner radius', { exact: true }).fill('big')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Not saved. Fix the marked fields.').waitFor()
  await page.getByText(/from 0 to 64/).waitFor()
  await page.getByLabel('Corner radius', { exact: true }).fill('3')
  await looksSo('.card', 'border-top-left-radius', '3px')
  await page.getByText('A checklist', { exact: true }).click()
  await looksSo('.panel', 'border-top-left-radius', '3px')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. Visitors see it on their next page.').waitFor()
  const look = await house.place.json<{ theme: object }>(['org', 'settings'])
  expect(look.theme).toMatchObject({ accent: '#c2255c', radius: 3, preset: 'soft' })
  const complaints = noticed.complaints.filter(text => !text.includes('422'))
  await requireSoundOnEveryScreen(page, { ...noticed, complaints })
})

test('a flow’s preview has the organisation’s theme below its own, and its form has the new fields', async () => {
  const { place } = house
  const theme = { accent: '#c2255c', radius: 2 }
  await place.run(['api', 'PATCH', '/settings', '--body', JSON.stringify({ theme })])
  await Bun.write(
    join(place.folder, 'look.yaml'),
    'key: looked-at\nsteps: [{ key: a, title: A }]\ntheme: { radius: 30 }\n',
  )
  expect((await place.run(['flows', 'push', 'look.yaml'])).status).toBe(0)
  const { page, looksSo } = await openTheme('/flows/looked-at/edit')
  await looksSo('.button.main', 'background-color', 'rgb(194, 37, 92)')
  await looksSo('.card', 'border-top-left-radius', '30px')
  await page.getByRole('button', { name: 'Details', exact: true }).click()
  await page.locator('summary', { hasText: 'Appearance' }).click()
  await page.getByLabel('Text size', { exact: true }).fill('20')
  await page.getByLabel('Shadow', { exact: true }).selectOption('none')
  await looksSo('.card', 'font-size', '20px')
  await looksSo('.card', 'box-shadow', 'none')
  await page.getByLabel('Shadow', { exact: true }).selectOption('')
  await page.getByLabel('Text size', { exact: true }).fill('')
  await looksSo('.card', 'font-size', '15px')
})
