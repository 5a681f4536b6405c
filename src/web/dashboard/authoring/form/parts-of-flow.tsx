import type { ComponentChildren } from 'preact'
import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import { Button } from '../../parts/button.tsx'
import { flowFormWords as words } from '../../words/flow-form.ts'
import { KeptValue, Problems } from './field-frame.tsx'
import { unknownFields } from './fields.ts'
import { useForm } from './form-context.ts'
import { within } from './problems.ts'

/** A group of fields under a heading. */
export const FieldGroup = ({
  title,
  hint,
  children,
}: {
  /** Absent if the heading above says it already. */
  title?: string
  hint?: ComponentChildren
  children: ComponentChildren
}) => (
  <section class="field-group" aria-label={title}>
    {title && (
      <div class="field-group-head">
        <h3>{title}</h3>
        {hint && <p class="hint">{hint}</p>}
      </div>
    )}
    {children}
  </section>
)

/** Settings that few people need: closed unless something in them is wrong. */
export function RareFields({
  title,
  places,
  children,
}: {
  title: string
  /** The pointers of the fields inside. */
  places: readonly string[]
  children: ComponentChildren
}) {
  const { problems } = useForm()
  return (
    <details class="rare" open={within(problems, ...places).length > 0}>
      <summary>{title}</summary>
      <div class="rare-fields">{children}</div>
    </details>
  )
}

/** The fields of a mapping, with its own problems. If the file has something else in its place, that is kept and shown. */
export function MappingFields({
  path,
  name,
  children,
}: {
  path: Path
  name: string
  children: ComponentChildren
}) {
  const { flow, problemsAt } = useForm()
  const value = valueAt(flow, path)
  const isMapped = value === undefined || value === null || isMapping(value)
  return (
    <>
      <Problems of={problemsAt(path)} />
      {isMapped ? children : <KeptValue label={name} value={value} />}
    </>
  )
}

/** A button that adds a mapping to the file or, if it is there, one that takes it out. */
export function AddOrRemove({
  path,
  add,
  remove,
  onAdd,
}: {
  path: Path
  add: string
  remove: string
  onAdd: () => void
}) {
  const { flow, apply, isLocked } = useForm()
  if (isLocked) return null
  return (
    <div>
      {isMapping(valueAt(flow, path)) ? (
        <Button onClick={() => apply({ kind: 'unset', path })}>{remove}</Button>
      ) : (
        <Button icon="add" onClick={onAdd}>
          {add}
        </Button>
      )}
    </div>
  )
}

/** Fields that the form does not know, in a mapping and in those within it. */
export function KeptFields({ paths }: { paths: readonly Path[] }) {
  const { flow } = useForm()
  const found = paths.flatMap(path =>
    unknownFields(valueAt(flow, path), path).map(name => [...path, name]),
  )
  if (found.length === 0) return null
  return (
    <FieldGroup title={words.kept.title} hint={words.kept.why}>
      {found.map(path => (
        <KeptValue
          key={path.join('/')}
          label={path.slice(-1).join('')}
          value={valueAt(flow, path)!}
          why=""
        />
      ))}
    </FieldGroup>
  )
}
