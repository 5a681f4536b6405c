import { afterAll, test as anyTest, beforeAll, expect } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { haproxyProgram, manualsHaproxyConfig } from '../../scripts/support/haproxy.ts'
import { defaultOf, settingNames, variableOf } from '../../src/config/settings.ts'
import { describe, PostgresServer, test } from '../support/postgres.ts'

/** What the topic "several-machines" offers for copying has to be what Cairn, HAProxy and PostgreSQL accept. */

const root = join(import.meta.dir, '../..')
const text = readFileSync(join(root, 'src/manual/several-machines.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, body]) => body!,
  )

// biome-ignore lint/suspicious/noExplicitAny: what is in them is what the tests look at
type Yaml = any

const composeText = readFileSync(join(root, 'deploy/compose.yaml'), 'utf8')
const [manifestText = ''] = blocks('yaml')
const compose: Yaml = parse(composeText, { merge: true })
const manifest = new Map(
  parseAllDocuments(manifestText).map(document => {
    expect(document.errors).toEqual([])
    const { kind, ...rest } = document.toJS() as { kind: string } & Record<string, never>
    return [kind, rest as Yaml]
  }),
)
const ports = { api: Number(defaultOf('port')), management: Number(defaultOf('managementPort')) }
const variables = settingNames.map(variableOf)

describe('compose.yaml', () => {
  const { services, volumes, configs } = compose
  const nodes = Object.keys(services).filter(name => name.startsWith('cairn-'))

  anyTest('has two nodes that are told of the database and the limits, with a disk each', () => {
    expect(nodes).toHaveLength(2)
    for (const name of nodes) {
      const { environment, hostname, volumes: own } = services[name]
      expect([hostname, own]).toEqual([name, [`${name.replace('cairn', 'node')}:/data`]])
      expect(Object.keys(environment).filter(one => !variables.includes(one))).toEqual([])
      expect(environment).toMatchObject({
        CAIRN_DATABASE_URL: `postgres://cairn:\${POSTGRES_PASSWORD}@postgres/cairn`,
        CAIRN_LIMITS_URL: `redis://:\${VALKEY_PASSWORD}@valkey`,
      })
    }
  })

  anyTest('runs Cairn without rights on a root that it cannot write to', () => {
    for (const name of nodes) {
      expect(services[name]).toMatchObject({
        read_only: true,
        tmpfs: ['/tmp'],
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      })
    }
  })

  anyTest('names services, volumes and configurations that are there', () => {
    for (const service of Object.values<Yaml>(services)) {
      const needed = service.depends_on ?? []
      for (const name of Array.isArray(needed) ? needed : Object.keys(needed)) {
        expect(Object.keys(services)).toContain(name)
      }
      for (const { source } of service.configs ?? []) expect(configs).toHaveProperty(source)
    }
    const mounted = [...nodes.map(name => services[name]), services.postgres, services.standby].map(
      ({ volumes: [volume] }) => volume.split(':')[0],
    )
    expect(mounted).toEqual(Object.keys(volumes))
  })
})

anyTest.skipIf(haproxyProgram === null)('HAProxy takes haproxy.cfg, which asks every node', () => {
  const config = manualsHaproxyConfig()
  const folder = mkdtempSync(join(tmpdir(), 'cairn-haproxy-'))
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, config)
  const { exitCode, stderr } = Bun.spawnSync([haproxyProgram!, '-c', '-q', '-f', file])
  rmSync(folder, { recursive: true })
  expect(`${stderr}`).not.toContain('ALERT')
  expect(exitCode).toBe(0)
  const requested = [...config.matchAll(/^ +server (\S+) (\S+):(\d+)/gm)].map(
    ([, ...parts]) => parts,
  )
  const nodes = Object.keys(compose.services).filter(name => name.startsWith('cairn-'))
  expect(requested).toEqual(nodes.map(name => [name, name, `${ports.api}`]))
  expect(config).toContain(`check port ${ports.management} `)
  const { ports: published } = compose.services.haproxy
  expect(published).toEqual([`127.0.0.1:8080:${/bind :(\d+)/.exec(config)![1]}`])
})

anyTest('the Kubernetes manifest has what it names, and asks what is there', () => {
  expect([...manifest.keys()].toSorted()).toEqual(
    ['PodDisruptionBudget', 'Secret', 'Service', 'StatefulSet'].toSorted(),
  )
  const { template, selector, replicas } = manifest.get('StatefulSet').spec
  const [container] = template.spec.containers
  expect(template.metadata.labels).toEqual(selector.matchLabels)
  expect(manifest.get('PodDisruptionBudget').spec.selector).toEqual(selector)
  expect(manifest.get('PodDisruptionBudget').spec.maxUnavailable).toBeLessThan(replicas)
  expect(manifest.get('Service').spec.selector).toEqual(selector.matchLabels)
  const portOf = new Map(container.ports.map((port: Yaml) => [port.name, port.containerPort]))
  expect(portOf.get(manifest.get('Service').spec.ports[0].targetPort)).toBe(ports.api)
  for (const [probe, path] of [
    ['startupProbe', '/readyz'],
    ['readinessProbe', '/readyz'],
    ['livenessProbe', '/healthz'],
  ] as const) {
    const { httpGet } = container[probe]
    expect([httpGet.path, portOf.get(httpGet.port)]).toEqual([path, ports.management])
  }
  expect(container.envFrom[0].secretRef.name).toBe(manifest.get('Secret').metadata.name)
  const set = container.env.map(({ name }: Yaml) => name)
  const named = [...Object.keys(manifest.get('Secret').stringData), ...set]
  expect(named.filter(name => !variables.includes(name))).toEqual([])
})

anyTest('the pods are restricted, and write only where they have a volume', () => {
  const { template, volumeClaimTemplates } = manifest.get('StatefulSet').spec
  const { spec } = template
  const [{ env, securityContext, volumeMounts }] = spec.containers
  expect(spec.automountServiceAccountToken).toBe(false)
  expect({ ...spec.securityContext, ...securityContext }).toEqual({
    runAsNonRoot: true,
    // That of the image, which may then write to the volume.
    fsGroup: 65532,
    seccompProfile: { type: 'RuntimeDefault' },
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  const lasting = volumeClaimTemplates.map(({ metadata }: Yaml) => metadata.name)
  const volumes = [...lasting, ...spec.volumes.map(({ name }: Yaml) => name)]
  expect(volumeMounts.map(({ name }: Yaml) => name)).toEqual(volumes)
  const { value } = env.find(({ name }: Yaml) => name === variableOf('data'))
  const [data, tmp] = volumeMounts.map(({ mountPath }: Yaml) => mountPath)
  expect([value.startsWith(`${data}/`), tmp]).toEqual([true, '/tmp'])
})

describe('a standby by the scripts of compose.yaml', () => {
  let primary: PostgresServer
  beforeAll(async () => {
    primary = await PostgresServer.open()
  })
  afterAll(() => primary?.close())

  const script = (name: string) => (compose.configs[name].content as string).replaceAll('$$', '$')

  test('is one that commits wait for', async () => {
    await primary.emptyDatabase('', 'cairn')
    const address = { PGHOST: '127.0.0.1', PGPORT: `${primary.port}` }
    await primary.runScript(script('primary'), { ...address, PGDATA: primary.dataFolder })
    expect(primary.read('pg_hba.conf')).toEndWith('\nhost replication cairn all scram-sha-256\n')
    await primary.reload()
    const [said] = await primary.ask<{ setting: string }>('show synchronous_standby_names')
    expect(said).toEqual({ synchronous_standby_names: 'ANY 1 (standby)' } as never)
    const copy = join(primary.folder, 'copy')
    const copied = script('standby')
      .replace('host=postgres', `host=127.0.0.1 port=${primary.port}`)
      .replace('chmod', 'mkdir -p "$PGDATA" && chmod')
      .replace('exec postgres', '')
    await primary.runScript(copied, { PGDATA: copy })
    expect(existsSync(join(copy, 'standby.signal'))).toBe(true)
    expect(readFileSync(join(copy, 'postgresql.auto.conf'), 'utf8')).toMatch(
      /primary_conninfo = .*host=127\.0\.0\.1.*application_name=standby/,
    )
  })
})
