import type { FlowDefinition } from '../../../core/flow/flow.ts'
import { slugFrom } from '../../../core/text/slug.ts'
import type { DraftAnswer, Validated } from '../../../modules/authoring/schema.ts'
import { readAgain } from '../api/read.ts'
import { act, ask } from '../api/request.ts'
import { flowPath } from '../flows/definition.ts'
import { type AuthoredFlow, type FlowList, flowsPath } from '../flows/flow-list.ts'

/** A key for a name that no flow has yet. */
export function keyFor(name: string, flows: readonly Pick<AuthoredFlow, 'key'>[]): string {
  const taken = new Set(flows.map(({ key }) => key))
  const stem = slugFrom(name).slice(0, 58) || 'flow'
  const isFree = (key: string) => !taken.has(key)
  for (let count = 1; ; count++) {
    const key = count === 1 ? stem : `${stem}-${count}`
    if (isFree(key)) return key
  }
}

/** The flow of a template, with every default filled in. @throws Failure */
export async function definitionIn(text: string): Promise<FlowDefinition> {
  const body = { text, normalised: true }
  const { definitions = [] } = (await ask<Validated>('/manage/validate', { method: 'POST', body }))
    .value!
  return definitions[0]!
}

/** Saves a flow as a new draft of this name. @returns its key @throws Failure */
export async function createDraft(definition: FlowDefinition, name: string): Promise<string> {
  const { flows } = (await ask<FlowList>(flowsPath)).value!
  const key = keyFor(name, flows)
  const body = { ...definition, key, name }
  await act<DraftAnswer>(flowPath(key, '/draft'), { method: 'PUT', body, isNew: true })
  readAgain()
  return key
}
