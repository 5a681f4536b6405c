import {
  isMapping,
  type Mapping,
  type Path,
  type Plain,
  valueAt,
} from '../../../../core/flow/plain.ts'
import { Button } from '../../parts/button.tsx'
import { controls } from './control-by-name.ts'
import { textOf, written } from './flow-json.ts'
import { isUnder, pointerOf, problemsUnder, useForm } from './form.ts'
import { ListField } from './list.tsx'
import { Problems } from './problems.tsx'
import type { Field, Group } from './table.ts'

const pathOf = (at: string): Path => (at === '' ? [] : at.split('.'))

/** A flow after a field of a part has got another value, with all that follows from it. */
function writtenBy(
  { at: own, clears, only = {}, begins = {} }: Field,
  flow: Mapping,
  part: Path,
  value: Plain | undefined,
): Mapping {
  const put = (now: Mapping, at: string, next: Plain | undefined) =>
    written(now, [...part, ...pathOf(at)], next)
  if (clears !== undefined && (value === '' || value === undefined)) {
    return put(flow, clears, undefined)
  }
  const idle = Object.entries(only).flatMap(([word, places]) => (word === value ? [] : places))
  const now = idle.reduce((now, at) => put(now, at, undefined), put(flow, own, value))
  const begun = begins[textOf(value)]
  const isBegun = begun && valueAt(now, [...part, ...pathOf(begun.at)]) === undefined
  return isBegun ? put(now, begun.at, begun.value) : now
}

/** A field by its row in the table. */
function FieldOf({ field, at }: { field: Field; at: Path }) {
  const { flow, change, problems } = useForm()
  const path = [...at, ...pathOf(field.at)]
  const part = valueAt(flow, at)
  const value = valueAt(flow, path)
  const write = (next: Plain | undefined) => change(now => writtenBy(field, now, at, next))
  const { label, help, hint, as = 'text' } = field
  const own = problemsUnder(problems, path)
  // Which problems are shown is known to the form, which marks its parts by them.
  const frame = { label, help, hint, problem: own, isProblemOld: own.length > 0 }
  const props = { field, frame, problems: own, path, value, write, flow }
  const Control = as === 'list' ? null : controls[as]
  return (
    <div class="placed" data-path={pointerOf(path)}>
      {Control ? (
        <Control {...props} part={isMapping(part) ? part : {}} />
      ) : (
        <ListField {...props} part={{}}>
          {row => <Fields of={[{ fields: field.rows!.fields }]} at={row} />}
        </ListField>
      )}
    </div>
  )
}

const rowsOf = (fields: Group['fields']) =>
  fields.map(row => (Array.isArray(row) ? row : [row]) as readonly Field[])

function GroupOf({ group, rows, at }: { group: Group; rows: readonly Field[][]; at: Path }) {
  const { flow, change, problems, isLocked } = useForm()
  const { title, help, isRare, optional } = group
  const maybe = optional && [...at, ...pathOf(optional.at)]
  const isThere = maybe && valueAt(flow, maybe) !== undefined
  const body = (
    <>
      {(!optional || isThere) &&
        rows.map(row =>
          row.length === 1 ? (
            <FieldOf key={row[0]!.at} field={row[0]!} at={at} />
          ) : (
            <div class="grid fields" key={row[0]!.at}>
              {row.map(field => (
                <FieldOf key={field.at} field={field} at={at} />
              ))}
            </div>
          ),
        )}
      {optional && !isLocked && (
        <div>
          <Button
            icon={isThere ? undefined : 'add'}
            onClick={() =>
              change(now => written(now, maybe!, isThere ? undefined : optional.fresh))
            }
          >
            {isThere ? optional.remove : optional.add}
          </Button>
        </div>
      )}
    </>
  )
  if (isRare) {
    const isWrong = rows.flat().some(one => problemsUnder(problems, [...at, ...pathOf(one.at)])[0])
    return (
      <details class="rare" open={isWrong}>
        <summary>{title}</summary>
        <div class="rare-fields stack">{body}</div>
      </details>
    )
  }
  return (
    <section class="field-group stack" aria-label={title}>
      {title && (
        <div class="stack gap-1">
          <h3>{title}</h3>
          {help && <p class="hint">{help}</p>}
        </div>
      )}
      {body}
    </section>
  )
}

/** Groups of fields for a part of the flow. A problem that no field shows is shown above all. */
export function Fields({ of, at = [] }: { of: readonly Group[]; at?: Path }) {
  const { flow, problems } = useForm()
  const value = valueAt(flow, at)
  const part = isMapping(value) ? value : {}
  const isShown = ({ shown, at: place }: Field) =>
    !shown || shown(part, flow) || valueAt(part, pathOf(place)) !== undefined
  const groups = of
    .map(group => ({
      group,
      rows: rowsOf(group.fields)
        .map(row => row.filter(isShown))
        .filter(row => row.length > 0),
    }))
    .filter(({ group, rows }) => rows.length > 0 || group.optional)
  const places = groups.flatMap(({ group, rows }) => {
    const isAway = group.optional && valueAt(part, pathOf(group.optional.at)) === undefined
    return isAway ? [] : rows.flat().map(field => pointerOf([...at, ...pathOf(field.at)]))
  })
  const homeless =
    at.length === 0
      ? []
      : problemsUnder(problems, at).filter(
          ({ path }) => !places.some(place => isUnder(path, place)),
        )
  return (
    <>
      <Problems of={homeless} />
      {groups.map(({ group, rows }, i) => (
        <GroupOf key={group.title ?? i} group={group} rows={rows} at={at} />
      ))}
    </>
  )
}

/** The places at the top of a flow that groups show. */
export const placesOf = (groups: readonly Group[]): string[] =>
  groups.flatMap(({ fields }) =>
    rowsOf(fields)
      .flat()
      .map(({ at }) => pointerOf(pathOf(at))),
  )
