import { change } from '../../core/flow/edit/change.ts'
import { isError, parseSource } from '../../core/flow/edit/source.ts'
import { readFlowFile } from '../../core/flow/file.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { minimalFlow } from '../../core/flow/minimal.ts'
import { isMapping, type Plain } from '../../core/flow/plain.ts'
import { flowText } from '../../core/flow/text.ts'
import { textChanges } from '../../core/flow/texts/edit.ts'
import type { TextImport } from '../../core/flow/texts/import.ts'
import { quoted, shown } from '../../core/text/wording.ts'
import type { DraftAnswer } from '../../modules/authoring/schema.ts'
import type { Command } from '../command.ts'
import { CommandFailure, UsageFailure } from '../failure.ts'
import { asUsers, readTextFile, replaceFile } from '../files.ts'
import { managed } from '../manage.ts'
import { rightFiles } from './files.ts'
import { newestOf, storedFlows } from './records.ts'

/** A flow whose texts a command is about, and where the flow comes from. */
export interface FlowPlace {
  flow: FlowDefinition
  /** Its file; null for the draft, whose state this ETag names. */
  path: string | null
  etag: string | null
}

/** A key has no such ending, unless somebody wants to cause confusion. */
const isFile = (name: string) => /[/\\]|\.(ya?ml|json)$/i.test(name)

/** The flow of a key, or of a file. @throws CommandFailure */
export async function flowNamed(name: string, command: Command): Promise<FlowPlace> {
  if (!isFile(name)) {
    const { etag, definition } = await managed(command, ({ ask }) =>
      ask<DraftAnswer>(`GET /flows/${encodeURIComponent(name)}/draft`),
    )
    return { flow: definition as unknown as FlowDefinition, path: null, etag }
  }
  const [flow, ...others] = inFile(name)
  if (flow && others.length === 0) return { flow, path: name, etag: null }
  throw new UsageFailure(`${shown(name, 200)} holds several flows: put each into its own file`)
}

const inFile = (path: string) =>
  rightFiles([path], { undone: 'nothing was done' }).flatMap(({ flows }) => flows)

/** Flows of keys and files; without any, all that are not archived. */
export async function flowsNamed(
  names: readonly string[],
  command: Command,
): Promise<FlowDefinition[]> {
  const ofFiles = names.filter(isFile).flatMap(inFile)
  const keys = names.filter(name => !isFile(name))
  if (names.length > 0 && keys.length === 0) return ofFiles
  const stored = await managed(command, storedFlows)
  const chosen = stored.filter(({ key, status }) =>
    keys.length > 0 ? keys.includes(key) : status !== 'archived',
  )
  const unknown = keys.find(key => !chosen.some(flow => flow.key === key))
  if (unknown !== undefined) {
    throw new CommandFailure(
      `no flow has the key ${quoted(unknown)}: see "cairn flows list", or name a file by its ending`,
    )
  }
  return [...ofFiles, ...chosen.flatMap(flow => newestOf(flow, {})?.definition ?? [])]
}

/** Puts the texts of an import into a flow at the place it comes from. @throws CommandFailure if they are wrong */
export async function changeTexts(
  { flow, path, etag }: FlowPlace,
  found: TextImport,
  command: Command,
): Promise<void> {
  const texts = { ...flow.texts, [found.locale]: found.texts }
  const next = { ...flow, texts }
  rejectWrong(next, found.locale)
  if (path !== null) return writeTexts(path, found)
  await managed(command, ({ ask }) =>
    ask(`PUT /flows/${encodeURIComponent(flow.key)}/draft`, {
      body: minimalFlow(next),
      headers: { 'if-match': etag! },
    }),
  )
}

/** Refuses what pages must not be shown, such as a text that is too long, or a link that runs a script. */
function rejectWrong(flow: FlowDefinition, locale: string): void {
  const problems = readFlowFile(flowText(flow)).problems.filter(
    ({ severity, path }) => severity === 'error' && path.startsWith('/texts'),
  )
  if (problems.length === 0) return
  const lines = problems.map(({ path, message }) => `  ${path} ${message}`)
  const head = `nothing was changed: the texts in ${locale} have mistakes`
  throw new CommandFailure([head, ...lines].join('\n'))
}

function writeTexts(path: string, { locale, texts }: TextImport): void {
  const file = readTextFile(path)
  if ('problem' in file) throw new CommandFailure(`${file.name}: ${file.problem.message}`)
  const read = parseSource(file.text)
  const cannot = (why: string) =>
    new CommandFailure(
      `${path} was not changed: ${why}; import into the draft instead, by the flow's key`,
    )
  if (isError(read) || !isMapping(read.value) || 'flows' in read.value) {
    throw cannot('it holds several flows, and texts can only be written to files with one flow')
  }
  const changes = textChanges(read.value, locale, texts)
  let text: string | null = file.text
  if (path.toLowerCase().endsWith('.json')) {
    const flow = read.value
    const all = { ...(isMapping(flow.texts) ? flow.texts : {}), [locale]: texts as Plain }
    text = `${JSON.stringify({ ...flow, texts: all }, null, 2)}\n`
  } else for (const one of changes) text = text === null ? null : change(text, one)
  if (text === null) throw cannot('an anchor (&name) shares its texts with other places')
  const written = text
  asUsers(() => replaceFile(path, written))
}
