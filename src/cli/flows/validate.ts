import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { exitStatus } from '../failure.ts'
import { print, printJson, tell } from '../output.ts'
import { areValid, filesHelp, problemLines, readFlowFiles, report, verdict } from './files.ts'

interface Options {
  strict?: boolean
  json?: boolean
}

export function addValidate(flows: Command): void {
  flows
    .command('validate')
    .description('say what is wrong with flow files; exit status 1 if anything is')
    .argument('<file...>', filesHelp)
    .option('--strict', 'warnings fail too, for CI')
    .option('--json', 'print {valid, files: [{file, flows, problems}]} as JSON')
    .addHelpText(
      'after',
      examples(
        'cairn flows validate tour.yaml checklist.yaml',
        'cairn flows validate flows/*.yaml --strict',
        'cat tour.yaml | cairn flows validate -',
      ),
    )
    .action((paths: string[], { strict, json }: Options) => {
      const files = readFlowFiles(paths)
      const valid = areValid(files, strict)
      if (!valid) process.exitCode = exitStatus.failure
      if (json) return printJson(report(files, strict))
      tell(...problemLines(files))
      if (!valid) {
        tell(verdict(files))
        return
      }
      const keys = files.flatMap(file => file.flows.map(({ key }) => key))
      print(`valid: ${keys.join(', ')}`)
    })
}
