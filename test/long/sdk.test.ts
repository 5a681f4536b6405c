import * as bun from 'bun:test'
import { expect, setDefaultTimeout } from 'bun:test'
import { createHmac } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../scripts/support/until.ts'
import { program } from '../browser/program.ts'
import { application, built, deno, installed, served } from '../sdk/applications.ts'
import type { Page } from '../support/browser.ts'
import { Site, shown } from '../support/site.ts'

/**
 * What the READMEs of the packages show, in applications that installed the packed packages, against the
 * compiled binary. Their third-party packages come from npm's registry: if it is unreachable, or there is
 * no browser, these tests are skipped, and a line says so. CI checks that they ran.
 */

setDefaultTimeout(300_000)

const obstacle = program ? await installed() : 'there is no browser'
if (obstacle) console.warn(`cairn: the sample applications are not tried: ${obstacle}`)
const test = obstacle ? bun.test.skip : bun.test

const flows = `
- key: welcome
  frequency: always
  steps: [{ key: one, target: { selector: '#first' }, title: Welcome }, { key: two, kind: modal, title: Bye }]
- key: getting-started
  kind: checklist
  frequency: always
  checklist: { items: [{ key: invite-team, title: Invite }, { key: other, title: Other }] }
- key: help
  kind: launcher
  launcher: { items: [{ key: tour, title: Take the tour, flow: welcome }] }
`

let site: Site
let texts: Record<string, string> = {}
bun.beforeAll(async () => {
  if (obstacle) return
  site = await Site.open(flows)
  texts = {
    'https://cairn.example.com': site.server.url,
    YOUR_SNIPPET_KEY: site.snippetKey,
    YOUR_IDENTITY_SECRET: 'secret',
  }
}, 300_000)
bun.afterAll(async () => site?.close())

async function visit(folder: string, path = '/') {
  const host = served(folder)
  const { page, noticed } = await site.browser.page()
  await page.goto(`http://localhost:${host.port}${path}`)
  return {
    page,
    noticed,
    async [Symbol.asyncDispose]() {
      await page.context().close()
      host.stop(true)
    },
  }
}

/** The events of a person that the server has, by name or kind. */
async function eventsOf(userId: string): Promise<string[]> {
  const { stdout } = await site.place.run(['person', 'export', userId, '--org', 'harbor'])
  const { events } = JSON.parse(stdout) as { events: { kind: string; name: string | null }[] }
  return events.map(({ kind, name }) => name ?? kind)
}

/** Plays a tour, and checks the button beside it and the progress that it shows. */
async function playsATour(page: Page): Promise<void> {
  const { title, button } = shown(page)
  const says = (text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()
  await title.getByText('Welcome').waitFor()
  await page.getByRole('button', { name: 'Stop the tour' }).waitFor()
  await says('0 of 2')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await button('Next').click()
  await title.getByText('Bye').waitFor()
  await says('1 of 2')
  await button('Done').click()
  await page.getByRole('button', { name: 'Show me around' }).click()
  await title.getByText('Welcome').waitFor()
}

test('@cairn/browser in a page that Vite bundles', async () => {
  const folder = await application('vite', 'browser', texts)
  await built(folder, 'vite', 'build')
  await using visited = await visit(join(folder, 'dist'))
  const { page } = visited
  const said: string[] = []
  page.on('console', message => said.push(message.text()))
  await page.reload()
  await shown(page).title.getByText('Welcome').waitFor()
  await until(
    () => said,
    lines => lines.includes('identify: known'),
  )
  await page.evaluate("dispatchEvent(new Event('online'))")
  await until(
    () => eventsOf('ann'),
    names => names.includes('page_ready'),
  )
  expect(await page.evaluate("cairn.why('getting-started').then(why => why.isActive)")).toBe(true)
  // Requests that the reload aborted.
  const aborted = /^failed: /
  expect(visited.noticed.complaints.filter(text => !aborted.test(text))).toEqual([])
})

test('the code in the README of @cairn/browser passes the type checker', async () => {
  // Next checks the types in the README of @cairn/react.
  const folder = await application('vite', 'browser', texts)
  const options = ['--noEmit', '--strict', '--target', 'esnext', '--module', 'esnext']
  const resolution = ['--moduleResolution', 'bundler', '--skipLibCheck']
  await built(folder, 'tsc', ...options, ...resolution, 'src/main.ts', 'src/own.ts')
})

test('@cairn/browser, headless', async () => {
  const folder = await application('vite', 'browser', texts)
  await built(folder, 'vite', 'build')
  await using visited = await visit(join(folder, 'dist'), '/own.html')
  const { page } = visited
  await page.locator('#tour').getByText('Welcome').waitFor()
  await page.getByRole('button', { name: 'Next (1 of 2)' }).click()
  await page.getByRole('button', { name: 'Next (2 of 2)' }).click()
  await page.getByRole('button').waitFor({ state: 'detached' })
  expect(await page.locator('[data-cairn]').count()).toBe(0)
  expect(visited.noticed.complaints).toEqual([])
})

test('@cairn/react with Vite, in strict mode', async () => {
  const folder = await application('vite-react', 'react', texts)
  await built(folder, 'vite', 'build', '--mode', 'development')
  await using visited = await visit(join(folder, 'dist'))
  await playsATour(visited.page)
  expect(await visited.page.locator('script[data-key]').count()).toBe(1)
  expect(visited.noticed.complaints).toEqual([])
})

test('@cairn/react, headless', async () => {
  const folder = join(await application('vite-react', 'react', texts))
  await built(folder, 'vite', 'build', '--mode', 'development')
  await using visited = await visit(join(folder, 'dist'), '/#own')
  const { page } = visited
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Back' }).waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { name: 'Bye' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Other' }).click()
  await page.getByRole('list', { name: '50 %' }).waitFor()
  await page.getByRole('button', { name: 'Help (0)' }).click()
  await page.getByRole('button', { name: 'Take the tour' }).click()
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  await page.getByRole('button', { name: 'Help (0)' }).waitFor({ state: 'detached' })
  expect(visited.noticed.complaints).toEqual([])
})

test('@cairn/vue with Vite', async () => {
  const folder = await application('vite-vue', 'vue', texts)
  await built(folder, 'vite', 'build')
  await using visited = await visit(join(folder, 'dist'))
  await playsATour(visited.page)
  expect(visited.noticed.complaints).toEqual([])
})

test('@cairn/react with Next: server components, and pages that were rendered on a server', async () => {
  const folder = await application('next', 'react', texts)
  await built(folder, 'next', 'build')
  const drawn = readFileSync(join(folder, 'out/index.html'), 'utf8')
  expect(drawn).toContain('Show me around')
  await using visited = await visit(join(folder, 'out'))
  await playsATour(visited.page)
  expect(visited.noticed.complaints).toEqual([])
})

const runtimes: [name: string, command: string[]][] = [
  ['Node.js', ['node', 'server.mjs']],
  ['Bun', [process.execPath, 'server.mjs']],
  ['Deno', [deno, 'run', '--allow-all', '--node-modules-dir=manual', 'server.mjs']],
]

for (const [name, command] of runtimes) {
  const isThere = Bun.which(command[0]!) !== null || existsSync(command[0]!)
  const here = isThere ? test : bun.test.skip
  here(`@cairn/node with Express on ${name}`, async () => {
    const userId = `user-of-${name.toLowerCase().replaceAll('.', '-')}`
    const folder = await application('express', 'node', { ...texts, "'ann'": `'${userId}'` })
    const child = Bun.spawn(command, {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, PORT: '0' },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    try {
      const port = await portIn(child.stdout)
      const ask = (method: string, path: string) =>
        fetch(`http://localhost:${port}${path}`, { method }).then(response => response.text())
      expect(JSON.parse(await ask('POST', '/invitations'))).toEqual({ completed: 1, total: 2 })
      expect(JSON.parse(await ask('GET', '/me'))).toEqual({
        userId,
        userHash: createHmac('sha256', 'secret').update(userId).digest('hex'),
      })
      // Events that are still queued when it is told to end are sent first.
      await ask('POST', '/projects')
      child.kill('SIGTERM')
      expect(await child.exited).toBe(0)
      expect(await eventsOf(userId)).toContain('project_created')
    } finally {
      child.kill('SIGKILL')
    }
  })
}

/** The port on which a server says that it listens. */
async function portIn(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let said = ''
  const decoder = new TextDecoder()
  for await (const chunk of stdout) {
    said += decoder.decode(chunk, { stream: true })
    const [, port] = /listening on (\d+)/.exec(said) ?? []
    if (port) return port
  }
  throw new Error(`it ended: ${said}`)
}
