/** Texts about organisations in which flows are tried first. */
export const environmentWords = {
  title: 'Staging',
  ribbon: (name: string) => `Staging of ${name}`,
  settings: {
    why: 'An organisation with a key and data of its own can try flows for this one. Who writes flows here may read the flows there, and nothing else of it.',
    tries: (name: string) => `This organisation tries flows for ${name}.`,
    caption: 'Organisations that try flows for this one',
    name: 'Organisation',
    linked: 'Linked',
    none: 'None is linked.',
    unlink: 'Unlink',
    unlinkNamed: (name: string) => `Unlink ${name}`,
    unlinkTitle: (name: string) => `Unlink ${name}?`,
    unlinkWhy: 'Flows are promoted no more. What was promoted stays, and both go on as they are.',
    unlinked: (name: string) => `${name} is linked no more.`,
    token: 'Management token of the organisation that tries flows',
    tokenHint:
      'One with the scope settings:write shows that you own it, too. It is used this once and kept nowhere. The operator links without: cairn org link OTHER.',
    link: 'Link',
    made: (name: string) => `${name} tries flows for this organisation now.`,
    failed: 'The two were not linked.',
  },
} as const
