/**
 * The bill of materials of the executable (CycloneDX 1.6, JSON): the packages that package.json
 * depends on, as bun.lock pins them, with everything that they depend on, and Bun itself, which is in it
 * too. The same lock and commit give the same text.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Enums, Models, Serialize, SPDX, Spec } from '@cyclonedx/cyclonedx-library'
import type { Stamps } from './version.ts'

/** An entry of bun.lock. The key of a copy that one package has for itself is such as `parent/name`. */
type LockedPackage = [id: string, registry: string, info: LockedInfo, integrity: string]

interface LockedInfo {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalPeers?: string[]
}

export interface Lock {
  packages: Record<string, LockedPackage>
}

/** The part of package.json that describes the executable. */
export interface Manifest {
  name: string
  version: string
  description: string
  license: string
  dependencies: Record<string, string>
  devDependencies: { bun: string }
}

export interface SbomSource {
  /** The project's folder, with its packages installed. */
  root: string
  manifest: Manifest
  lock: Lock
  stamps: Stamps
  /** When the sources were made: the commit's time; undefined if it is not known. */
  madeAt: Date | undefined
  /** The packages that are made beside the executable. */
  packed?: readonly PackedFile[]
}

/** One of Cairn's own packages, which depends on nothing but its peers. */
export interface PackedFile {
  /** `@cairn/browser`. */
  name: string
  sha512: string
}

/** The bill of materials, as text. */
export async function billOfMaterials(source: SbomSource): Promise<string> {
  const { root, manifest, lock, stamps, madeAt, packed = [] } = source
  const { version, commit } = stamps
  const cairn = new Models.Component(Enums.ComponentType.Application, manifest.name, {
    bomRef: `cairn@${version}`,
    version,
    description: manifest.description,
    licenses: licenseOf(manifest.license),
    properties: new Models.PropertyRepository([new Models.Property('cairn:commit', commit)]),
  })
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: cairn, ...(madeAt && { timestamp: madeAt }) }),
  })
  const components = new Map<string, Models.Component>()
  for (const key of closureOf(manifest, lock)) {
    const component = await componentOf(key, lock, root)
    components.set(key, component)
    bom.components.add(component)
  }
  for (const [key, component] of components) {
    for (const needed of neededBy(key, lock)) addDependency(component, components.get(needed))
  }
  for (const name of Object.keys(manifest.dependencies)) {
    addDependency(cairn, components.get(name))
  }
  const bun = bunOf(manifest.devDependencies.bun)
  bom.components.add(bun)
  addDependency(cairn, bun)
  for (const file of packed) bom.components.add(packageOf(file, manifest))
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  const serializer = new Serialize.JsonSerializer(factory)
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}

function packageOf({ name, sha512 }: PackedFile, { version, license }: Manifest): Models.Component {
  const [scope = '', base = name] = name.split('/')
  const purl = `pkg:npm/${encodeURIComponent(scope)}/${base}@${version}`
  return new Models.Component(Enums.ComponentType.Library, base, {
    bomRef: purl,
    group: scope,
    version,
    purl,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm['SHA-512'], sha512]]),
    licenses: licenseOf(license),
  })
}

function addDependency(component: Models.Component, needed: Models.Component | undefined): void {
  if (needed) component.dependencies.add(needed.bomRef)
}

/** The runtime in the executable, which includes SQLite and JavaScriptCore. */
const bunOf = (version: string) =>
  new Models.Component(Enums.ComponentType.Platform, 'bun', {
    bomRef: `bun@${version}`,
    version,
    description: 'Runtime within the executable, with JavaScriptCore, SQLite and BoringSSL',
    purl: `pkg:github/oven-sh/bun@bun-v${version}`,
    licenses: licenseOf('MIT'),
  })

/** The keys of all packages that end up, or may end up, in the executable. */
export function closureOf({ dependencies }: Pick<Manifest, 'dependencies'>, lock: Lock): string[] {
  const found = new Set<string>()
  const open = Object.keys(dependencies)
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (found.has(key)) continue
    found.add(key)
    open.push(...neededBy(key, lock))
  }
  return [...found].sort()
}

/** The keys of what one package depends on, as far as it is locked; optional packages may not be. */
function neededBy(key: string, { packages }: Lock): string[] {
  const entry = packages[key]
  if (!entry) throw new Error(`bun.lock has no ${key}`)
  const { dependencies, optionalDependencies, peerDependencies, optionalPeers = [] } = entry[2]
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
  return names.flatMap(name => {
    const found = resolved(key, name, packages)
    const isOptional = optionalPeers.includes(name) || name in (optionalDependencies ?? {})
    if (found === null && !isOptional) throw new Error(`bun.lock has no ${name} for ${key}`)
    return found === null || optionalPeers.includes(name) ? [] : [found]
  })
}

/** Finds a package as on disk: the copy nearest to the one that needs it. */
function resolved(from: string, name: string, packages: Lock['packages']): string | null {
  for (let path = pathOf(from); ; path = path.slice(0, -1)) {
    const key = [...path, name].join('/')
    if (packages[key]) return key
    if (path.length === 0) return null
  }
}

/** The names in a key. The name of a scoped package has a slash in it. */
const pathOf = (key: string): string[] => key.match(/(@[^/]+\/)?[^/]+/g) ?? []

async function componentOf(key: string, lock: Lock, root: string): Promise<Models.Component> {
  const [id, , , integrity] = lock.packages[key] as LockedPackage
  const at = id.lastIndexOf('@')
  const [name, version] = [id.slice(0, at), id.slice(at + 1)]
  const [scope, base] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const purl = `pkg:npm/${scope ? `${encodeURIComponent(scope)}/` : ''}${base}@${version}`
  return new Models.Component(Enums.ComponentType.Library, base ?? name, {
    bomRef: purl,
    ...(scope && { group: scope }),
    version,
    purl,
    hashes: hashesOf(integrity),
    licenses: licenseOf(await installedLicense(key, root)),
  })
}

/** Subresource integrity (`sha512-…` in base 64) as hexadecimal digits. */
function hashesOf(integrity: string): Models.HashDictionary {
  const [, text = ''] = /^sha512-(\S+)/.exec(integrity) ?? []
  if (text === '') throw new Error(`no SHA-512 in ${integrity}`)
  const digits = Buffer.from(text, 'base64').toString('hex')
  return new Models.HashDictionary([[Enums.HashAlgorithm['SHA-512'], digits]])
}

/** Where a package is installed. */
export const folderOf = (root: string, key: string): string =>
  join(root, 'node_modules', pathOf(key).join('/node_modules/'))

async function installedLicense(key: string, root: string): Promise<string | null> {
  const file = join(folderOf(root, key), 'package.json')
  // A package for another system is locked but not installed.
  if (!existsSync(file)) return null
  const { license } = (await Bun.file(file).json()) as { license?: string | { type?: string } }
  return (typeof license === 'string' ? license : license?.type) ?? null
}

function licenseOf(text: string | null): Models.LicenseRepository {
  if (text === null) return new Models.LicenseRepository()
  if (SPDX.isSupportedSpdxId(text)) {
    return new Models.LicenseRepository([new Models.SpdxLicense(text)])
  }
  const isExpression = / (OR|AND|WITH) /.test(text)
  return new Models.LicenseRepository([
    isExpression ? new Models.LicenseExpression(text) : new Models.NamedLicense(text),
  ])
}
