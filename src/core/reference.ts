declare const kind: unique symbol

/**
 * A store's own reference to an organisation, flow, step or item: a number in one store, a text in another.
 * Only the store makes references and knows what they are; others only compare them and use them as keys of
 * maps.
 */
export interface Reference<Kind extends string = string> {
  readonly [kind]: Kind
}

export type OrganisationRef = Reference<'organisation'>
export type FlowRef = Reference<'flow'>
export type StepRef = Reference<'step'>
export type ItemRef = Reference<'item'>
