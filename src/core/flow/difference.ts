import { createTwoFilesPatch, diffArrays, FILE_HEADERS_ONLY } from 'diff'
import type { FlowDefinition } from './flow.ts'
import { itemsOf } from './items.ts'
import { flowText } from './text.ts'

/** What changes about a flow's steps, or its items, by key. */
export interface PartChanges {
  /** Never published before. */
  added: string[]
  /** Was in an earlier version, then removed; it gets the same id again. */
  returning: string[]
  removed: string[]
  /** Those that stay but change their place: as few as explain the new order. */
  moved: string[]
}

export interface FlowDifference {
  steps: PartChanges
  items: PartChanges
  /** A unified diff of the canonical texts; empty if the flows are equal. */
  diff: string
}

/** A flow that another is compared with. */
export interface Baseline {
  definition: FlowDefinition
  /** Keys that any version ever had. */
  stepKeys: ReadonlySet<string>
  itemKeys: ReadonlySet<string>
}

/**
 * What would change if a flow replaced another.
 *
 * @param names what the diff calls the two
 */
export function flowDifference(
  { definition: before, stepKeys, itemKeys }: Baseline,
  after: FlowDefinition,
  names: readonly [before: string, after: string],
): FlowDifference {
  return {
    steps: partChanges(before.steps, after.steps, stepKeys),
    items: partChanges(itemsOf(before), itemsOf(after), after.launcher ? stepKeys : itemKeys),
    diff: textDifference(flowText(before), flowText(after), names),
  }
}

/** The same for a flow that replaces none: all of it is new. */
export function newFlowDifference(
  flow: FlowDefinition,
  names: readonly [before: string, after: string],
): FlowDifference {
  const added = (parts: readonly Part[]) => partChanges([], parts, new Set())
  return {
    steps: added(flow.steps),
    items: added(itemsOf(flow)),
    diff: textDifference('', flowText(flow), names),
  }
}

interface Part {
  key: string
}

function partChanges(
  before: readonly Part[],
  after: readonly Part[],
  known: ReadonlySet<string>,
): PartChanges {
  const old = before.map(({ key }) => key)
  const now = after.map(({ key }) => key)
  const come = now.filter(key => !old.includes(key))
  const staying = diffArrays(
    old.filter(key => now.includes(key)),
    now.filter(key => old.includes(key)),
  )
  return {
    added: come.filter(key => !known.has(key)),
    returning: come.filter(key => known.has(key)),
    removed: old.filter(key => !now.includes(key)),
    moved: staying.filter(({ added }) => added).flatMap(({ value }) => value),
  }
}

/** With more changed lines than this, the search for the shortest diff takes too long. */
const maxChanges = 2_000

function textDifference(
  before: string,
  after: string,
  [beforeName, afterName]: readonly [string, string],
): string {
  if (before === after) return ''
  const options = { context: 3, maxEditLength: maxChanges, headerOptions: FILE_HEADERS_ONLY }
  const patch = createTwoFilesPatch(
    beforeName,
    afterName,
    before,
    after,
    undefined,
    undefined,
    options,
  )
  return patch ?? `--- ${beforeName}\n+++ ${afterName}\nover ${maxChanges} lines differ\n`
}
