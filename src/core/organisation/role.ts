import type { Scope } from './management-token.ts'

/** What somebody who is signed in to the dashboard may do, from the least to the most. */
export const roles = ['viewer', 'editor', 'owner', 'operator'] as const

export type Role = (typeof roles)[number]

const viewer: readonly Scope[] = ['flows:read', 'analytics:read']
const editor: readonly Scope[] = [...viewer, 'flows:write', 'flows:publish', 'people:read']
const owner: readonly Scope[] = [...editor, 'people:erase', 'settings:write']

/** The operator has an owner's scopes, and may also do what is reserved for the operator of the server. */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  ...{ viewer, editor, owner },
  operator: owner,
}

/** The roles that a provider's claim may give. Operator is not among them: that is whoever controls the machine. */
const claimable = roles.filter(role => role !== 'operator')

/** The highest role that a provider's claim names; viewer if it names none. */
export function roleIn(claim: unknown): Role {
  const named = Array.isArray(claim) ? claim : [claim]
  return (
    claimable.findLast(role => named.some(one => one === role || one === `cairn-${role}`)) ??
    'viewer'
  )
}
