import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { versionIn } from '../../scripts/version.ts'
import { Workplace } from '../support/binary.ts'
import { MetricsPage } from '../support/prometheus.ts'

const root = join(import.meta.dir, '../..')
const manifest: { version: string } = await Bun.file(join(root, 'package.json')).json()

describe('the version that a changelog is at', () => {
  const head = '# Changelog\n\nWhat changed.\n\n'
  const some = '### Added\n\n- Something.\n\n'
  test.each([
    ['nothing released yet', `${head}## Unreleased\n\n${some}`, '0.1.0-dev'],
    ['a release', `${head}## 0.1.0 - 2026-11-20\n\n${some}`, '0.1.0'],
    ['a release, in brackets', `${head}## [1.4.10] - 2026-11-20\n\n${some}`, '1.4.10'],
    ['the newest of two', `${head}## 0.2.1\n\n${some}## 0.2.0\n\n${some}`, '0.2.1'],
    [
      'changes since a release',
      `${head}## [Unreleased]\n\n${some}## 0.2.1\n\n${some}`,
      '0.3.0-dev',
    ],
    ['no changes since', `${head}## Unreleased\n\n## 0.2.1 - 2026-11-20\n\n${some}`, '0.2.1'],
  ])('%s', (_, changelog, version) => {
    expect(versionIn(changelog)).toBe(version)
  })

  test('is an error if there is no release and no change', () => {
    expect(() => versionIn(head)).toThrow('no release and no change')
  })

  test('is the one in package.json', async () => {
    expect(versionIn(await Bun.file(join(root, 'CHANGELOG.md')).text())).toBe(manifest.version)
  })
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
