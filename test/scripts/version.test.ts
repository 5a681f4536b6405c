import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { versionIn } from '../../scripts/version.ts'
import { Workplace } from '../support/binary.ts'
import { MetricsPage } from '../support/prometheus.ts'

const root = join(import.meta.dir, '../..')
const manifest: { version: string } = await Bun.file(join(root, 'package.json')).json()

test('the version is the one that the changelog is at', async () => {
  expect(versionIn(await Bun.file(join(root, 'CHANGELOG.md')).text())).toBe(manifest.version)
})

describe('the executable', () => {
  const place = new Workplace()
  afterAll(() => place.close())

  test('says the same version everywhere, with its commit', async () => {
    const { version, commit } = await place.json<{ version: string; commit: string }>(['version'])
    expect(version).toBe(`${manifest.version}+${commit}`)
    expect(commit).toMatch(/^([0-9a-f]{12}(-dirty)?|unknown)$/)
    expect((await place.run(['--version'])).stdout).toBe(`cairn ${version}\n`)
    const server = await place.serve(['--log-format', 'json'])
    const text = async (url: string) => (await fetch(url)).text()
    expect(await text(`${server.managementUrl}/healthz`)).toBe(`ok ${version}\n`)
    const metrics = new MetricsPage(await text(`${server.managementUrl}/metrics`))
    expect(metrics.of('cairn_build_info')[0]?.labels).toEqual({ version, commit })
    const described = JSON.parse(await text(`${server.url}/api/v1/openapi.json`))
    expect(described.info.version).toBe(version)
    expect((await place.run(['doctor'])).stdout).toContain(`cairn ${version}, Bun`)
    const materials = await Bun.file(join(root, 'dist/cairn.cdx.json')).json()
    expect(materials.metadata.component.version).toBe(version)
    expect(await text(`${server.url}/snippet.js`)).toContain(manifest.version)
    await server.until(() => server.stdout.includes('"msg":"ready"}\n'))
    const ready = server.stdout.split('\n').find(line => line.includes('"msg":"ready"'))
    expect(JSON.parse(ready ?? '')).toHaveProperty('version', version)
  })
})
