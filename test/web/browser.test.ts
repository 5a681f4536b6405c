import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { noBrowser, program } from '../browser/program.ts'

/** Says if the tests beside this one are skipped, and checks that none of them insists on a browser. */

test('a machine without a browser skips the tests that need one, and says so', () => {
  if (!program) console.error(`cairn: ${noBrowser}; tests that need one are skipped`)
})

test('tests that need a browser import the test function that skips them without one', async () => {
  const offenders: string[] = []
  for (const name of new Bun.Glob('*.test.ts').scanSync(import.meta.dir)) {
    const text = await Bun.file(join(import.meta.dir, name)).text()
    const [, unconditional = ''] = /^import \{([^}]*)\} from 'bun:test'/m.exec(text) ?? []
    const isOwn = name !== 'browser.test.ts'
    if (isOwn && /\b(test|describe|beforeAll|afterAll)\b/.test(unconditional)) offenders.push(name)
  }
  expect(offenders).toEqual([])
})
