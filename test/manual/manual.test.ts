import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import MarkdownIt, { type Token } from 'markdown-it'
import { program } from '../../src/cli/program.ts'
import { settingNames, settings, variableOf } from '../../src/config/settings.ts'
import { anchorOf, compiledManual } from '../../src/manual/compile.ts'
import { sources } from '../../src/manual/topics.ts'
import { World } from '../support/world.ts'

/** What README, the manual's topics and the records name has to exist. */

const root = join(import.meta.dir, '../..')
const folder = join(root, 'src/manual')
const topics = readdirSync(folder).filter(name => name.endsWith('.md'))
const files = [
  'README.md',
  'scripts/bench/RECORD.md',
  'scripts/torture/RECORD.md',
  ...['', 'run-blocks/'].map(part => `src/storage/sqlite/engine/${part}README.md`),
  ...topics.map(name => `src/manual/${name}`),
]
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

const parser = new MarkdownIt()
const flat = (tokens: readonly Token[]): Token[] =>
  tokens.flatMap(token => [token, ...flat(token.children ?? [])])
const tokensOf = (file: string) => flat(parser.parse(textOf(file), {}))

const anchorsOf = (file: string) =>
  [...textOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

const compiled = compiledManual()

test('every topic is compiled, and linked from README', () => {
  const names = Object.values(sources).flatMap(group => Object.keys(group))
  expect(names.map(name => `${name}.md`).toSorted()).toEqual(topics.toSorted())
  expect(compiled.map(({ name }) => name)).toEqual(names)
  for (const name of names) expect(textOf('README.md')).toContain(`(src/manual/${name}.md)`)
})

test.each(files)('every link of %s leads somewhere', file => {
  for (const token of tokensOf(file)) {
    const link = token.attrGet('href') ?? token.attrGet('src')
    if (link === null || /^https:\/\//.test(String(link))) continue
    // A path of the server, which shows only the topics.
    if (String(link) === '/api/v1/docs' && file.startsWith('src/manual/')) continue
    const [path = '', anchor] = String(link).split('#')
    const target = path === '' ? file : relative(root, resolve(root, dirname(file), path))
    expect([link, existsSync(join(root, target))]).toEqual([link, true])
    if (anchor !== undefined)
      expect([link, anchorsOf(target)]).toEqual([link, expect.arrayContaining([anchor])])
    // A topic's page links to other topics by their names alone, and to other files by their path.
    const isInManual = file.startsWith('src/manual/') && path !== ''
    if (isInManual) expect(path).toMatch(/^([a-z-]+\.md|pictures\/[a-z-]+\.webp|\.\.\/\.\.\/.+)$/)
  }
})

/** The command lines that a text has, in its blocks for shells and in its running text. */
function commandLines(file: string): string[] {
  return tokensOf(file).flatMap(({ type, info, content }) => {
    const isShell = type === 'fence' && ['sh', 'console'].includes(info)
    if (type !== 'code_inline' && !isShell) return []
    return content
      .replaceAll('\\\n', ' ')
      .split(/\n|&&|\||>(?!\s*=)/)
      .map(line => line.replace(/#.*/, '').trim())
      .map(line => /^(?:.*[ /])?cairn(?:-new)? ([a-z-].*)$/.exec(line)?.[1])
      .filter(args => args !== undefined)
  })
}

const cairn = await program()

/** The word of a command line that does not exist, or null if all of them do. */
function missing(line: string): string | null {
  let command: Command = cairn
  const words = line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []
  let isName = true
  for (const word of words) {
    const below = command.commands.find(sub => sub.name() === word)
    if (isName && below) command = below
    else if (word.startsWith('--')) {
      const [flag] = word.split('=')
      const known = [...command.options, ...(command.parent?.options ?? [])]
      if (flag !== '--help' && !known.some(({ long }) => long === flag)) return word
    } else {
      if (isName && command.commands.length > 0 && command.registeredArguments.length === 0)
        return word
      isName = false
    }
  }
  return null
}

test.each(files)('every command that %s names exists, with its flags', file => {
  const lines = commandLines(file)
  const faults = lines.map(line => [line, missing(line)]).filter(([, fault]) => fault !== null)
  expect(faults).toEqual([])
})

test.each(files)('every file of the repository that %s names exists', file => {
  const named = tokensOf(file).filter(({ type }) => type === 'code_inline')
  const paths = named
    .map(({ content }) => /^(src|test|scripts)\/[\w./-]+/.exec(content)?.[0])
    .filter(path => path !== undefined)
  expect(paths.filter(path => !existsSync(join(root, path)))).toEqual([])
})

test.each(['README.md', 'src/manual/contribute.md'])('the map of src in %s is complete', file => {
  const map = tokensOf(file).find(({ content }) => content.startsWith('src/\n'))!.content
  const mapped = [...map.matchAll(/^ {2}(\S+?)\/? +/gm)].map(([, name]) => name!)
  const parts = readdirSync(join(root, 'src')).filter(
    name => !['production-mode.ts', 'process-one.ts'].includes(name),
  )
  expect(mapped.filter(name => parts.includes(name)).toSorted()).toEqual(parts.toSorted())
})

test.each(files)('every variable that %s names exists', file => {
  const known = new Set([
    'CAIRN_TOKEN',
    'CAIRN_STAGING_TOKEN',
    'CAIRN_FAILPOINTS',
    'CAIRN_TEST_BROWSER',
    'CAIRN_TEST_NOW',
    'CAIRN_TEST_POSTGRES',
    'CAIRN_TEST_SEED',
    'CAIRN_TEST_STORE',
  ])
  for (const name of ['CAIRN_TEST_HISTORIES', 'CAIRN_TEST_MONKEY']) known.add(name)
  for (const name of settingNames) {
    known.add(variableOf(name))
    if ('secret' in settings[name]) known.add(`${variableOf(name)}_FILE`)
  }
  const named = textOf(file).match(/\bCAIRN_[A-Z_]+/g) ?? []
  expect(named.filter(name => !known.has(name))).toEqual([])
})

describe.each(compiled.map(topic => [topic.name, topic] as const))('%s', (_, topic) => {
  test('says first what it is about, in sentences', () => {
    expect(topic.summary).toMatch(/^(<code>|[A-Z0-9]).{40,400}[.?]$/)
  })

  test('fits a terminal of 80 columns', () => {
    const lines = topic.terminal.split('\n')
    expect(lines.filter(line => Bun.stringWidth(line) > 80)).toEqual([])
    expect(topic.terminal).not.toMatch(/[\0\x1b]/)
  })

  test('is the same text in the terminal and in a browser', () => {
    const plain = topic.html
      .replace(/<[^>]+>/g, ' ')
      .replace(
        /&(lt|gt|amp|quot);/g,
        (_all, name) => ({ lt: '<', gt: '>', amp: '&', quot: '"' })[name as string]!,
      )
    const terminal = new Set(topic.terminal.toLowerCase().match(/[\p{L}\p{N}_]+/gu))
    const words = plain.toLowerCase().match(/[\p{L}\p{N}_]+/gu)!
    expect(words.filter(word => !terminal.has(word))).toEqual([])
  })
})

/** The manual as a browser requests it. */
const world = new World()
afterAll(() => world.close())

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  world.app.handle(new Request(`http://cairn.test${path}`, { method, headers }))

test.each(['/docs', '/docs/deploy', '/docs/manual.css', '/docs/manual.js', '/docs/search.js'])(
  '%s is public, compressed, and not sent again if the browser has it',
  async path => {
    const plain = await ask(path)
    expect(plain.status).toBe(200)
    expect(plain.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    const packed = await ask(path, { 'accept-encoding': 'br' })
    expect(packed.headers.get('content-encoding')).toBe('br')
    for (const { headers } of [plain, packed]) {
      const etag = headers.get('etag')!
      const encoding = headers.get('content-encoding') ?? 'identity'
      const again = await ask(path, { 'if-none-match': etag, 'accept-encoding': encoding })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
  },
)

test('a page has no inline script or style, and every address in it is relative', async () => {
  for (const path of ['/docs', '/docs/api']) {
    const html = await (await ask(path)).text()
    expect(html).not.toMatch(/<style|<script>|\sstyle=|\son[a-z]+=/)
    const loaded = [...html.matchAll(/(?:src|<link [^>]*href)="([^"]+)"/g)].map(([, to]) => to!)
    expect(loaded.length).toBeGreaterThan(3)
    expect(loaded.filter(to => /^(\/|[a-z]+:)/.test(to))).toEqual([])
  }
})

test('an unknown topic is 404, and other methods than GET and HEAD are rejected', async () => {
  expect((await ask('/docs/no-such-topic')).status).toBe(404)
  expect((await ask('/docs/__proto__')).status).toBe(404)
  const posted = await ask('/docs', {}, 'POST')
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('a browser that requests an unknown topic gets a page that lists the topics', async () => {
  for (const path of ['/docs/no-such-topic', '/docs/guide/no-such-topic', '/docs/a/b/c']) {
    const { status, headers } = await ask(path, html)
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('cache-control')).toBe('no-store')
    const text = await (await ask(path, html)).text()
    const addresses = [...text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(
      ([, to]) => new URL(to!, `http://cairn.test${path}`).pathname,
    )
    expect(addresses).toContain('/docs/write-flows')
    for (const address of new Set(addresses)) expect((await ask(address)).status).toBe(200)
  }
})

test('other clients that request an unknown topic get JSON', async () => {
  const json = 'application/json; charset=utf-8'
  const typeOf = async (...request: Parameters<typeof ask>) =>
    (await ask(...request)).headers.get('content-type')
  expect(await typeOf('/docs/no-such-topic', { accept: '*/*' })).toBe(json)
  expect(await typeOf('/docs/no-such-topic', html, 'POST')).toBe(json)
  expect(await typeOf('/docs/a/b', { accept: 'application/json' })).toBe(json)
  expect(await typeOf(`/docs${'/deep'.repeat(9)}`, html)).toBe(json)
})
