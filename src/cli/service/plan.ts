import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../config/read-config.ts'
import { UsageFailure } from '../failure.ts'
import type { ServicePlan } from './unit.ts'

/** The options of `cairn service install` and `show`. */
export interface ServiceOptions {
  name: string
  user: string
  config: string
  binary?: string
  data?: string
  memoryMax?: string
  /** The directory below which everything is written; empty for this machine itself. */
  root: string
}

const defaultData = '/var/lib/cairn'

/** Directories that the unit hides from the service. */
const hidden = ['/home', '/root', '/run/user', '/tmp', '/var/tmp', '/dev', '/proc', '/sys']

/**
 * The service as it was asked for. If a settings file exists already, its data directory and ports are used.
 *
 * @throws UsageFailure, ConfigError
 */
export function planOf({ root, ...options }: ServiceOptions): ServicePlan {
  const { name, user, config, memoryMax = null, binary = process.execPath } = options
  requireWord('--name', name)
  requireWord('--user', user)
  requirePath('--config', config)
  if (memoryMax !== null && !/^[1-9]\d*[KMGT]?$/.test(memoryMax)) {
    throw new UsageFailure(`--memory-max is "${memoryMax.slice(0, 60)}": set a size, such as 1G`)
  }
  const kept = keptSettings(join(root, config))
  const data = options.data ?? kept?.data ?? defaultData
  if (kept?.data && kept.data !== data) {
    throw new UsageFailure(
      `--data is ${data}, but ${config} says ${kept.data}: change it there, and leave out --data`,
    )
  }
  requirePath('--data', data)
  requireVisible('the data directory', data, `set another with --data, such as ${defaultData}`)
  requirePath('--binary', binary)
  requireVisible(
    'the program',
    binary,
    'put it into /usr/local/bin, and run that one or name it with --binary',
  )
  const { backupDir = null, hasLowPort = false } = kept ?? {}
  if (backupDir !== null) {
    const where = `CAIRN_BACKUP_DIR in ${config}`
    requirePath(where, backupDir)
    requireVisible('the directory of backups', backupDir, `set another as ${where}`)
  }
  return { name, user, binary, data, config, backupDir, memoryMax, hasLowPort }
}

/** The values of an existing settings file that the unit needs to know. */
function keptSettings(
  path: string,
): { data: string | null; backupDir: string | null; hasLowPort: boolean } | null {
  if (!existsSync(path)) return null
  const env = { CAIRN_CONFIG: path }
  const { config, given } = readConfig({ env }, ['data', 'backupDir', 'port', 'managementPort'])
  const ports = [config.port, config.managementPort]
  return {
    data: given.has('data') ? config.data : null,
    backupDir: config.backupDir,
    hasLowPort: ports.some(port => port > 0 && port < 1_024),
  }
}

function requireWord(option: string, value: string): void {
  if (/^[a-z_][a-z0-9_-]{0,30}$/.test(value)) return
  throw new UsageFailure(
    `${option} is "${value.slice(0, 60)}": use small letters, digits, _ and -, at most 31`,
  )
}

/** Other characters would have to be escaped in every file, in a different way in each. */
function requirePath(option: string, value: string): void {
  if (/^(\/[A-Za-z0-9._@+-]+)+$/.test(value) && !/\/\.\.?(\/|$)/.test(value)) return
  throw new UsageFailure(
    `${option} is "${value.slice(0, 200)}": set a whole path, /…, of letters, digits and . _ @ + -`,
  )
}

function requireVisible(what: string, path: string, advice: string): void {
  const above = hidden.find(directory => path === directory || path.startsWith(`${directory}/`))
  if (above === undefined) return
  throw new UsageFailure(
    `${what} ${path} is in ${above}, which the service does not see: ${advice}`,
  )
}

/** Whether any user may run a program. One that was built under a strict umask can be run only by its owner. */
export const isForAll = (path: string): boolean => (statSync(path).mode & 0o005) === 0o005
