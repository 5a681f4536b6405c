import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import { noticesOf } from '../../scripts/notices.ts'
import {
  billOfMaterials,
  closureOf,
  folderOf,
  type Lock,
  type Manifest,
} from '../../scripts/sbom.ts'
import { stampsOf } from '../../scripts/version.ts'
import { builtBinary } from '../support/binary.ts'

const root = join(import.meta.dir, '../..')
const manifest: Manifest = await Bun.file(join(root, 'package.json')).json()
const lock = Bun.JSONC.parse(await Bun.file(join(root, 'bun.lock')).text()) as Lock
const stamps = stampsOf(manifest.version, 'abc1234')
const source = { root, manifest, lock, stamps, madeAt: new Date(0) }

const schemas = join(root, 'node_modules/@cyclonedx/cyclonedx-library/res/schema')
const schema = (name: string) => Bun.file(join(schemas, `${name}.SNAPSHOT.schema.json`)).json()

interface Bom {
  components: {
    name: string
    version: string
    purl: string
    hashes?: unknown[]
    'bom-ref': string
  }[]
  dependencies: { ref: string; dependsOn?: string[] }[]
  metadata: { component: { name: string; version: string; 'bom-ref': string } }
}

describe('the bill of materials', () => {
  test('is CycloneDX 1.6 by its schema', async () => {
    const ajv = new Ajv({ strict: false, formats: { 'iri-reference': true, 'idn-email': true } })
    addFormats(ajv)
    for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs']) {
      ajv.addSchema(await schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
    }
    const bom = JSON.parse(await billOfMaterials(source))
    expect(ajv.validate(await schema('bom-1.6'), bom) ? [] : ajv.errors).toEqual([])
    expect(bom.specVersion).toBe('1.6')
  })

  test('names every dependency of package.json, what those depend on, and Bun, but no tools', async () => {
    const { components, metadata, dependencies }: Bom = JSON.parse(await billOfMaterials(source))
    const purls = components.map(({ purl }) => purl)
    for (const [name, version] of Object.entries(manifest.dependencies)) {
      expect(purls).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`)
    }
    expect(purls).toContain('pkg:npm/sonic-boom@4.2.1')
    expect(purls).toContain(`pkg:github/oven-sh/bun@bun-v${Bun.version}`)
    for (const name of ['biome', 'ajv', 'typescript', 'fast-check', 'oidc-provider']) {
      expect(components.map(component => component.name)).not.toContain(name)
    }
    expect(components.filter(({ hashes }) => !hashes).map(({ name }) => name)).toEqual(['bun'])
    expect(metadata.component).toMatchObject({ name: 'cairn', version: stamps.version })
    const own = dependencies.find(({ ref }) => ref === metadata.component['bom-ref'])
    expect(own?.dependsOn).toHaveLength(Object.keys(manifest.dependencies).length + 1)
  })

  test('names what is packed for JavaScript applications, with its hash', async () => {
    const packed = [{ name: '@cairn/browser', sha512: 'ab'.repeat(64) }]
    const { components }: Bom = JSON.parse(await billOfMaterials({ ...source, packed }))
    const own = components.find(
      ({ purl }) => purl === `pkg:npm/%40cairn/browser@${manifest.version}`,
    )
    expect(own?.hashes).toEqual([{ alg: 'SHA-512', content: 'ab'.repeat(64) }])
  })
})

describe('the notices', () => {
  test('have the licence of every package in the executable, and of Bun', async () => {
    const notices = await noticesOf(root, manifest, lock)
    for (const key of closureOf(manifest, lock)) {
      const { name, version, license } = await Bun.file(
        join(folderOf(root, key), 'package.json'),
      ).json()
      expect(notices).toContain(`\n${name} ${version}, ${license}`)
    }
    expect(notices).toContain(`\nbun ${Bun.version}, MIT`)
    // From a LICENSE, a NOTICE, a license.md and a README.
    for (const by of ['2022 saltyAom', 'SmartBear Software', 'Vercel, Inc.', '2020 Borewit']) {
      expect(notices).toContain(by)
    }
  })
})

describe('the build', () => {
  beforeAll(() => builtBinary(), 60_000)

  test('leaves bill, notices and checksums beside the executable', async () => {
    const sums = await Bun.file(join(root, 'dist/SHA256SUMS')).text()
    const names = sums
      .trimEnd()
      .split('\n')
      .map(line => line.split('  ')[1])
    expect(names).toEqual(expect.arrayContaining(['cairn.cdx.json', 'THIRD-PARTY-NOTICES.txt']))
    for (const line of sums.trimEnd().split('\n')) {
      const [digest, name = ''] = line.split('  ')
      const hash = new Bun.CryptoHasher('sha256')
      hash.update(await Bun.file(join(root, 'dist', name)).arrayBuffer())
      expect(hash.digest('hex')).toBe(digest as string)
    }
  })
})
