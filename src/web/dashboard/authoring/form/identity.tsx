import { isMapping, type Mapping } from '../../../../core/flow/plain.ts'
import { slugFrom } from '../../../../core/text/slug.ts'
import { useRead } from '../../api/read.ts'
import { type FlowList, flowsPath } from '../../flows/flow-list.ts'
import { Cards } from './choices.tsx'
import { freeKey } from './entries.ts'
import { mappingsAt, textOf, withValue, written } from './flow-json.ts'
import { problemsUnder, useForm } from './form.ts'
import { Frame } from './frame.tsx'
import type { ControlProps } from './table.ts'

/** What a flow is: its name, the key that results hang from, and its kind. */

/** The name. The key of a new flow follows it, for as long as nobody has chosen another one. */
export function NameField({ field, path, value, flow }: ControlProps) {
  const { change, problems, isNew } = useForm()
  const { data } = useRead<FlowList>(isNew ? flowsPath : null)
  const keyFor = (name: string) => freeKey(slugFrom(name) || 'flow', data?.flows ?? [])
  const [name, key] = [textOf(value), textOf(flow.key)]
  const isFollowing = isNew && (key === '' || key === keyFor(name) || key === slugFrom(name))
  return (
    <Frame
      label={field.label}
      help={field.help}
      path={path}
      problems={problemsUnder(problems, path)}
    >
      {wiring => (
        <input
          {...wiring}
          class="input"
          autocomplete="off"
          dir="auto"
          placeholder={key}
          value={name}
          onInput={event => {
            const next = event.currentTarget.value
            change(now => {
              const named = written(now, path, next)
              return isFollowing ? written(named, ['key'], keyFor(next)) : named
            })
          }}
        />
      )}
    </Frame>
  )
}

/** The key. Only a new flow can get another one. */
export function KeyField({ field, path, value, write }: ControlProps) {
  const { isNew, problems } = useForm()
  return (
    <Frame
      label={field.label}
      help={field.help}
      hint={isNew ? undefined : 'Cannot change: versions and results depend on it.'}
      path={path}
      problems={problemsUnder(problems, path)}
    >
      {wiring => (
        <input
          {...wiring}
          class="input code-input"
          dir="ltr"
          autocomplete="off"
          spellcheck={false}
          readOnly={!isNew}
          value={textOf(value)}
          onInput={event => write(event.currentTarget.value)}
        />
      )}
    </Frame>
  )
}

/** A flow of another kind has what this kind shows: texts that it has already, or a first part. */
export function ofKind(flow: Mapping, kind: string): Mapping {
  const now = { ...flow, kind }
  const steps = mappingsAt(flow, ['steps'])
  const items = mappingsAt(flow, ['checklist', 'items'])
  if (kind === 'checklist' && items.length === 0) {
    const isPlain = steps.every(step =>
      Object.keys(step).every(name => ['key', 'kind', 'title', 'body'].includes(name)),
    )
    const made = steps.map(({ key, title, body }) => ({
      ...{ key: key ?? 'item-1', title: title ?? '' },
      ...(body !== undefined && { description: body }),
    }))
    const first = isPlain && made.length > 0 ? made : [{ key: 'item-1', title: '' }]
    const listed = withValue(now, ['checklist', 'items'], first) as Mapping
    return isPlain ? (withValue(listed, ['steps'], undefined) as Mapping) : listed
  }
  if (kind !== 'checklist' && steps.length === 0) {
    const isPlain = items.every(item => !('completeOn' in item) && !('href' in item))
    const made = items.map(({ key, title, description }) => ({
      ...{ key: key ?? 'step-1', title: title ?? '' },
      ...(description !== undefined && { body: description }),
    }))
    const first = isPlain && made.length > 0 ? made : [{ key: 'step-1', kind: 'modal', title: '' }]
    const stepped = withValue(now, ['steps'], first) as Mapping
    return isPlain ? (withValue(stepped, ['checklist'], undefined) as Mapping) : stepped
  }
  return isMapping(now) ? now : flow
}

export const KindField = (props: ControlProps) => {
  const { change } = useForm()
  return <Cards {...props} write={kind => change(now => ofKind(now, textOf(kind)))} />
}
