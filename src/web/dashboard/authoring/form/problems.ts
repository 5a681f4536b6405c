import type { TSchema } from '@sinclair/typebox'
import type { Path } from '../../../../core/flow/edit/source.ts'
import { FlowDefinition } from '../../../../core/flow/flow.ts'
import type { FlowProblem } from '../editor/parts.ts'
import { behindNull } from './fields.ts'

/** Where the form shows each problem. */

/** Fields that are shown as a whole, whatever is wrong inside. */
const whole = ['/steps/#/target/fingerprint']

/** All places of a flow that the form shows; `#` stands for any number. */
function* placesIn(schema: TSchema, at = ''): Iterable<string> {
  yield at
  const { items, properties = {} } = behindNull(schema)
  if (whole.includes(at)) return
  if (items?.properties) yield* placesIn(items, `${at}/#`)
  for (const [name, field] of Object.entries<TSchema>(properties)) {
    yield* placesIn(field, `${at}/${name}`)
  }
}

const places = new Set(placesIn(FlowDefinition))

export const pointerOf = (path: Path): string => path.map(name => `/${name}`).join('')

/** The place where a problem is shown: its field, or the nearest thing around it; empty for the top. */
export function placeOf(pointer: string): string {
  let at = pointer
  while (at !== '' && !places.has(at.replace(/\/\d+(?=\/|$)/g, '/#'))) {
    at = at.slice(0, at.lastIndexOf('/'))
  }
  return at
}

/** The problems by the place where they are shown. */
export function byPlace(problems: readonly FlowProblem[]): ReadonlyMap<string, FlowProblem[]> {
  return Map.groupBy(problems, ({ path }) => placeOf(path))
}

/** The problems anywhere inside these parts. */
export const within = (problems: readonly FlowProblem[], ...parts: string[]): FlowProblem[] =>
  problems.filter(({ path }) =>
    parts.some(part => placeOf(path) === part || placeOf(path).startsWith(`${part}/`)),
  )
