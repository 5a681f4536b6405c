import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { finished } from '../../scripts/support/finished.ts'
import { Valkey, valkeyProgram } from '../../scripts/support/valkey.ts'
import { apiOf, builtBinary, type Server, Workplace } from '../support/binary.ts'
import { PostgresServer, postgresPrograms } from '../support/postgres.ts'

/**
 * The commands of README and of the manual, as they stand there and in their order. README and `deploy`
 * begin from nothing, so each gets an empty folder. `several-machines` gets a database and a limits server.
 * All others share one server, which has what those commands make.
 */

setDefaultTimeout(300_000)

const root = join(import.meta.dir, '../..')
const topics = join(root, 'src/manual')
/** Sorted by name, because after `verify-users` the server refuses what others send without a hash. */
const names = readdirSync(topics).filter(name => name.endsWith('.md'))
const files = ['README.md', ...names.sort()]

const textOf = (file: string) =>
  readFileSync(join(file === 'README.md' ? root : topics, file), 'utf8')

const blocksOf = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block = '']) => block,
  )

/** Every command in a file's shell blocks, also over several lines, but no `cairn serve`: it would not end. */
function commandsOf(file: string): string[] {
  const commands: string[] = []
  let open = ''
  for (const line of blocksOf(textOf(file), 'sh').join('').split('\n')) {
    open += open === '' ? line : `\n${line}`
    const isWhole = !open.endsWith('\\') && (open.match(/'/g) ?? []).length % 2 === 0
    if (!isWhole) continue
    if (/^(cairn|curl|export) /.test(open) && !open.startsWith('cairn serve')) commands.push(open)
    open = ''
  }
  return commands
}

const flows = blocksOf(textOf('write-flows.md'), 'yaml').find(text => text.startsWith('key: '))!
const [theme = ''] = blocksOf(textOf('theme.md'), 'yaml')

/** A folder in which a file's commands are run, and what they find there. */
class Reader {
  private readonly place = new Workplace()
  private readonly environment: Record<string, string> = {}
  private server: Server | null = null
  private postgres: PostgresServer | null = null
  private valkey: Valkey | null = null
  /** What to put in place of the manual's ellipses and example paths. */
  private readonly replaced = new Map<RegExp, string>()

  async begin(): Promise<void> {
    const bin = join(this.place.folder, 'bin')
    mkdirSync(bin)
    symlinkSync(await builtBinary(), join(bin, 'cairn'))
    this.environment.PATH = `${bin}:/usr/bin:/bin`
    writeFileSync(join(this.place.folder, 'tour.yaml'), flows)
    writeFileSync(join(this.place.folder, 'theme.yaml'), theme)
    const picture = join(root, 'test/fixtures/gallery/banner-light.png')
    copyFileSync(picture, join(this.place.folder, 'welcome.png'))
    this.replaced.set(/\/mnt\/backups/, join(this.place.folder, 'backups'))
    this.replaced.set(/\/var\/lib\/cairn/, join(this.place.folder, 'cairn-data'))
  }

  /** Starts the two servers that nodes share, and makes the data of a single server. */
  async share(): Promise<void> {
    const { folder } = this.place
    this.postgres = await PostgresServer.open()
    this.valkey = await Valkey.open('--maxmemory-policy', 'noeviction')
    await this.place.run(['org', 'create', 'Alone Inc'])
    writeFileSync(join(folder, 'limits'), this.valkey.url)
    await this.nameDatabase(await this.postgres.emptyDatabase())
    this.replaced.set(/\/etc\/cairn/, folder)
    this.environment.CAIRN_DATA = join(folder, 'first')
    this.replaced.set(/\/var\/lib\/alone/, join(folder, 'alone'))
  }

  private nameDatabase(url: string): Promise<number> {
    return Bun.write(join(this.place.folder, 'database'), url)
  }

  /** Makes an organisation with published flows, starts a server, and visits it as a page does. */
  async settle(): Promise<void> {
    await this.place.run(['org', 'create', 'Harbor Inc'])
    await this.place.run(['flows', 'push', 'tour.yaml', '--publish'])
    await this.place.run(['org', 'set', 'traits', 'plan', 'region'])
    this.server = await this.place.serve()
    const { snippetKey } = await this.place.json<{ snippetKey: string }>(['key', 'show'])
    const { token: session } = await this.place.json<{ token: string }>(['token', 'issue'])
    const scopes = ['--scope', 'flows:read', '--scope', 'flows:write']
    const { token } = await this.place.json<{ token: string }>(['token', 'create', 'CI', ...scopes])
    Object.assign(this.environment, {
      SNIPPET_KEY: snippetKey,
      SESSION_TOKEN: session,
      CAIRN_TOKEN: token,
    })
    await this.bePage(snippetKey)
    await this.beMember()
  }

  /** Signs in by a link, so that there is a member. */
  private async beMember(): Promise<void> {
    const { url } = this.server!
    const args = ['dashboard', 'link', '--role', 'editor', '--name', 'Cleo', '--public-url', url]
    const link = await this.place.json<{ url: string }>(args)
    const { status } = await fetch(`${url}/dashboard/session/redeem`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'cairn-dashboard': '1',
        'sec-fetch-site': 'same-origin',
      },
      body: JSON.stringify({ code: new URL(link.url).hash.slice(1) }),
    })
    expect(status).toBe(200)
    const [member] = await this.place.json<{ id: string }[]>(['members', 'list'])
    this.replaced.set(/(?<=^cairn members (role|remove) )ID/, member!.id)
  }

  private async bePage(snippetKey: string): Promise<void> {
    const ask = apiOf(this.server!, snippetKey)
    const body = (await (await ask('GET', '/flows')).json()) as {
      flows: { id: string; key: string; steps: { id: string; target: { selector: string } }[] }[]
    }
    const [tour, checklist] = ['welcome', 'first-steps'].map(key =>
      body.flows.find(flow => flow.key === key),
    )
    const step = tour!.steps[0]!
    this.replaced.set(/flow_…(?=\/checklist-progress)/, checklist!.id)
    this.replaced.set(/flow_…/g, tour!.id)
    this.replaced.set(/step_…/g, step.id)
    const { selector } = step.target
    const testId = { attr: 'data-test', value: 'new-project' }
    const said = { name: 'New project', role: 'button', text: 'New project' }
    const ancestors = [{ tag: 'header', role: 'banner', nth: 0 }]
    const fingerprint = { selector, matchCount: 1, tag: 'button', testId, ...said, ancestors }
    const events = [{ kind: 'flow_started', flowId: tour!.id, userId: 'ada' }]
    const answers = [
      await ask('POST', '/events', { events }),
      await ask('POST', `/steps/${step.id}/fingerprint`, { fingerprint }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([202, 200])
  }

  /** Runs a command as it stands. What a command exports holds for the later ones. */
  async run(command: string) {
    // The manual's `cairn serve` is left out, because it would not end.
    if (this.postgres && command.startsWith('cairn nodes')) {
      this.server = await this.place.serve(['--data', 'node'], this.environment)
    }
    // The earlier commands' database has an organisation, and a move needs a database without one.
    if (this.postgres && command.startsWith('cairn move --data')) {
      await this.nameDatabase(await this.postgres.emptyDatabase())
    }
    let line = command
    for (const [what, by] of this.replaced) line = line.replace(what, by)
    if (this.server && /^(curl|export) /.test(line)) {
      line = line.replace('https://cairn.example.com', this.server.url)
    }
    // Makes curl fail if it is answered with a refusal, and confirms the erasure.
    line = line.replace(/^curl /, 'curl -sS --fail-with-body ')
    line = line.replace(/^cairn person erase [^#\n]*/, '$& --yes ')
    const [, name, value] = /^export (\w+)=(\S+)/.exec(line) ?? []
    if (name && value) this.environment[name] = value
    // A management token is only for commands with `--url`.
    const { CAIRN_TOKEN: _, ...withoutToken } = this.environment
    const child = Bun.spawn(['/bin/sh', '-c', line], {
      cwd: this.place.folder,
      env: line.startsWith('curl') ? this.environment : withoutToken,
      stdout: 'pipe',
      stderr: 'pipe',
    })
    return finished(child)
  }

  async close(): Promise<void> {
    await this.place.close()
    await this.postgres?.close()
    await this.valkey?.close()
  }
}

const settled = new Reader()
beforeAll(async () => {
  await settled.begin()
  await settled.settle()
})
afterAll(() => settled.close())

for (const file of files) {
  const commands = commandsOf(file)
  if (commands.length === 0) continue
  const isShared = file === 'several-machines.md'
  const isLeftOut = isShared && (postgresPrograms === null || valkeyProgram === null)
  describe.skipIf(isLeftOut)(basename(file, '.md'), () => {
    const isBeginning = commands.some(command => command.startsWith('cairn org create'))
    const reader = isBeginning ? new Reader() : settled
    if (isBeginning) {
      beforeAll(async () => {
        await reader.begin()
        if (isShared) await reader.share()
      })
      afterAll(() => reader.close())
    }

    test.each(commands)('%s', async command => {
      if (command.startsWith('curl') && !Bun.which('curl')) return
      const { status, stdout, stderr } = await reader.run(command)
      // Without a service and a backup, and just started, the doctor has something to say.
      if (command.startsWith('cairn doctor')) return expect(stdout).toContain('Free disk space')
      // No page has looked for the element yet, so pages suggest no other selector.
      if (command === 'cairn steps repair welcome create') {
        return expect(stderr).toContain('pages suggest no other selector')
      }
      expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' })
      if (command.startsWith('cairn explain')) expect(stdout).toStartWith('shown: ')
    })
  })
}

test('the commands are found', () => {
  expect(commandsOf('README.md')[1]).toStartWith('cairn org create')
  expect(files.flatMap(commandsOf).length).toBeGreaterThan(50)
})
