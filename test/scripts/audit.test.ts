import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'

describe('its last line says whether anything was checked', () => {
  const known = (severity: string) => {
    const advisory = { severity, title: 'Reads too much', url: 'https://x' }
    return { lodash: [{ ...advisory, vulnerable_versions: '<4.17.21' }] }
  }
  const isOurs = (text: string) => !text.includes('"lodash":["4.17.0"]')
  const registries: [string, (asked: string) => Response, number, string][] = [
    ['refuses', () => new Response('', { status: 405 }), 0, 'NOTHING WAS CHECKED: .*405'],
    ['answers a page', () => new Response('<html>'), 0, 'NOTHING WAS CHECKED'],
    ['knows of no advisory at all', () => Response.json({}), 0, 'NOTHING WAS CHECKED'],
    [
      'knows of none that is ours',
      asked => Response.json(isOurs(asked) ? {} : known('high')),
      0,
      '0 known advisories, 0 of them',
    ],
    ['knows of a moderate one', () => Response.json(known('moderate')), 0, '1 known .*, 0 of them'],
    ['knows of a high one', () => Response.json(known('high')), 1, '1 known .*, 1 of them'],
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
