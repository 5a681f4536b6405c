import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Server, withTour } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'

/** The snippet as the binary serves and writes it. */

setDefaultTimeout(300_000)

interface Shown {
  snippetKey: string
  snippet: { file: string; integrity: string }
}

const place = new CommandLine()
let server: Server
let snippetKey = ''
let shown: Shown

beforeAll(async () => {
  ;({ snippetKey } = await withTour(place))
  server = await place.serve()
  shown = await place.json<Shown>(['key', 'show'])
})
afterAll(() => place.close())

const get = (path: string, init: RequestInit = {}) => fetch(`${server.url}/${path}`, init)

const integrityOf = (text: string) =>
  `sha384-${new Bun.CryptoHasher('sha384').update(text).digest('base64')}`

describe('served', () => {
  test('cached for five minutes as the newest, for ever by its name, the same text', async () => {
    const newest = await get('snippet.js')
    const pinned = await get(shown.snippet.file)
    const text = await newest.text()
    expect(await pinned.text()).toBe(text)
    expect(newest.headers.get('cache-control')).toBe('public, max-age=300')
    expect(pinned.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    for (const { headers } of [newest, pinned]) {
      expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
      expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  test('with the integrity that `cairn key show` prints, to browsers that verify it', async () => {
    const origin = 'https://app.example.com'
    const response = await get(shown.snippet.file, { headers: { origin } })
    // A browser verifies a script of another origin only with this header.
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    expect(integrityOf(await response.text())).toBe(shown.snippet.integrity)
  })

  test('the renderer is loaded by the name that the script knows', async () => {
    const text = await (await get('snippet.js')).text()
    const [renderer = ''] = /snippet-renderer-[0-9a-f]{16}\.js/.exec(text) ?? []
    const response = await get(renderer)
    expect(response.status).toBe(200)
    const rendererText = await response.text()
    expect(rendererText).toContain('export{')
    for (const name of ['question', 'video']) {
      // The script itself does not name them, so that they cost nothing on pages without them.
      const [part = ''] = new RegExp(`snippet-${name}-[0-9a-f]{16}\\.js`).exec(rendererText) ?? []
      expect(text).not.toContain(part)
      const served = await get(part)
      expect(served.headers.get('cache-control')).toContain('immutable')
      const partText = await served.text()
      expect(rendererText).toContain(integrityOf(partText))
      expect(partText).toContain('export{')
    }
  })

  test('files of an older release are still served, and nothing else in the folder', async () => {
    const folder = join(place.folder, 'cairn-data/snippet')
    expect(readdirSync(folder)).toContain(shown.snippet.file)
    const older = 'snippet-0123456789abcdef.js'
    expect((await get(older)).status).toBe(404)
    await Bun.write(join(folder, older), 'older()')
    await Bun.write(join(folder, 'snippet-other.js'), 'other()')
    const response = await get(older)
    expect([response.status, await response.text()]).toEqual([200, 'older()'])
    expect(response.headers.get('cache-control')).toContain('immutable')
    for (const name of ['snippet-other.js', 'snippet-..%2f..%2fsession.key', 'snippet-']) {
      expect((await get(name)).status).toBe(404)
    }
  })
})

describe('cairn key show', () => {
  test('prints the tags with the address at which pages reach the server', async () => {
    const { stdout } = await place.run([
      'key',
      'show',
      '--public-url',
      'https://tours.example.com/',
    ])
    const { file, integrity } = shown.snippet
    const tag = (file: string, more: string) =>
      `<script async src="https://tours.example.com/${file}" data-key="${snippetKey}"${more}></script>`
    const verified = ` integrity="${integrity}" crossorigin="anonymous"`
    // With a login and without one.
    for (const more of [' data-identify="wait"', '']) {
      expect(stdout).toContain(tag('snippet.js', more))
      expect(stdout).toContain(tag(file, more + verified))
    }
    expect(stdout).not.toContain('--public-url')
  })

  test('without an address it prints an example, and says what to put there', async () => {
    const { stdout } = await place.run(['key', 'show'])
    expect(stdout).toContain('src="https://cairn.example.com/snippet.js"')
    expect(stdout).toContain('Set the address of your server with --public-url')
  })

  test.each([
    'tours',
    'javascript:alert(1)',
    'https://tours.example.com/?a=1',
    'https://ann:secret@tours.example.com',
  ])('--public-url %s is rejected', async url => {
    const { status, stderr } = await place.run(['key', 'show', '--public-url', url])
    expect(status).toBe(2)
    expect(stderr).toContain('--public-url')
  })
})

describe('cairn snippet write', () => {
  test('writes a module with its types, over older ones', async () => {
    const folder = join(place.folder, 'vendor/cairn')
    await Bun.write(join(folder, 'cairn.js'), 'older')
    const { files } = await place.json<{ files: string[] }>(['snippet', 'write', folder])
    expect(files).toEqual([join(folder, 'cairn.js'), join(folder, 'cairn.d.ts')])
    const module = await Bun.file(join(folder, 'cairn.js')).text()
    expect(module).toMatch(/export\s?\{.*cairn/)
    // It loads no other file.
    expect(module).not.toMatch(/snippet-\w+-[0-9a-f]{16}|CAIRN_SNIPPET/)
  })

  test('gives its files the permissions that other files of the user have', async () => {
    const folder = join(place.folder, 'shared')
    await place.run(['snippet', 'write', folder])
    const own = ~process.umask()
    expect(statSync(folder).mode & 0o777).toBe(0o777 & own)
    expect(statSync(join(folder, 'cairn.js')).mode & 0o777).toBe(0o666 & own)
  })

  test('writes types that allow what a page may call and nothing else', async () => {
    const folder = join(place.folder, 'typed')
    await place.run(['snippet', 'write', folder])
    await Bun.write(
      join(folder, 'page.ts'),
      `import { cairn, type Cairn } from './cairn.js'
const c: Cairn = cairn({ baseUrl: 'https://tours.example.com', key: 'k' })
c.identify('ann', { plan: 'pro' })
const off = c.on('step_viewed', ({ flowKey, stepKey }) => c.track(flowKey + stepKey))
off()
// @ts-expect-error
c.on('nothing', () => {})
// @ts-expect-error
cairn({ key: 'k' })
`,
    )
    const tsc = join(import.meta.dir, '../../node_modules/.bin/tsc')
    const options = ['--noEmit', '--strict', '--target', 'esnext', '--module', 'preserve']
    const { exitCode, stdout } = Bun.spawnSync(
      [process.execPath, '--bun', tsc, ...options, '--types', '', 'page.ts'],
      { cwd: folder },
    )
    expect([exitCode, stdout.toString()]).toEqual([0, ''])
  })

  test('says in one line that a folder cannot be made', async () => {
    await Bun.write(join(place.folder, 'file'), '')
    for (const [folder, reason] of [
      ['file', 'there is a file of that name'],
      ['file/vendor', 'ENOTDIR'],
    ] as const) {
      const { status, stderr } = await place.run(['snippet', 'write', folder])
      expect([status, stderr]).toEqual([
        1,
        `cairn: the directory ${folder} cannot be made (${reason}): choose another\n`,
      ])
    }
    expect(existsSync(join(place.folder, 'file/vendor'))).toBe(false)
  })
})

describe('honoursDoNotTrack', () => {
  const flows = async (etag = '') => {
    const headers = { authorization: `Bearer ${snippetKey}`, 'if-none-match': etag }
    const response = await get('api/v1/flows', { headers })
    const text = await response.text()
    return {
      status: response.status,
      etag: response.headers.get('etag') ?? '',
      body: text === '' ? null : (JSON.parse(text) as Record<string, unknown>),
    }
  }

  test('the flow list says if Do Not Track is honoured, under a new ETag and version', async () => {
    const before = await flows()
    expect(Object.keys(before.body ?? {})).toEqual(['flows', 'version'])
    expect(await place.json(['org', 'settings'])).toMatchObject({ honoursDoNotTrack: false })

    await place.run(['org', 'set', 'honoursDoNotTrack', 'true'])
    const after = await flows(before.etag)
    expect(after.body).toMatchObject({ flows: before.body?.flows, honoursDoNotTrack: true })
    expect(after.body?.version).not.toBe(before.body?.version)
    expect((await flows(after.etag)).status).toBe(304)

    await place.run(['org', 'set', 'honoursDoNotTrack', 'false'])
    expect((await flows()).body).toEqual(before.body)
  })
})
