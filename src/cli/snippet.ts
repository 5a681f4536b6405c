import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { examples } from './examples.ts'
import { print, printJson } from './output.ts'
import { asUsers } from './umask.ts'

export function addSnippet(cairn: Command): void {
  const snippet = cairn
    .command('snippet')
    .description('the script that shows flows in pages, for those who bundle it themselves')
    .addHelpText('after', examples('cairn snippet write src/vendor'))
  addWrite(snippet)
}

function addWrite(snippet: Command): void {
  snippet
    .command('write')
    .argument('<folder>', 'where to; made where it is missing')
    .description(
      'write the snippet as an ES module with its types (cairn.js, cairn.d.ts), for a bundler or a browser extension; older ones there are replaced',
    )
    .option('--json', 'print {files} as JSON')
    .addHelpText('after', examples('cairn snippet write src/vendor'))
    .action(async (folder: string, { json }: { json?: boolean }) => {
      const { snippetModule } = await import('../web/snippet-files.ts')
      const files = asUsers(() => {
        mkdirSync(folder, { recursive: true })
        return Object.entries(snippetModule).map(([name, text]) => {
          const path = join(folder, name)
          writeFileSync(path, text)
          return path
        })
      })
      if (json) printJson({ files })
      else print(...files)
    })
}
