import type { Mapping } from '../../../../core/flow/plain.ts'
import { slugFrom } from '../../../../core/text/slug.ts'
import { useRead } from '../../api/read.ts'
import { type FlowList, flowsPath } from '../../flows/flow-list.ts'
import { TextField } from '../../parts/text-field.tsx'
import { Cards } from './choices.tsx'
import { freeKey, type ListName, listOf, listPaths, lists } from './entries.ts'
import { kindOf, mappingsAt, textOf, withValue, written } from './flow-json.ts'
import { useForm } from './form.ts'
import type { ControlProps } from './table.ts'

/** What a flow is: its name, the key that results hang from, and its kind. */

/** The name. The key of a new flow follows it, for as long as nobody has chosen another one. */
export function NameField({ frame, path, value, flow }: ControlProps) {
  const { change, isNew } = useForm()
  const { data } = useRead<FlowList>(isNew ? flowsPath : null)
  const keyFor = (name: string) => freeKey(slugFrom(name) || 'flow', data?.flows ?? [])
  const [name, key] = [textOf(value), textOf(flow.key)]
  const isFollowing = isNew && (key === '' || key === keyFor(name) || key === slugFrom(name))
  return (
    <TextField
      {...frame}
      placeholder={key}
      value={name}
      onChange={next =>
        change(now => {
          const named = written(now, path, next)
          return isFollowing ? written(named, ['key'], keyFor(next)) : named
        })
      }
    />
  )
}

/** The key. Only a new flow can get another one. */
export function KeyField({ frame, value, write }: ControlProps) {
  const { isNew } = useForm()
  return (
    <TextField
      {...frame}
      isCode
      hint={isNew ? undefined : 'Cannot change: versions and results depend on it.'}
      isDisabled={!isNew}
      value={textOf(value)}
      onChange={write}
    />
  )
}

/** The fields of parts that are nothing but text, and so can become another kind of part. */
const textOnly = new Set(['key', 'kind', 'title', 'body', 'description'])

/** A step or an item with the texts of a part of another kind. */
const asPart = (list: ListName, { key, title = '', body, description }: Mapping): Mapping => {
  const text = body ?? description
  return {
    ...{ key: key ?? freshParts[list].key, title },
    ...(text !== undefined && { [list === 'steps' ? 'body' : 'description']: text }),
  }
}

const freshParts: Readonly<Record<ListName, Mapping & { key: string }>> = {
  steps: { key: 'step-1', kind: 'modal', title: '' },
  items: { key: 'item-1', title: '' },
  offers: { key: 'item-1', title: '' },
}

/** A flow of another kind has what this kind shows: texts that it has already, or a first part. */
export function ofKind(flow: Mapping, kind: string): Mapping {
  const own = listOf(kind)
  const isLauncher = kind === 'launcher' || kindOf(flow) === 'launcher'
  const now = isLauncher && kind !== kindOf(flow) ? written(flow, ['frequency'], undefined) : flow
  const partsOf = (list: ListName) => mappingsAt(flow, listPaths[list])
  const others = lists.filter(list => list !== own && partsOf(list).length > 0)
  const parts = others.flatMap(partsOf)
  if (partsOf(own).length > 0) return { ...now, kind }
  const isPlain = parts.every(part => Object.keys(part).every(name => textOnly.has(name)))
  const first =
    isPlain && parts.length > 0 ? parts.map(part => asPart(own, part)) : [freshParts[own]]
  const listed = withValue({ ...now, kind }, listPaths[own], first)
  const emptied = isPlain ? others : []
  return emptied.reduce(
    (of, list) => withValue(of, listPaths[list].slice(0, 1), undefined) as Mapping,
    listed as Mapping,
  )
}

export const KindField = (props: ControlProps) => {
  const { change } = useForm()
  return <Cards {...props} write={kind => change(now => ofKind(now, textOf(kind)))} />
}
