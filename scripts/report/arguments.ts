import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/**
 * Reads the command line of a kit of parts. An unknown argument ends the process with 2, and `--help` with
 * 0, both with the usage.
 */
export function askedFor<More extends ParseArgsOptionsConfig>(
  usage: string,
  partNames: readonly string[],
  more: More,
) {
  try {
    const { values } = parseArgs({
      args: Bun.argv.slice(2),
      options: {
        only: { type: 'string', multiple: true },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        ...more,
      },
    })
    const { only, json, help } = values as { only?: string[]; json: boolean; help: boolean }
    const unknown = only?.find(name => !partNames.includes(name))
    if (unknown !== undefined) throw new Error(`there is no part "${unknown}"`)
    if (help) {
      console.log(usage)
      process.exit(0)
    }
    return { ...values, json, chosen: partNames.filter(name => only?.includes(name) ?? true) }
  } catch (error) {
    console.error(`cairn: ${(error as Error).message}\n${usage}`)
    process.exit(2)
  }
}
