import {
  isStartReason,
  type StartReason,
  startReasonTrait,
} from '../../../core/event/start-reason.ts'

/** Traits in words. What started a run is one of them, under a name of its own. */

const reasonNames: Readonly<Record<StartReason, string>> = {
  launcher: 'Resource centre',
  button: 'Button in another flow',
  checklist: 'Checklist item',
  trigger: 'Trigger',
  code: 'Your code',
  unread: 'Unread announcements',
}

/** What started a run, in words; undefined if it is none of the reasons that are stored. */
export const startReasonName = (reason: string): string | undefined =>
  isStartReason(reason) ? reasonNames[reason] : undefined

/** @param isLauncher whether runs are openings of a resource centre, which people start themselves */
export const traitName = (trait: string, isLauncher = false): string => {
  if (trait !== startReasonTrait) return trait
  return isLauncher ? 'Unread when opened' : 'Started by'
}

/** @param value null, or empty, if runs have none */
export const traitValue = (trait: string, value: string | null, isLauncher = false): string => {
  if (trait !== startReasonTrait) return value || 'Not set'
  if (!value) return isLauncher ? 'Nothing unread' : 'Its own rules'
  return startReasonName(value) ?? value
}

/** A filter such as `plan:pro`, in words. */
export const filterInWords = (filter: string, isLauncher = false): string => {
  const [trait = ''] = filter.split(':', 1)
  const value = filter.slice(trait.length + 1)
  return `${traitName(trait, isLauncher)}: ${traitValue(trait, value, isLauncher)}`
}
