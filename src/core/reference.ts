declare const kind: unique symbol

/**
 * What a store calls an organisation, a flow, a step or an item: a number in one, a text in another.
 * Only the store makes one and knows what it is; everyone else compares them and keys maps by them.
 */
export interface Reference<Kind extends string = string> {
  readonly [kind]: Kind
}

export type OrganisationRef = Reference<'organisation'>
export type FlowRef = Reference<'flow'>
export type StepRef = Reference<'step'>
export type ItemRef = Reference<'item'>
