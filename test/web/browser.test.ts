import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { noBrowser, program } from '../browser/program.ts'

/** Whether the tests beside this one run, and that none of them asks for a browser unasked. */

test('a machine without a browser skips what needs one, and is told so', () => {
  if (!program) console.error(`cairn: ${noBrowser}; tests that need one are skipped`)
})

test('what needs a browser takes its tests from where they are skipped without one', async () => {
  const offenders: string[] = []
  for (const name of new Bun.Glob('*.test.ts').scanSync(import.meta.dir)) {
    const text = await Bun.file(join(import.meta.dir, name)).text()
    const [, unconditional = ''] = /^import \{([^}]*)\} from 'bun:test'/m.exec(text) ?? []
    const isOwn = name !== 'browser.test.ts'
    if (isOwn && /\b(test|describe|beforeAll|afterAll)\b/.test(unconditional)) offenders.push(name)
  }
  expect(offenders).toEqual([])
})
