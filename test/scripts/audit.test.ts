import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { advisoriesIn, verdictOn } from '../../scripts/audit.ts'

const advisory = (severity: string) => ({ severity, title: 'Reads too much', url: 'https://x' })

test('a high or critical advisory is a failure; others are only reported', () => {
  const mild = { a: [advisory('low'), advisory('moderate')] }
  expect(verdictOn(mild)).toEqual({
    isBad: false,
    lines: [
      'audit: low: a: Reads too much (https://x)',
      'audit: moderate: a: Reads too much (https://x)',
      'audit: 2 known advisories, 0 of them high or critical',
    ],
  })
  for (const severity of ['high', 'critical']) {
    expect(verdictOn({ ...mild, b: [advisory(severity)] }).isBad).toBe(true)
  }
  expect(verdictOn({})).toMatchObject({ isBad: false })
})

test('an answer that is no list of advisories is not taken for an empty one', () => {
  expect(advisoriesIn('{}')).toEqual({})
  for (const text of ['', 'error: POST … - 405', '[]', 'null']) {
    expect(advisoriesIn(text)).toBeNull()
  }
})

describe('its last line says whether anything was checked', () => {
  const bad = { lodash: [{ ...advisory('high'), vulnerable_versions: '<4.17.21' }] }
  const isOurs = (text: string) => !text.includes('"lodash":["4.17.0"]')
  const registries: [string, (asked: string) => Response, number, string][] = [
    ['refuses', () => new Response('', { status: 405 }), 0, 'NOTHING WAS CHECKED: .*405'],
    ['answers a page', () => new Response('<html>'), 0, 'NOTHING WAS CHECKED'],
    ['knows of no advisory at all', () => Response.json({}), 0, 'NOTHING WAS CHECKED'],
    [
      'knows of none that is ours',
      asked => Response.json(isOurs(asked) ? {} : bad),
      0,
      '0 known advisories, 0 of them',
    ],
    ['knows of one', () => Response.json(bad), 1, '1 known advisories, 1 of them'],
  ]
  test.each(registries)('if the registry %s', async (_, answer, status, last) => {
    using registry = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const body = new Uint8Array(await request.arrayBuffer())
        const isZipped = request.headers.get('content-encoding') === 'gzip'
        return answer(new TextDecoder().decode(isZipped ? Bun.gunzipSync(body) : body))
      },
    })
    const audit = Bun.spawn([process.execPath, 'scripts/audit.ts'], {
      cwd: join(import.meta.dir, '../..'),
      env: { ...process.env, BUN_CONFIG_REGISTRY: registry.url.href },
      stdout: 'pipe',
    })
    const lines = (await audit.stdout.text()).trimEnd().split('\n')
    expect(lines.at(-1)).toMatch(new RegExp(`^audit: ${last}`))
    expect(await audit.exited).toBe(status)
  })
})
