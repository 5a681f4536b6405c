import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { CommandLine } from '../support/command-line.ts'

/** Texts that the executable exports for translators, and imports from them. */

let cairn: CommandLine
beforeEach(() => {
  cairn = new CommandLine()
})
afterEach(() => cairn.close())

const write = (name: string, text: string) => {
  writeFileSync(cairn.path(name), text)
  return name
}
const read = (name: string) => readFileSync(cairn.path(name), 'utf8')
const texts = (...args: string[]) => cairn.run(['flows', 'texts', ...args])

const flow = `# Ours.
key: welcome
locale: en   # of the flow itself
steps:
  - key: hello
    title: Hello   # short
    buttons: [{ label: Next, action: next }]
`

/** Writes the file as a translator's program gives it back. */
const translated = (name: string, by: Record<string, string>) =>
  write(
    `${name}.done.xlf`,
    Object.entries(by).reduce(
      (text, [from, to]) =>
        text.replace(`<source>${from}</source>`, `<source>${from}</source><target>${to}</target>`),
      read(name),
    ),
  )

async function exported(from: string): Promise<string> {
  const { status, stderr } = await texts('export', from, '--locale', 'de', '-o', 'de.xlf')
  expect([status, stderr.split('\n')[0]]).toEqual([0, '2 texts of welcome, 2 not translated yet'])
  return translated('de.xlf', { Hello: 'Hallo &amp; guten Tag', Next: 'Weiter' })
}

describe('a flow in a file', () => {
  test('keeps its comments, and --dry-run says what would change', async () => {
    write('a.yaml', flow)
    const done = await exported('a.yaml')
    const dry = await texts('import', 'a.yaml', done, '--dry-run')
    expect([dry.status, dry.stdout]).toEqual([
      0,
      'steps.hello.title\n+ Hallo & guten Tag\nsteps.hello.buttons.0\n+ Weiter\n',
    ])
    expect(dry.stderr).toContain('nothing was written')
    expect(read('a.yaml')).toBe(flow)
    expect((await texts('import', 'a.yaml', done)).status).toBe(0)
    expect(read('a.yaml')).toStartWith(flow)
    expect(read('a.yaml').slice(flow.length)).toBe(
      'texts:\n  de:\n    steps:\n      hello: { title: Hallo & guten Tag, buttons: [Weiter] }\n',
    )
    const again = await texts('import', 'a.yaml', done)
    expect(again.stderr).toContain('0 changed, 2 as before')
    expect((await cairn.run(['flows', 'validate', 'a.yaml', '--strict'])).status).toBe(0)
    const status = await cairn.json(['flows', 'texts', 'status', 'a.yaml', '--strict'])
    expect(status).toEqual([
      { flow: 'welcome', from: 'en', locale: 'de', translated: 2, texts: 2, missing: [] },
    ])
  })

  test('in JSON is changed too, by JSON whose language has to be named', async () => {
    write(
      'a.json',
      JSON.stringify({ key: 'welcome', locale: 'en', steps: [{ key: 'a', title: 'A' }] }),
    )
    const out = await texts('export', 'a.json', '--locale', 'fr', '--format', 'json')
    expect(JSON.parse(out.stdout)).toEqual({ 'steps.a.title': '' })
    write('fr.json', '{"steps.a.title": "Ah"}')
    const unsaid = await texts('import', 'a.json', 'fr.json')
    expect([unsaid.status, unsaid.stderr]).toEqual([
      1,
      'cairn: fr.json: it does not name its language: choose one with --locale, such as --locale de\n',
    ])
    expect((await texts('import', 'a.json', 'fr.json', '--locale', 'fr')).status).toBe(0)
    expect(JSON.parse(read('a.json')).texts).toEqual({ fr: { steps: { a: { title: 'Ah' } } } })
  })

  test('that has changed since the export is left alone, unless --outdated is given', async () => {
    write('a.yaml', flow)
    const done = await exported('a.yaml')
    const now = write('a.yaml', flow.replace('Hello', 'Good day'))
    const { status, stderr } = await texts('import', now, done)
    expect(status).toBe(1)
    expect(stderr).toContain('steps.hello.title was "Hello", and is now "Good day"')
    expect(read('a.yaml')).not.toContain('texts:')
    const skipped = await texts('import', now, done, '--outdated', 'skip')
    expect([skipped.status, skipped.stdout]).toEqual([0, 'steps.hello.buttons.0\n+ Weiter\n'])
    const taken = await texts('import', now, done, '--outdated', 'take')
    expect(taken.stdout).toBe('steps.hello.title\n+ Hallo & guten Tag\n')
  })
})

test('a draft is translated by its key, and has to be published as usual', async () => {
  await cairn.run(['org', 'create', 'Harbor'])
  await cairn.run(['flows', 'push', write('a.yaml', flow), '--publish'])
  const none = await texts('status')
  expect(none.stdout).toContain('no flow has texts in another language')
  const done = await exported('welcome')
  expect((await texts('import', 'welcome', done)).status).toBe(0)
  const [listed] = await cairn.json<{ hasDraft: boolean }[]>(['flows', 'list'])
  expect(listed?.hasDraft).toBe(true)
  expect((await texts('status')).stdout).toMatch(/welcome +en +de +2 of 2 +100 % +–/)
  const pulled = await cairn.run(['flows', 'pull', 'welcome'])
  expect(pulled.stdout).toContain('      hello: { title: Hallo & guten Tag, buttons: [Weiter] }')
  const unknown = await texts('export', 'nothing', '--locale', 'de')
  expect([unknown.status, unknown.stdout]).toEqual([1, ''])
})
