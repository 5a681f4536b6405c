import type { Setting } from '../config/setting.ts'
import { defaultOf, flagOf, settingNames, settings, variableOf } from '../config/settings.ts'

/** The configuration table of the manual: a header and a row a setting. */
export function configurationTable(): string[] {
  const rows = settingNames.map(name => {
    const { help, secret } = settings[name] as Setting<unknown>
    const flag = flagOf(name)?.split(' ')[0]
    const variable = variableOf(name)
    const shown = defaultOf(name)
    const { defaultShown } = settings[name] as Setting<unknown>
    return [
      secret ? `\`${variable}\`, \`${variable}_FILE\`` : `\`${variable}\``,
      flag ? `\`${flag}\`` : '–',
      shown === null ? '–' : defaultShown ? shown : `\`${shown}\``,
      // Not a link to an address.
      help.replaceAll('<', '\\<'),
    ]
  })
  return [['variable', 'flag', 'default', 'what it is'], ['---', '---', '---', '---'], ...rows].map(
    cells => `| ${cells.join(' | ')} |`,
  )
}
