import type { Static, TSchema } from '@sinclair/typebox'
import { quoted } from '../text/wording.ts'
import type { FlowProblem } from './problem.ts'

/** The problems that a rule finds in a part of a flow, each at a JSON pointer within the part. */
export type LintRule<Part> = (part: Part) => FlowProblem[]

/** What a rule finds: that it is so, a text for the message, or a place below that of the rule. */
type Finding = boolean | string | { path: string; message?: string }

/** A row of `lint.ts` and the files beside it. */
const rule =
  (severity: FlowProblem['severity']) =>
  <Part, Of extends Finding>(
    /** The code, and the place unless what is found says it: `missing_href /href`. */
    name: string,
    when: (part: Part) => Of | readonly Of[] | null | undefined,
    /** What is wrong and how to fix it. Without it, what is found says so. */
    message?: string | ((found: Exclude<Of, boolean>, part: Part) => string),
  ): LintRule<Part> => {
    const [code = '', place = ''] = name.split(' ')
    const messageOf = (found: Finding, part: Part): string => {
      if (typeof message === 'string') return message
      if (message) return message(found as Exclude<Of, boolean>, part)
      return typeof found === 'object' ? (found.message ?? '') : String(found)
    }
    return part => {
      const found: Finding | readonly Finding[] = when(part) ?? false
      return (Array.isArray(found) ? (found as readonly Finding[]) : [found as Finding])
        .filter(one => one !== false)
        .map(one => ({
          severity,
          code,
          path: place + (typeof one === 'object' ? one.path : ''),
          message: messageOf(one, part),
        }))
    }
  }

/** An error keeps a flow from being shown. */
export const errorIf = rule('error')
/** A warning does not. */
export const warnIf = rule('warning')

/** Rules for the parts of one schema. */
export interface LintRules {
  schema: TSchema
  /** The only fields that the rules look at, so that others may be wrong; null for the whole part. */
  fields: readonly string[] | null
  rules: readonly LintRule<never>[]
}

/** Rules that look at a whole part, so they apply only if all of it has the right shape. */
export const onWhole = <S extends TSchema>(
  schema: S,
  ...rules: LintRule<Static<S>>[]
): LintRules => ({ schema, fields: null, rules })

/** Rules that look at these fields only. */
export const onFields = <S extends TSchema, Name extends string & keyof Static<S>>(
  schema: S,
  fields: readonly Name[],
  ...rules: LintRule<Pick<Static<S>, Name>>[]
): LintRules => ({ schema, fields, rules })

/** The rule that the keys of a list differ. */
export const repeatedKeys = <Part>(
  place: string,
  listIn: (part: Part) => readonly { key: string }[],
) =>
  errorIf(
    `repeated_key ${place}`,
    (part: Part) =>
      listIn(part).flatMap(({ key }, at, list) =>
        list.findIndex(one => one.key === key) < at ? [{ key, path: `/${at}/key` }] : [],
      ),
    ({ key }) => `The key ${quoted(key)} is used already: change it`,
  )
