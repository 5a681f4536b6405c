import { commit, version } from '../core/version.ts'
import type { Command } from './command.ts'
import { print, printJson } from './output.ts'

export function addVersion(cairn: Command): void {
  cairn
    .command('version')
    .description('print the version, with the commit it was built from')
    .option('--json', 'print {version, commit, bun} as JSON')
    .examples('cairn version', 'cairn version --json')
    .action(({ json }: { json?: boolean }) => {
      if (json) printJson({ version, commit, bun: Bun.version })
      else print(`cairn ${version}`)
    })
}
