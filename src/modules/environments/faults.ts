import { AppError } from '../../core/errors.ts'
import { type LinkFault, mostStaging } from '../../storage/interfaces/environments.ts'

/** Why two organisations cannot be linked, in a sentence. */
const faults: Readonly<Record<LinkFault, string>> = {
  itself: 'An organisation does not try flows for itself',
  linked: 'That organisation tries flows for one already: take that link away first',
  'is staging': 'The organisation to promote flows to already tries flows for another one',
  'has staging': 'That organisation has others that try flows for it',
  'too many': `At most ${mostStaging} organisations try flows for one`,
}

export const cannotLink = (fault: LinkFault) => new AppError('cannot_link', faults[fault])
