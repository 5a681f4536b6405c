import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Manifest } from '../../scripts/sbom.ts'

const root = join(import.meta.dir, '../..')
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')

test('the Dockerfile names the version, description, licence and Bun of package.json', async () => {
  const { version, description, license, devDependencies }: Manifest = await Bun.file(
    join(root, 'package.json'),
  ).json()
  for (const [label, value] of Object.entries({ version, description, licenses: license })) {
    expect(dockerfile).toContain(`org.opencontainers.image.${label}="${value}"`)
  }
  expect(dockerfile).toContain(`ARG BUILD_IMAGE=docker.io/oven/bun:${devDependencies.bun}\n`)
})

test('the manual publishes no port beyond the machine without saying what that opens', () => {
  for (const file of ['src/manual/deploy.md', 'deploy/compose.yaml']) {
    const text = readFileSync(join(root, file), 'utf8')
    const fenced = [...text.matchAll(/^```(console|yaml)\n(.*?)^```/gms)].map(block => block[2]!)
    const blocks = file.endsWith('.md') ? fenced : [text]
    const published = blocks.flatMap(block => [
      ...[...block.matchAll(/ (?:-p|--publish) (\S+)/g)].map(([, port]) => port!),
      ...[...block.matchAll(/^ *ports: (\[".*)$/gm)].flatMap(([, ports]) => parse(ports!)),
    ])
    expect(published).not.toBeEmpty()
    expect(published.filter(port => !port.startsWith('127.0.0.1:'))).toEqual([])
  }
})
