import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Argument } from 'commander'
import type { Command } from './command.ts'
import { CommandFailure } from './failure.ts'
import { replaceFile, requireFile } from './files.ts'
import { print, printColumns, printJson } from './output.ts'
import {
  marker,
  rightsPath,
  type ServiceOptions,
  serviceFiles,
  unitPath,
  usersPath,
} from './service/unit.ts'
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
      'sudo cairn service install --data /srv/cairn --memory-max 2G',
      'cairn service install --root ./image --binary /usr/bin/cairn',
    )
    .action(install)
  rooted(service.command('uninstall'))
    .description('stop the service and remove its unit, as root; data, settings and user stay')
    .option('--json', 'print {unit, files: [{path, did}]} as JSON')
    .examples('sudo cairn service uninstall')
    .action(uninstall)
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

const rooted = (command: Command) =>
  command.option(
    ...(['--root <dir>', 'write below this directory, to build an image; runs nothing'] as const),
    (path: string) => resolve(path),
    '',
  )

/** The options from which the files are made. */
const planned = (command: Command) =>
  rooted(command)
    .option('--data <dir>', 'data directory (default: /var/lib/cairn)')
    .option('--config <file>', 'its settings file', '/etc/cairn/cairn.env')
    .option('--binary <file>', 'the cairn program', process.execPath)
    .option('--memory-max <size>', 'memory limit at which systemd restarts it, such as 1G')

interface FileChange {
  path: string
  did: 'written' | 'replaced' | 'unchanged' | 'kept' | 'removed'
}

function install(options: ServiceOptions & { json?: boolean }): void {
  const { root, config, binary } = options
  const texts = Object.entries(serviceFiles(options))
  if (root === '') {
    requireSystemd()
    if ((statSync(binary).mode & 0o005) !== 0o005) {
      throw new CommandFailure(`${binary} cannot be run by other users: run "chmod 755 ${binary}"`)
    }
  }
  for (const [path] of texts) if (path !== config) requireOurs(join(root, path))
  const files = texts.map(([path, text]) => write(join(root, path), text, path === config))
  if (root === '') {
    run('systemd-sysusers', usersPath)
    run('systemd-tmpfiles', '--create', rightsPath)
    run('systemctl', 'daemon-reload')
  }
  report(files, options.json)
  if (options.json) return
  const isNew = files.some(({ did }) => did === 'written')
  const isChanged = isNew || files.some(({ did }) => did === 'replaced')
  const when = isNew ? 'start it now and at boot' : 'apply the changes'
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

function uninstall({ root, json }: { root: string; json?: boolean }): void {
  if (root === '') requireSystemd()
  const [unit = '', ...others] = [unitPath, usersPath, rightsPath].map(path => join(root, path))
  if (!existsSync(unit)) throw new CommandFailure(`${unit} not found: nothing is installed`)
  const there = [unit, ...others].filter(path => existsSync(path))
  for (const path of there) requireOurs(path)
  if (root === '') run('systemctl', 'disable', '--now', 'cairn')
  for (const path of there) rmSync(path)
  if (root === '') run('systemctl', 'daemon-reload')
  report(
    there.map(path => ({ path, did: 'removed' })),
    json,
  )
}

function report(files: readonly FileChange[], json = false): void {
  if (json) printJson({ unit: 'cairn.service', files })
  else printColumns(files.map(({ path, did }) => [did, path]))
}

function requireSystemd(): void {
  if (!existsSync('/run/systemd/system')) {
    throw new CommandFailure(
      'this machine does not use systemd: "cairn service show" prints the unit, --root writes files for another machine',
    )
  }
  if (process.getuid?.() !== 0) {
    throw new CommandFailure('this needs root: run it with sudo')
  }
}

function requireOurs(path: string): void {
  requireFile(path)
  if (!existsSync(path) || readFileSync(path, 'utf8').startsWith(marker)) return
  throw new CommandFailure(
    `${path} was not written by "cairn service install": move it, or use "cairn service show"`,
  )
}

function write(path: string, text: string, isSettings: boolean): FileChange {
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
