import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { settingNames, variableOf } from '../../src/config/settings.ts'
import { readSettingsFile } from '../../src/core/text/settings-file.ts'
import { CommandLine } from '../support/command-line.ts'
import { MetricsPage } from '../support/prometheus.ts'

let place: CommandLine

beforeEach(() => {
  place = new CommandLine()
})
afterEach(() => place.close())

const root = () => join(place.folder, 'image')
const below = (path: string) => readFileSync(join(root(), path), 'utf8')
const onImage = () => ['--root', root(), '--binary', '/usr/local/bin/cairn']
const install = (...more: string[]) => place.run(['service', 'install', ...onImage(), ...more])

const unitPath = '/etc/systemd/system/cairn.service'

describe('the unit', () => {
  test('is the one that was tried with systemd', async () => {
    const { stdout, stderr } = await place.run([
      'service',
      'show',
      '--binary',
      '/usr/local/bin/cairn',
    ])
    expect(stderr).toBe('')
    expect(stdout).toBe(await Bun.file(join(import.meta.dir, 'service/cairn.service')).text())
  })

  test('has the paths of its options', async () => {
    const { stdout } = await place.run(
      'service show --data /srv/tours --config /etc/tours.env --binary /opt/cairn'.split(' '),
    )
    for (const line of [
      'ExecStart=/opt/cairn serve',
      'Environment=CAIRN_CONFIG=/etc/tours.env',
      'ReadWritePaths=/srv/tours',
    ]) {
      expect(stdout).toContain(`\n${line}\n`)
    }
  })

  test.skipIf(!Bun.which('systemd-analyze'))(
    'is accepted by systemd, and little exposed',
    async () => {
      const binary = join('/usr/bin', 'env')
      const { stdout } = await place.run(['service', 'show', '--binary', binary])
      const file = join(place.folder, 'cairn.service')
      writeFileSync(file, stdout)
      const verify = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', file])
      expect(verify.stderr.toString()).toBe('')
      expect(verify.exitCode).toBe(0)
      // An older systemd cannot judge a file.
      const help = Bun.spawnSync(['systemd-analyze', '--help']).stdout.toString()
      if (!help.includes('--offline')) return
      const judged = Bun.spawnSync([
        'systemd-analyze',
        'security',
        '--offline=true',
        '--no-pager',
        file,
      ])
      const [, score] = /exposure level for \S+: ([\d.]+)/.exec(judged.stdout.toString()) ?? []
      expect(Number(score)).toBeLessThanOrEqual(1.5)
    },
  )
})

describe('install', () => {
  test('writes unit, user, rights and settings, and says how to go on', async () => {
    const { status, stdout, stderr } = await install()
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('systemctl enable --now cairn')
    expect(below(unitPath)).toContain('Type=notify')
    expect(below('/etc/sysusers.d/cairn.conf')).toEndWith('\nu cairn - "Cairn" /var/lib/cairn -\n')
    expect(below('/etc/tmpfiles.d/cairn.conf')).toEndWith(
      '\nd /var/lib/cairn 0700 cairn cairn -\nz /etc/cairn/cairn.env 0640 root cairn -\n',
    )
    const modeOf = (path: string) => statSync(join(root(), path)).mode & 0o777
    expect([modeOf(unitPath), modeOf('/etc/cairn'), modeOf('/etc/cairn/cairn.env')]).toEqual([
      0o644, 0o755, 0o640,
    ])
  })

  test('a second time keeps the settings, and changes nothing', async () => {
    await install()
    const settings = join(root(), '/etc/cairn/cairn.env')
    writeFileSync(settings, 'CAIRN_DATA=/var/lib/cairn\nCAIRN_ACK=buffer\n')
    const { files } = await place.json<{ files: { did: string }[] }>([
      'service',
      'install',
      ...onImage(),
    ])
    expect(files.map(({ did }) => did)).toEqual(['kept', 'unchanged', 'unchanged', 'unchanged'])
    expect(readFileSync(settings, 'utf8')).toContain('CAIRN_ACK=buffer')
    const again = await install()
    expect(again.stdout).toContain('Changed nothing.')
    expect(again.stdout).not.toContain('to apply the changes')
    expect((await install('--binary', '/opt/cairn')).stdout).toContain(
      'apply the changes:\n  systemctl restart cairn\n',
    )
  })

  test('the settings decide the data directory and whether a port needs root rights', async () => {
    mkdirSync(join(root(), 'etc/cairn'), { recursive: true })
    const settings = join(root(), 'etc/cairn/cairn.env')
    writeFileSync(settings, 'CAIRN_DATA=/srv/cairn\nCAIRN_PORT=443\n')
    await install()
    expect(below(unitPath)).toContain('ReadWritePaths=/srv/cairn\n')
    expect(below(unitPath)).toContain('AmbientCapabilities=CAP_NET_BIND_SERVICE\n')
    expect(below(unitPath)).not.toContain('PrivateUsers=')
    const { status, stderr } = await install('--data', '/var/lib/cairn')
    expect([status, stderr]).toEqual([
      2,
      'cairn: --data is /var/lib/cairn, but /etc/cairn/cairn.env says /srv/cairn: change it there, and leave out --data\n',
    ])
  })

  test('a unit that somebody else wrote is left alone', async () => {
    mkdirSync(join(root(), 'etc/systemd/system'), { recursive: true })
    writeFileSync(join(root(), unitPath), '[Service]\n')
    const { status, stderr } = await install()
    expect(status).toBe(1)
    expect(stderr).toContain('was not written by "cairn service install"')
    expect(below(unitPath)).toBe('[Service]\n')
    expect(existsSync(join(root(), 'etc/cairn'))).toBe(false)
  })

  test.each([
    [['--data', '/home/ann/cairn'], 'which the service does not see'],
    [['--binary', '/root/cairn'], 'put it into /usr/local/bin'],
    [['--data', 'relative'], 'set a whole path'],
    [['--data', '/srv/a b'], 'set a whole path'],
    [['--data', '/srv/../etc'], 'set a whole path'],
  ])('%p is wrong usage, and writes nothing', async (args, advice) => {
    const { status, stderr } = await install(...args)
    expect(status).toBe(2)
    expect(stderr).toContain(advice)
    expect(existsSync(root())).toBe(false)
  })

  test.skipIf(existsSync('/run/systemd/system'))('without systemd it says what to do', async () => {
    const { status, stderr } = await place.run([
      'service',
      'install',
      '--binary',
      '/usr/local/bin/cairn',
    ])
    expect(status).toBe(1)
    expect(stderr).toStartWith('cairn: this machine does not use systemd: "cairn service show"')
  })
})

test('the initial settings file has every setting, and can be read as it is', async () => {
  const args = ['service', 'show', 'settings', '--binary', '/usr/bin/cairn']
  const { stdout } = await place.run(args)
  for (const name of settingNames) {
    if (name !== 'config') expect(stdout).toContain(`${variableOf(name)}`)
  }
  expect(readSettingsFile(stdout)).toEqual({
    settings: [{ name: 'CAIRN_DATA', value: '/var/lib/cairn', line: 5 }],
    faults: [],
  })
  // It can also be read with all the settings that are commented out because they are defaults.
  const all = stdout.replace(/^#(CAIRN_\w+=.+)$/gm, '$1')
  expect(readSettingsFile(all).faults).toEqual([])
  writeFileSync(join(place.folder, 'all.env'), all)
  const { stderr } = await place.run(['org', 'list', '--config', 'all.env', '--data', 'none'])
  expect(stderr).toStartWith('cairn: no Cairn data in none')
})

describe('monitoring', () => {
  const alertRules = join(import.meta.dir, '../../src/manual/alerts.yaml')
  const namesIn = (query: string) => query.match(/\b(cairn|process)_[a-z0-9_]+/g) ?? []

  let exposed: Set<string>
  let grafanaJson: unknown
  beforeAll(async () => {
    await using own = new CommandLine()
    const server = await own.serve()
    await fetch(`${server.url}/api/v1/flows`)
    const page = new MetricsPage(await (await fetch(`${server.managementUrl}/metrics`)).text())
    grafanaJson = await (await fetch(`${server.url}/docs/grafana.json`)).json()
    exposed = new Set(page.samples.map(({ name }) => name))
  })

  interface Rule {
    alert: string
    expr: string
    labels: { severity: string }
    annotations: { summary: string; description: string }
  }

  test('alert rules name only metrics that exist, and say what to do', () => {
    const { groups } = parse(readFileSync(alertRules, 'utf8')) as { groups: { rules: Rule[] }[] }
    const rules = groups.flatMap(group => group.rules)
    expect(rules).not.toBeEmpty()
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { expr, labels, annotations } of rules) {
      expect(namesIn(expr)).not.toEqual([])
      expect(namesIn(expr).filter(name => !exposed.has(name))).toEqual([])
      expect(['critical', 'warning', 'info']).toContain(labels.severity)
      expect([annotations.summary, annotations.description]).not.toContain(undefined)
    }
  })

  test.skipIf(!Bun.which('promtool'))('Prometheus takes the rules, and they fire', () => {
    copyFileSync(alertRules, join(place.folder, 'alerts.yaml'))
    copyFileSync(
      join(import.meta.dir, 'service/alerts-fire.yaml'),
      join(place.folder, 'alerts-fire.yaml'),
    )
    const promtool = (...args: string[]) => {
      const { exitCode, stderr } = Bun.spawnSync(['promtool', ...args], { cwd: place.folder })
      return { exitCode, stderr: stderr.toString() }
    }
    const well = { exitCode: 0, stderr: '' }
    expect(promtool('check', 'rules', 'alerts.yaml')).toEqual(well)
    expect(promtool('test', 'rules', 'alerts-fire.yaml')).toEqual(well)
  })

  test('the Grafana dashboard names only metrics that exist, and none of its panels overlap', () => {
    const { panels, templating } = grafanaJson as {
      panels: {
        id: number
        targets: { expr: string }[]
        gridPos: { x: number; y: number; w: number; h: number }
      }[]
      templating: { list: { name: string }[] }
    }
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    expect(queries).not.toBeEmpty()
    for (const query of queries) {
      expect(namesIn(query)).not.toEqual([])
      expect(namesIn(query).filter(name => !exposed.has(name))).toEqual([])
      expect(query).toContain('{instance=~"$instance"')
    }
    expect(templating.list.map(({ name }) => name)).toEqual(['source', 'instance'])
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })
})
