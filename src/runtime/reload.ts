import { type Config, type SettingName, settingNames, variableOf } from '../config/settings.ts'

/** Settings that a running server takes up; all others keep the value that they had at the start. */
const live = [
  'retentionDays',
  'backupEvery',
  'backupDir',
  'backupKeep',
  'sessionSecret',
  'sessionIssuer',
  'sessionAudience',
  'sessionType',
  'sessionJwksUrl',
  'organisationClaim',
  'oidcClientId',
  'oidcClientSecret',
  'oidcRoleClaim',
  'webhooksPrivate',
  'smtpUrl',
  'mailFrom',
  'logLevel',
] as const satisfies readonly SettingName[]

const isLive = (name: SettingName) => (live as readonly SettingName[]).includes(name)

/** Settings that only commands read, each time they run. */
const ofCommands: readonly SettingName[] = ['keyGraceHours']

/** The result of a reload. */
export interface Reload {
  /** The settings with which the server goes on. */
  config: Config
  /** The variables of the settings that it takes up, without values, because a value may be a secret. */
  changed: string[]
  /** Variables of those that wait for the next start. */
  waiting: string[]
}

/**
 * @param running the settings with which the server runs
 * @param given the settings with which it was started, so that a port that it chose itself is no
 *   change
 * @param next the settings that it should use now
 */
export function reloadOf(running: Config, given: Config, next: Config): Reload {
  const differing = (from: Config, of: (name: SettingName) => boolean) =>
    settingNames.filter(name => of(name) && from[name] !== next[name]).map(variableOf)
  const taken = Object.fromEntries(live.map(name => [name, next[name]]))
  return {
    config: Object.freeze({ ...running, ...taken }),
    changed: differing(running, isLive),
    waiting: differing(given, name => !isLive(name) && !ofCommands.includes(name)),
  }
}
