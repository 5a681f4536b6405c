import type { ComponentChildren } from 'preact'
import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
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
  /** Absent where the heading above says it. */
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

/** Settings that few need: closed, unless something in them is wrong. */
export function RareFields({
  title,
  places,
  children,
}: {
  title: string
  /** Pointers of what is in it. */
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

/** Fields of a mapping; where the file has something else in its place, that is kept and said. */
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
  if (value === undefined || value === null || isMapping(value)) return <>{children}</>
  return (
    <>
      <Problems of={problemsAt(path)} />
      <KeptValue label={name} value={value} />
    </>
  )
}

/** Fields that the form does not know, of a mapping and of those within it. */
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
