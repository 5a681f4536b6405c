import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Argument } from 'commander'
import { readConfig } from '../config/read-config.ts'
import { defaultOf, flagOf, settingNames, settings, variableOf } from '../config/settings.ts'
import type { Command } from './command.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { replaceFile, requireFile } from './files.ts'
import { print, printColumns, printJson } from './output.ts'
import template from './service-unit.txt' with { type: 'text' }
import { addGroup } from './table.ts'

export function addService(cairn: Command): void {
  const service = addGroup(cairn, {
    name: 'service',
    about: 'run the server with systemd',
    examples: ['sudo cairn service install', 'cairn service show'],
  })
  planned(service.command('install'))
    .description('install a systemd unit, a settings file and a user, as root; starts nothing')
    .option('--json', 'print {unit, files: [{path, did}]} as JSON')
    .examples(
      'sudo cairn service install',
      'sudo cairn service install --data /srv/cairn',
      'cairn service install --root ./image --binary /usr/bin/cairn',
    )
    .notes('To change the unit, such as its memory limit, run "systemctl edit cairn".')
    .action(install)
  planned(service.command('show'))
    .description('print the unit or the settings file of install; writes nothing')
    .addArgument(
      new Argument('[what]', 'what to print').choices(['unit', 'settings']).default('unit'),
    )
    .examples('cairn service show', 'cairn service show settings > cairn.env')
    .action((what: string, options: ServiceOptions) => {
      const text = serviceFiles(options)[what === 'unit' ? unitPath : options.config]!
      print(text.trimEnd())
    })
}

/** The options from which the files are made. */
interface ServiceOptions {
  /** The directory below which everything is written; empty for this machine itself. */
  root: string
  config: string
  binary: string
  data?: string
}

const planned = (command: Command) =>
  command
    .option(
      ...(['--root <dir>', 'write below this directory, to build an image; runs nothing'] as const),
      (path: string) => resolve(path),
      '',
    )
    .option('--data <dir>', 'data directory (default: /var/lib/cairn)')
    .option('--config <file>', 'its settings file', '/etc/cairn/cairn.env')
    .option('--binary <file>', 'the cairn program', process.execPath)

/** The first line of files that Cairn may replace. */
const marker = '# Written by "cairn service install"'

const unitPath = '/etc/systemd/system/cairn.service'
/** The user that the service needs (sysusers.d(5)), and the owners of its files (tmpfiles.d(5)). */
const usersPath = '/etc/sysusers.d/cairn.conf'
const rightsPath = '/etc/tmpfiles.d/cairn.conf'

/**
 * The texts of the service's files by their paths. If a settings file exists already, its data directory and
 * ports are used.
 *
 * @throws UsageFailure, ConfigError
 */
function serviceFiles({ root, config, binary, ...options }: ServiceOptions) {
  const before = keptSettings(join(root, config))
  const data = options.data ?? before?.data ?? '/var/lib/cairn'
  if (before?.data && before.data !== data) {
    throw new UsageFailure(
      `--data is ${data}, but ${config} says ${before.data}: change it there, and leave out --data`,
    )
  }
  const backups = before?.backupDir ?? null
  requirePath('--config', config)
  requireVisible('--data', data, 'choose one such as /var/lib/cairn')
  requireVisible('--binary', binary, 'put it into /usr/local/bin')
  if (backups !== null) requireVisible(`CAIRN_BACKUP_DIR in ${config}`, backups, 'choose another')
  const values: Record<string, string> = {
    ...{ marker, binary, data, config },
    writable: backups === null ? data : `${data} -${backups}`,
    // Only a port below 1024 needs a capability, which a user namespace would take away.
    privileges: before?.hasLowPort
      ? 'CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE'
      : 'CapabilityBoundingSet=\nPrivateUsers=yes',
  }
  return {
    [config]: settingsTemplate(data),
    [unitPath]: template.replace(/@(\w+)@/g, (_, name) => values[name]!),
    [usersPath]: `${marker}.\nu cairn - "Cairn" ${data} -\n`,
    [rightsPath]: `${marker}.\nd ${data} 0700 cairn cairn -\nz ${config} 0640 root cairn -\n`,
  }
}

/** The values of an existing settings file that the unit needs to know. */
function keptSettings(path: string) {
  if (!existsSync(path)) return null
  const env = { CAIRN_CONFIG: path }
  const { config, given } = readConfig({ env }, ['data', 'backupDir', 'port', 'managementPort'])
  const { data, backupDir, port, managementPort } = config
  const hasLowPort = [port, managementPort].some(each => each > 0 && each < 1_024)
  return { data: given.has('data') ? data : null, backupDir, hasLowPort }
}

/** Other characters would have to be escaped in every file, in a different way in each. */
function requirePath(option: string, value: string): void {
  if (/^(\/[A-Za-z0-9._@+-]+)+$/.test(value) && !/\/\.\.?(\/|$)/.test(value)) return
  throw new UsageFailure(
    `${option} is "${value.slice(0, 200)}": set a whole path, /…, of letters, digits and . _ @ + -`,
  )
}

/** The unit hides these directories from the service. */
const hidden = /^(\/(?:home|root|run\/user|tmp|var\/tmp|dev|proc|sys))(?:\/|$)/

function requireVisible(option: string, path: string, advice: string): void {
  requirePath(option, path)
  const above = hidden.exec(path)?.[1]
  if (above === undefined) return
  throw new UsageFailure(
    `${option} is ${path}, in ${above}, which the service does not see: ${advice}`,
  )
}

/** A settings file to start with: every setting with its default, commented out, except for the data directory. */
function settingsTemplate(data: string): string {
  const parts = settingNames
    .filter(name => name !== 'config')
    .map(name => {
      const { help } = settings[name]
      if (name === 'data') {
        return `# ${help}; the unit lets it write this one alone\nCAIRN_DATA=${data}`
      }
      // A secret is better kept in a file of its own.
      const variable = flagOf(name) === null ? `${variableOf(name)}_FILE` : variableOf(name)
      const shown = defaultOf(name) ?? ''
      return `# ${help}\n#${variable}=${/\s/.test(shown) ? '' : shown}`
    })
  return `# The settings of Cairn. "systemctl reload" has them read again; the log says which were taken
# up, and which wait for a restart.

${parts.join('\n\n')}
`
}

function install(options: ServiceOptions & { json?: boolean }): void {
  const { root, config, binary, json } = options
  const texts = Object.entries(serviceFiles(options))
  if (root === '') requireSystemd(binary)
  for (const [path] of texts) if (path !== config) requireOurs(join(root, path))
  const files = texts.map(([path, text]) => write(join(root, path), text, path === config))
  if (root === '') {
    run('systemd-sysusers', usersPath)
    run('systemd-tmpfiles', '--create', rightsPath)
    run('systemctl', 'daemon-reload')
  }
  if (json) printJson({ unit: 'cairn.service', files })
  else printInstalled(config, files)
}

function printInstalled(config: string, files: readonly { path: string; did: string }[]): void {
  const isNew = files.some(({ did }) => did === 'written')
  const isChanged = isNew || files.some(({ did }) => did === 'replaced')
  const when = isNew ? 'start it now and at boot' : 'apply the changes'
  printColumns(files.map(({ path, did }) => [did, path]))
  print(
    '',
    isChanged
      ? `Installed cairn.service. Next: check ${config}, then ${when}:`
      : `Changed nothing. After a change of ${config}:`,
    `  systemctl ${isNew ? 'enable --now' : 'restart'} cairn`,
    'Run commands as its user, such as:',
    `  sudo -u cairn cairn org create "Harbor Inc" --config ${config}`,
  )
}

function requireSystemd(binary: string): void {
  if (!existsSync('/run/systemd/system')) {
    throw new CommandFailure(
      'this machine does not use systemd: "cairn service show" prints the unit, --root writes files for another machine',
    )
  }
  if (process.getuid?.() !== 0) throw new CommandFailure('this needs root: run it with sudo')
  if ((statSync(binary).mode & 0o005) === 0o005) return
  throw new CommandFailure(`${binary} cannot be run by other users: run "chmod 755 ${binary}"`)
}

function requireOurs(path: string): void {
  requireFile(path)
  if (!existsSync(path) || readFileSync(path, 'utf8').startsWith(marker)) return
  throw new CommandFailure(
    `${path} was not written by "cairn service install": move it, or use "cairn service show"`,
  )
}

function write(path: string, text: string, isSettings: boolean) {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : null
  if (before !== null && isSettings) return { path, did: 'kept' }
  if (before === text) return { path, did: 'unchanged' }
  // Set explicitly, because Cairn's own umask is meant for its data.
  const made = mkdirSync(dirname(path), { recursive: true })
  if (made !== undefined) chmodSync(dirname(path), 0o755)
  replaceFile(path, text, isSettings ? 0o640 : 0o644)
  return { path, did: before === null ? 'written' : 'replaced' }
}

function run(...command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command, { stdout: 'ignore', stderr: 'pipe' })
  if (success) return
  throw new CommandFailure(
    `"${command.join(' ')}" failed: ${stderr.toString().trim().slice(0, 500)}`,
  )
}
