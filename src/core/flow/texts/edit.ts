import type { Change } from '../edit/change.ts'
import { FlowDefinition } from '../flow.ts'
import { isMapping, isSame, type Plain, valueAt } from '../plain.ts'
import { type LocaleTexts, type Path, textFields } from './fields.ts'

type Mapping = { [name: string]: Plain }

const keysIn = (flow: Mapping, path: Path): string[] => {
  const list = valueAt(flow, path)
  return (Array.isArray(list) ? list : []).flatMap(part =>
    isMapping(part) && typeof part.key === 'string' ? [part.key] : [],
  )
}

/** The fields of a mapping on the path to a text, in the order of files. */
function orderAt(flow: Mapping, path: Path, tag: string): string[] {
  const [, , list] = path
  if (path.length === 0) return Object.keys(FlowDefinition.properties)
  if (path.length === 1) return [...Object.keys(valueAt(flow, path) ?? {}), tag].sort()
  if (path.length === 2) return ['title', 'steps', 'items']
  const items = [flow.launcher ? 'launcher' : 'checklist', 'items']
  if (path.length === 3) return keysIn(flow, list === 'steps' ? ['steps'] : items)
  return textFields[list === 'steps' ? 'steps' : 'items'].map(({ path }) => path.split(/[.[]/)[0]!)
}

/**
 * The changes to a flow's file after which it has exactly these texts in a language. Everything else in it
 * stays as it is written.
 *
 * @param flow as read from the file
 * @param texts null to remove the language
 */
export function textChanges(flow: Mapping, tag: string, texts: LocaleTexts | null): Change[] {
  const changes: Change[] = []
  const visit = (path: Path, before: Plain | undefined, after: Plain | undefined) => {
    if (isSame(before, after)) return
    if (after === undefined) changes.push({ kind: 'unset', path })
    else if (isMapping(before) && isMapping(after)) {
      for (const name of new Set([...Object.keys(after), ...Object.keys(before)])) {
        const [was, is] = [before, after].map(of =>
          Object.hasOwn(of, name) ? of[name] : undefined,
        )
        visit([...path, name], was, is)
      }
    } else {
      const order = orderAt(flow, path.slice(0, -1), tag)
      changes.push({ kind: 'set', path, value: after, order })
    }
  }
  const before = valueAt(flow, ['texts'])
  const others = isMapping(before) ? before : {}
  const { [tag]: _, ...rest } = others
  const after: Mapping = texts === null ? rest : { ...others, [tag]: texts as Plain }
  visit(['texts'], before, Object.keys(after).length === 0 ? undefined : after)
  return changes
}
