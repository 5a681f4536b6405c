import type { Command } from 'commander'
import { isoTime, isoTimeOrNull } from '../core/clock.ts'
import { keysOf, rotateKey } from '../storage/organisations.ts'
import { changeData, organisationNamed, withData } from './data.ts'
import { examples } from './examples.ts'
import { print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

const hourMs = 3_600_000

export function addKey(cairn: Command): void {
  const key = cairn
    .command('key')
    .description("an organisation's snippet key")
    .addHelpText('after', examples('cairn key show --org harbor', 'cairn key rotate --org harbor'))
  addShow(key)
  addRotate(key)
}

function addShow(key: Command): void {
  addSettings(key.command('show'), ['data'])
    .description('print the current key, and older ones that still work')
    .option('--org <org>', 'id or slug; may be left out where there is only one')
    .option('--json', 'print {id, slug, snippetKey, previous} as JSON')
    .addHelpText('after', examples('cairn key show', 'cairn key show --org harbor --json'))
    .action(async (options: { org?: string; json?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      await withData(data, database => {
        const { row, id, slug } = organisationNamed(database, options.org)
        const [current, ...older] = keysOf(database, row, Date.now())
        if (options.json) {
          const previous = older.map(old => ({
            key: old.key,
            worksUntil: isoTimeOrNull(old.retiredAt),
          }))
          return printJson({ id, slug, snippetKey: current?.key ?? null, previous })
        }
        print(
          current?.key ?? 'no current key: make one, "cairn key rotate"',
          ...older.map(old => `${old.key}  works until ${isoTimeOrNull(old.retiredAt)}`),
        )
      })
    })
}

function addRotate(key: Command): void {
  addSettings(key.command('rotate'), ['data', 'keyGraceHours'])
    .description('make a new key; the one before still works for the grace time')
    .option('--org <org>', 'id or slug; may be left out where there is only one')
    .option('--now', 'refuse every older key at once, as for a key that is misused')
    .option('--json', 'print {id, slug, snippetKey, previousUntil} as JSON')
    .addHelpText(
      'after',
      examples('cairn key rotate --org harbor', 'cairn key rotate --org harbor --now'),
    )
    .action(async (options: { org?: string; now?: boolean; json?: boolean }, command: Command) => {
      const { data, keyGraceHours } = settingsOf(command, 'data', 'keyGraceHours')
      const graceMs = options.now ? 0 : keyGraceHours * hourMs
      const result = await changeData(data, database => {
        const { row, id, slug } = organisationNamed(database, options.org)
        return { id, slug, ...rotateKey(database, row, { now: Date.now(), graceMs }) }
      })
      const { id, slug, snippetKey } = result
      const previousUntil = isoTime(result.previousUntil)
      if (options.json) return printJson({ id, slug, snippetKey, previousUntil })
      const fate = graceMs === 0 ? 'no longer works' : `works until ${previousUntil}`
      print(snippetKey, `the key before ${fate}`)
    })
}
