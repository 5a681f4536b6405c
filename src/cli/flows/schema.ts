import type { Command } from 'commander'
import { flowFileSchema } from '../../core/flow/schema.ts'
import { examples } from '../examples.ts'
import { print } from '../output.ts'

/** What editors look for, and what `pull` points files at. */
export const schemaFile = 'cairn-flow.schema.json'

/** The first line by which YAML editors (redhat.vscode-yaml and others) find a file's schema. */
export const schemaLine = `# yaml-language-server: $schema=./${schemaFile}`

export function addSchema(flows: Command): void {
  flows
    .command('schema')
    .description('print the JSON Schema of flow files, by which editors complete and check')
    .addHelpText(
      'after',
      `\nIn a YAML file beside it, the first line for editors:\n  ${schemaLine}`,
    )
    .addHelpText('after', examples(`cairn flows schema > ${schemaFile}`))
    .action(() => print(JSON.stringify(flowFileSchema(), null, 2)))
}
