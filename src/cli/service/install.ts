import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandFailure } from '../failure.ts'
import { refuseNoFile, replaceFile } from '../files.ts'
import { isForAll } from './plan.ts'
import {
  marker,
  rightsFile,
  type ServicePlan,
  settingsTemplate,
  unitFile,
  usersFile,
} from './unit.ts'

/** What happened to one file. */
export interface FileChange {
  path: string
  did: 'written' | 'replaced' | 'unchanged' | 'kept' | 'removed'
}

/** Where the output of `text` is stored, below a root directory. */
const ours = {
  unit: { path: (name: string) => `/etc/systemd/system/${name}.service`, text: unitFile },
  users: { path: (name: string) => `/etc/sysusers.d/${name}.conf`, text: usersFile },
  rights: { path: (name: string) => `/etc/tmpfiles.d/${name}.conf`, text: rightsFile },
}

const isOfMachine = (root: string) => root === ''

/**
 * Writes the service's files and has systemd load them; starts nothing. An existing settings file is kept.
 *
 * @param root a directory to write below, in which case nothing is run; empty for this machine
 * @throws CommandFailure
 */
export function installService(plan: ServicePlan, root: string): FileChange[] {
  if (isOfMachine(root)) requireSystemd()
  const { name, binary, config, data } = plan
  if (isOfMachine(root) && !isForAll(binary)) {
    throw new CommandFailure(`${binary} cannot be run by other users: run "chmod 755 ${binary}"`)
  }
  for (const { path } of Object.values(ours)) requireOurs(join(root, path(name)))
  const changes = [keepOrWrite(join(root, config), settingsTemplate(data))]
  for (const { path, text } of Object.values(ours)) {
    changes.push(write(join(root, path(name)), text(plan)))
  }
  if (isOfMachine(root)) {
    run('systemd-sysusers', ours.users.path(name))
    run('systemd-tmpfiles', '--create', ours.rights.path(name))
    run('systemctl', 'daemon-reload')
  }
  return changes
}

/** Stops the service and removes what `installService` wrote; data, settings and user stay. */
export function uninstallService(name: string, root: string): FileChange[] {
  if (isOfMachine(root)) requireSystemd()
  const unit = join(root, ours.unit.path(name))
  if (!existsSync(unit)) throw new CommandFailure(`there is no ${unit}: nothing is installed`)
  const paths = Object.values(ours).map(({ path }) => join(root, path(name)))
  for (const path of paths) requireOurs(path)
  if (isOfMachine(root)) run('systemctl', 'disable', '--now', name)
  const there = paths.filter(path => existsSync(path))
  for (const path of there) rmSync(path)
  if (isOfMachine(root)) run('systemctl', 'daemon-reload')
  return there.map(path => ({ path, did: 'removed' }))
}

function requireSystemd(): void {
  if (!existsSync('/run/systemd/system')) {
    throw new CommandFailure(
      'systemd does not run this machine: "cairn service show" prints the unit, --root writes files for another',
    )
  }
  if (process.getuid?.() !== 0) {
    throw new CommandFailure('only root can do this: run it with sudo')
  }
}

function requireOurs(path: string): void {
  refuseNoFile(path)
  if (!existsSync(path) || readFileSync(path, 'utf8').startsWith(marker)) return
  throw new CommandFailure(
    `${path} was not written by "cairn service install": move it away, or choose another --name`,
  )
}

function keepOrWrite(path: string, text: string): FileChange {
  return existsSync(path) ? { path, did: 'kept' } : write(path, text, 0o640)
}

function write(path: string, text: string, mode = 0o644): FileChange {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : null
  if (before === text) return { path, did: 'unchanged' }
  // Set explicitly, because Cairn's own umask is meant for its data.
  const made = mkdirSync(dirname(path), { recursive: true })
  if (made !== undefined) chmodSync(dirname(path), 0o755)
  replaceFile(path, text, mode)
  return { path, did: before === null ? 'written' : 'replaced' }
}

function run(...command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command, { stdout: 'ignore', stderr: 'pipe' })
  if (success) return
  throw new CommandFailure(
    `"${command.join(' ')}" failed: ${stderr.toString().trim().slice(0, 500)}`,
  )
}
