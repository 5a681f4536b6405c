import { join } from 'node:path'
import type { Command } from './command.ts'
import { asUsers, makeDirectory, replaceFile, requireFile } from './files.ts'
import { print, printJson } from './output.ts'

export function addSnippet(cairn: Command): void {
  const snippet = cairn
    .command('snippet')
    .description('write the script that shows flows on pages, to bundle it yourself')
    .examples('cairn snippet write src/vendor')
  addWrite(snippet)
}

function addWrite(snippet: Command): void {
  snippet
    .command('write')
    .argument('<folder>', 'folder to write to')
    .description(
      'write the snippet as an ES module with types (cairn.js, cairn.d.ts), for a bundler or a browser extension; replaces older ones',
    )
    .option('--json', 'print {files} as JSON')
    .examples('cairn snippet write src/vendor')
    .action(async (folder: string, { json }: { json?: boolean }) => {
      const { snippetModule } = await import('../web/snippet-files.ts')
      const files = asUsers(() => {
        makeDirectory(folder)
        const texts = Object.entries(snippetModule)
        const files = texts.map(([name, text]) => ({ path: join(folder, name), text }))
        for (const { path } of files) requireFile(path)
        for (const { path, text } of files) replaceFile(path, text)
        return files.map(({ path }) => path)
      })
      if (json) printJson({ files })
      else print(...files)
    })
}
