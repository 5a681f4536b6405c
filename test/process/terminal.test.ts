import { afterEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../scripts/support/until.ts'
import { builtBinary, Workplace } from '../support/binary.ts'

/** `cairn serve`, started on a terminal and without one. */

let place: Workplace
let end: ((signal: NodeJS.Signals) => Promise<unknown>) | null = null
afterEach(async () => {
  await end?.('SIGKILL')
  end = null
  await place.close()
})

/** Starts a server on a terminal of its own, and waits for a text there. */
async function onTerminal(args: readonly string[], text: RegExp): Promise<() => string> {
  let shown = ''
  const decoder = new TextDecoder()
  const ports = ['--port', '0', '--management-port', '0']
  const child = Bun.spawn([await builtBinary(), 'serve', ...ports, ...args], {
    cwd: place.folder,
    env: { TERM: 'dumb' },
    terminal: {
      cols: 200,
      data: (_, data) => {
        shown += decoder.decode(data, { stream: true })
      },
    },
  })
  end = signal => {
    child.kill(signal)
    return child.exited
  }
  await until(
    () => shown,
    said => text.test(said),
  )
  return () => shown
}

const linkIn = (shown: string) => /(http:\S+)\/dashboard\/sign-in#([\w-]{43})/.exec(shown)

const redeem = (url: string, code: string) =>
  fetch(`${url}/dashboard/session/redeem`, {
    method: 'POST',
    headers: {
      'sec-fetch-site': 'same-origin',
      'cairn-dashboard': '1',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ code }),
  })

/** The files of a data directory that contain a text. */
const filesWith = (text: string) =>
  readdirSync(place.dataDir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => readFileSync(path).includes(text))

test('on a terminal and a fresh machine the server prints a link that signs in once', async () => {
  place = new Workplace()
  const shown = await onTerminal([], /sign-in#[\w-]{43}\s/)
  const [, url, code] = linkIn(shown())!
  expect(shown()).toContain('My organisation')
  // On a line of its own, which is no line of the log.
  const [line] = shown()
    .split(/\r?\n/)
    .filter(each => each.includes(code!))
  expect(line).toBe(`${url}/dashboard/sign-in#${code}`)
  expect(shown().split(code!).length).toBe(2)
  expect((await redeem(url!, code!)).status).toBe(200)
  expect((await redeem(url!, code!)).status).toBe(401)
  // The code is neither in the log nor on the disk, before and after its use.
  expect(shown().split(code!).length).toBe(2)
  expect(filesWith('My organisation').length).toBeGreaterThan(0)
  expect(filesWith(code!)).toEqual([])
})

test('without a dashboard there is none', async () => {
  place = new Workplace()
  const shown = await onTerminal(['--dashboard', 'off'], /serving http/)
  await end?.('SIGTERM')
  expect(linkIn(shown())).toBeNull()
})

test('without a terminal the server prints no link and makes no organisation', async () => {
  place = new Workplace()
  const server = await place.serve()
  await server.end('SIGTERM')
  expect(linkIn(server.stdout + server.stderr)).toBeNull()
  expect(await place.json(['org', 'list'])).toEqual([])
})
