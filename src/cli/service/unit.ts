import { defaultOf, flagOf, settingNames, settings, variableOf } from '../../config/settings.ts'
import template from './unit.txt' with { type: 'text' }

/** The parameters of the service, as `cairn service install` was asked. */
export interface ServicePlan {
  /** The unit's name, without `.service`. */
  name: string
  /** The user and group that it runs as. */
  user: string
  /** Absolute paths. */
  binary: string
  data: string
  config: string
  /** Where scheduled backups go, an absolute path; null if none are scheduled. */
  backupDir: string | null
  /** As systemd takes it, such as `1G`; null for no limit. */
  memoryMax: string | null
  /** Whether it listens on a port below 1024, which needs a privilege of root. */
  hasLowPort: boolean
}

/** The first line of files that Cairn may replace and remove. */
export const marker = '# Written by "cairn service install"'

/** Users that the service needs (sysusers.d(5)). */
export const usersFile = ({ user, data }: ServicePlan) =>
  `${marker}.\nu ${user} - "Cairn" ${data} -\n`

/** Sets the owners of the data directory and of the settings, which may hold a secret (tmpfiles.d(5)). */
export const rightsFile = ({ user, data, config }: ServicePlan) =>
  `${marker}.\nd ${data} 0700 ${user} ${user} -\nz ${config} 0640 root ${user} -\n`

/** Only a port below 1024 needs a capability, which a user namespace would take away. */
const privileges = ({ hasLowPort }: ServicePlan) =>
  hasLowPort
    ? 'CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE'
    : 'CapabilityBoundingSet=\nPrivateUsers=yes'

/** The unit (systemd.service(5), systemd.exec(5)). */
export function unitFile(plan: ServicePlan): string {
  const { data, backupDir, memoryMax } = plan
  const values: Record<string, unknown> = {
    ...plan,
    marker,
    memoryMax: memoryMax === null ? '' : `MemoryMax=${memoryMax}\n`,
    writable: backupDir === null ? data : `${data} -${backupDir}`,
    privileges: privileges(plan),
  }
  return template.replace(/@(\w+)@/g, (_, name) => String(values[name]))
}

/** A settings file to start with: every setting with its default, commented out, except for the data directory. */
export function settingsTemplate(data: string): string {
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
