import { type TSchema, Type } from '@sinclair/typebox'
import {
  type ProposedChange as Change,
  type SettableField,
  settableFields,
} from './edit/proposed.ts'
import { StepDefinition, Target } from './flow.ts'
import { closed, key } from './values.ts'

/** What a page on which an author builds may propose about a draft. There is nothing else that it can change. */

const fields = StepDefinition.properties

const step = key('Key of the step.')
const after = Type.Union([step, Type.Null()], {
  description: 'Key of the step before it. Null for the first place.',
})

/** An element, by selectors that the author has seen. */
const Pointed = closed({
  selector: Target.properties.selector,
  alternates: Target.properties.alternates,
})

const set = <Name extends SettableField>(name: Name) =>
  closed({
    do: Type.Literal('set'),
    step,
    field: Type.Literal(name),
    // Without the mark of an optional property: null removes the field.
    value: Type.Union([Type.Optional(fields[name] as TSchema, false), Type.Null()]),
  })

/** One change, as a page sends it and as the author's dashboard reads it. */
export const ProposedChange = Type.Unsafe<Change>(
  Type.Union(
    [
      ...settableFields.map(set),
      closed({ do: Type.Literal('target'), step, target: Type.Union([Pointed, Type.Null()]) }),
      closed({
        do: Type.Literal('add'),
        after,
        step: closed({
          key: step,
          title: fields.title,
          target: Type.Union([Pointed, Type.Null()]),
        }),
      }),
      closed({ do: Type.Literal('move'), step, after }),
      closed({ do: Type.Literal('delete'), step }),
      closed({ do: Type.Literal('undo') }),
    ],
    {
      title: 'ProposedChange',
      description:
        'Sets a field of a step, points it at an element, adds, moves or deletes a step, or undoes the last change.',
    },
  ),
)
