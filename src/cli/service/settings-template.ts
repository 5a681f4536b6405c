import { defaultOf, flagOf, settingNames, settings, variableOf } from '../../config.ts'

/** A settings file to begin with: every setting with its default, as comments, but for the data. */
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
