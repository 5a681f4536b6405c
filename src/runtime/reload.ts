import { type Config, type SettingName, settingNames, variableOf } from '../config/settings.ts'

/** Settings that a running server takes up; all others are those of its start. */
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

/** Settings that only commands read, anew each time. */
const ofCommands: readonly SettingName[] = ['keyGraceHours']

/** What a reload comes to. */
export interface Reload {
  /** What the server goes on with. */
  config: Config
  /** Variables of the settings that it takes up; a value may be a secret. */
  changed: string[]
  /** Variables of those that wait for the next start. */
  waiting: string[]
}

/**
 * @param running what the server runs with
 * @param asked what it was asked to start with: a port that it chose itself is no change
 * @param next what it is asked for now
 */
export function reloadOf(running: Config, asked: Config, next: Config): Reload {
  const differing = (from: Config, of: (name: SettingName) => boolean) =>
    settingNames.filter(name => of(name) && from[name] !== next[name]).map(variableOf)
  const taken = Object.fromEntries(live.map(name => [name, next[name]]))
  return {
    config: Object.freeze({ ...running, ...taken }),
    changed: differing(running, isLive),
    waiting: differing(asked, name => !isLive(name) && !ofCommands.includes(name)),
  }
}
