import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../config/read-config.ts'
import { defaultOf, flagOf, settingNames, settings, variableOf } from '../../config/settings.ts'
import { UsageFailure } from '../failure.ts'
import template from './unit.txt' with { type: 'text' }

/** The options of `cairn service install` and `show`. */
export interface ServiceOptions {
  config: string
  binary: string
  data?: string
  /** As systemd takes it, such as `1G`. */
  memoryMax?: string
  /** The directory below which everything is written; empty for this machine itself. */
  root: string
}

/** The first line of files that Cairn may replace and remove. */
export const marker = '# Written by "cairn service install"'

export const unitPath = '/etc/systemd/system/cairn.service'
/** The user that the service needs (sysusers.d(5)), and the owners of its files (tmpfiles.d(5)). */
export const usersPath = '/etc/sysusers.d/cairn.conf'
export const rightsPath = '/etc/tmpfiles.d/cairn.conf'

/**
 * The texts of the service's files by their paths. If a settings file exists already, its data directory and
 * ports are used.
 *
 * @throws UsageFailure, ConfigError
 */
export function serviceFiles({ root, config, binary, memoryMax, ...options }: ServiceOptions) {
  const kept = keptSettings(join(root, config))
  const data = options.data ?? kept?.data ?? '/var/lib/cairn'
  if (kept?.data && kept.data !== data) {
    throw new UsageFailure(
      `--data is ${data}, but ${config} says ${kept.data}: change it there, and leave out --data`,
    )
  }
  if (memoryMax !== undefined && !/^[1-9]\d*[KMGT]?$/.test(memoryMax)) {
    throw new UsageFailure(`--memory-max is "${memoryMax.slice(0, 60)}": set a size, such as 1G`)
  }
  const backups = kept?.backupDir ?? null
  requirePath('--config', config)
  requireVisible('--data', data, 'choose one such as /var/lib/cairn')
  requireVisible('--binary', binary, 'put it into /usr/local/bin')
  if (backups !== null) requireVisible(`CAIRN_BACKUP_DIR in ${config}`, backups, 'choose another')
  const values: Record<string, string> = {
    ...{ marker, binary, data, config },
    memoryMax: memoryMax === undefined ? '' : `MemoryMax=${memoryMax}\n`,
    writable: backups === null ? data : `${data} -${backups}`,
    // Only a port below 1024 needs a capability, which a user namespace would take away.
    privileges: kept?.hasLowPort
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

/** Directories that the unit hides from the service. */
const hidden = ['/home', '/root', '/run/user', '/tmp', '/var/tmp', '/dev', '/proc', '/sys']

function requireVisible(option: string, path: string, advice: string): void {
  requirePath(option, path)
  const above = hidden.find(directory => path === directory || path.startsWith(`${directory}/`))
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
      if (name === 'data')
        return `# ${help}; the unit lets it write this one alone\nCAIRN_DATA=${data}`
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
